"""Contexts of queries as follow-up questions with answer sets, made and validated by models (ContextEval 3)."""

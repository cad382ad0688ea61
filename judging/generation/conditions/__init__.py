"""Conditions of ambiguous queries: drafts of entries, their merging, and answers in three settings (CondAmbigQA)."""

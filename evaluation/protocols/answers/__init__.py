"""Answers to a protocol's questions: their parts, their values, gold, and how they came about."""

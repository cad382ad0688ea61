"""Retrieval of fragments: corpora that the operator allows, BM25 over them, and files of runs and relevance."""

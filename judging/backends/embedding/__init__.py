"""Similarity of responses to the human-written reference, by embeddings (HREF section 2.2)."""

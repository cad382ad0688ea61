"""Search: corpora that the operator allows, and BM25 over them."""

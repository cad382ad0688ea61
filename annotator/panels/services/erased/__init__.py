"""People who were erased: their visits, and what is kept of these."""

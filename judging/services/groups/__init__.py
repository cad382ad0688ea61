"""Several judges over one study: one estimate, one start, one budget."""

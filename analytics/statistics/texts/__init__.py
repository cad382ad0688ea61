"""Properties of texts: length, readability, and the words they begin with."""

"""Signs of careless work."""

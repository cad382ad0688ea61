"""Reads of the crowd: who comes, what they have before them, how far they are, and what is left."""

"""Raters: judges beside people, and signs of careless work."""

"""Raters and what they did."""

"""Judges: beside people, and as they were asked."""

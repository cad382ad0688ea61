"""Uploaded tables: their map is guessed, corrected on a page that shows the first items, and confirmed."""

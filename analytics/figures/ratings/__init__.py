"""Ratings on scales, checklists and choices."""

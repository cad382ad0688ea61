"""Checks of what a protocol asks and of what it asks about: questions and items."""

"""Preferences between responses."""

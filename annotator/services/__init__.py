"""Writes of the crowd."""

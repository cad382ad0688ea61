"""Judges beside people, and with themselves in the other order."""

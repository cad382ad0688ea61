"""Conditions of answers: follow-ups, and values of attributes."""

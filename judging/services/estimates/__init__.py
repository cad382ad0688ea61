"""Estimates of a run before anything is spent."""

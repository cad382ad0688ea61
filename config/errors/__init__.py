"""Unexpected errors: what is answered, and what is reported."""

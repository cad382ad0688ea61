"""Pipelines: their runs started and steered, and what they made looked through, edited and made into studies."""

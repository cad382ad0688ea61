"""Drafts revised by a model for participants who calibrate."""

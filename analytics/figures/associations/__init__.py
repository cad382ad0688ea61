"""Associations between the answers to two questions."""

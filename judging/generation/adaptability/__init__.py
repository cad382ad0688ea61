"""Queries by contextual attribute, and responses to them by its values (ContextEval, sections 6 and 7)."""

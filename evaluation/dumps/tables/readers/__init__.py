"""Readers of tables, one for each kind of file: rows as they stand in it."""

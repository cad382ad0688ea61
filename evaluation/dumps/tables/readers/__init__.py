"""Readers of tables, one for each kind of file: rows as they stand in it; and the process that runs them."""

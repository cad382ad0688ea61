"""Fast ways to and from the database: compiled statements and whole columns."""

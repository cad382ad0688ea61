"""Imports: every line of a file is checked first, then written to a study."""

"""Exports: a study is read in chunks and written as lines or as a table."""

"""Rows of a table as items' records, by its map: a row is an item, or several rows are one."""

"""From a study to a file: read in chunks, written as lines or as a table."""

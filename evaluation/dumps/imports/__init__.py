"""From a file to a study: every line is checked first, then written."""

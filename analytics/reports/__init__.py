"""Reports: figures as JSON, text, a page and files."""

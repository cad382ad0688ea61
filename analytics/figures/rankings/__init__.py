"""Rankings of responses."""

"""The crowd in the API."""

"""The API under /api/v1/: thin readers of `selectors` and callers of `services`; one module per resource."""

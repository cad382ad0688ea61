"""Members' pages beside those of studies; one module per screen."""

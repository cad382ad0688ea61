"""Studies made from others, and items added to one: thin callers of the services."""

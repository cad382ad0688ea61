"""Writes. Every change of the domain's data goes through here; reads live in `selectors`."""

"""Responses as HTML that can't do anything."""

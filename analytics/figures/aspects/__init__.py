"""Figures of ratings by aspect beside an overall rating of the same things."""

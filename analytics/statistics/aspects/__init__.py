"""Ratings of single aspects together with an overall rating of the same things."""

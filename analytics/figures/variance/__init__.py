"""Analyses of variance of ratings by system."""

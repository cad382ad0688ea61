"""Pipelines at work: runs of them, their units and products, and the studies that are made of these."""

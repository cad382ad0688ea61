"""Figures of a study that is looked at before it is complete."""

"""Figures of large studies that wait until somebody opens their section."""

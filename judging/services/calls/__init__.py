"""Calls: planned, created, leased, paid for, attempted, and the judgments written that they make."""

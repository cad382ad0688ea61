"""Planning of a study: intervals that hold at every look, and the precision that a design would have."""

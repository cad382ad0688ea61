"""The care that participants take, and advice on attention checks."""

"""Runs: started and steered, and the work on them, step by step."""

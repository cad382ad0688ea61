"""Endpoints: who may use them, what their models can do, and tests of the connection."""

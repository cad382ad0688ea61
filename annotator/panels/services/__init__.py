"""Writes of the recruiters: how a study is set to a panel, who comes by it, and what the panel says afterwards."""

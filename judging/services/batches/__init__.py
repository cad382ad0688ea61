"""Runs that are asked through an endpoint's Batch API: calls gathered, handed over as files, followed and collected."""

"""Prolific's API: its client, its words for a submission's state, its webhooks' signature, and how studies recruit."""

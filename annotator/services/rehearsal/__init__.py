"""Rehearsals: simulated participants who fill a copy of a draft by the services that participants use."""

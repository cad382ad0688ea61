"""Slots: dealt at launch, claimed, counted, replaced, and given back."""

"""Preferences between responses, and what sways them."""

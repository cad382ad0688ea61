"""The life of a study: created, filled as a draft, frozen at launch, revised and verified."""

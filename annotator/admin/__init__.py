"""The crowd in the admin: places and participants to watch, and the acts that change them."""

from annotator.admin import participants, places, quality, reconciliation

__all__ = ["participants", "places", "quality", "reconciliation"]

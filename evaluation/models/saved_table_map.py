"""Maps of tables that a researcher saved under a name."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from evaluation.storable import storable

LONGEST_MAP_NAME = 80


def as_map_name(text: str) -> str:
    """The name as maps are saved and found: without blanks around it, and with single ones inside."""
    return " ".join(storable(text).split())


class SavedTableMap(models.Model):
    """A map for all tables of one form, whatever study they come into; nobody but its owner sees it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="table_maps")
    name = models.CharField(max_length=LONGEST_MAP_NAME)
    # As `dumps/schema/map.json` says.
    map = models.JSONField()
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="saved_table_map_name_unique"),
            models.CheckConstraint(name="saved_table_map_has_name", condition=~models.Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name

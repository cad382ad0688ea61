"""Notes that members write on items and judgments."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models.item import Item
from evaluation.models.judgment import Judgment
from evaluation.models.study import Study


class Note(models.Model):
    """A member's note on an item, or on a judgment of it: for colleagues, never shown to raters."""

    # The index below begins with it.
    study = models.ForeignKey(Study, models.CASCADE, related_name="notes", db_index=False)
    item = models.ForeignKey(Item, models.CASCADE, related_name="notes")
    # Nothing: it is about the item as a whole.
    judgment = models.ForeignKey(Judgment, models.CASCADE, null=True, blank=True, related_name="notes")
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.CheckConstraint(name="note_has_text", condition=~Q(text=""))]
        indexes = [models.Index(fields=["study", "id"], name="note_study_id")]

    def __str__(self) -> str:
        return self.text

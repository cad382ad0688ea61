"""Views of a study's report that were given a name."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from evaluation.models.study import Study

LONGEST_VIEW_NAME = 80


class SavedView(models.Model):
    """A part of a study's judgments under a name that its members share.

    The name is for finding it again. A report of it carries the filters alone, so that another name changes no figure
    and no hash.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=LONGEST_VIEW_NAME)
    # The canonical form of its filters (`evaluation.filters`); never empty.
    filters = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="saved_view_name_unique")]

    def __str__(self) -> str:
        return self.name

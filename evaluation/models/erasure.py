"""The record that somebody was erased: that it was done, by whom and why, and nothing of the person."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models.study import Study


class Erasure(models.Model):
    """A person who was erased from a study, or copies of what they gave that were erased from it."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="erasures")
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    reason = models.CharField(max_length=300)
    # Raters who are gone, with how many judgments, and items whose texts are.
    n_raters = models.PositiveIntegerField(default=0)
    n_judgments = models.PositiveIntegerField(default=0)
    n_items = models.PositiveIntegerField(default=0)
    # While files, kept reports and jobs that may hold what was erased are still to be cleared away.
    is_cleared = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(name="erasure_has_reason", condition=~Q(reason=""))]
        indexes = [models.Index(fields=["study"], condition=Q(is_cleared=False), name="erasure_to_clear")]

    def __str__(self) -> str:
        return f"{self.study_id}: {self.n_judgments:,} judgments, {self.n_items:,} items"

"""Leaderboards that owners have published."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from evaluation.models.study import Study

LONGEST_DESCRIPTION = 500


class PublishedLeaderboard(models.Model):
    """A study's leaderboard as anybody may read it, made ready whenever the study's report is computed.

    It is there while it is published, and no longer; who published and withdrew it when is in the study's history.
    """

    study = models.OneToOneField(Study, models.CASCADE, related_name="published_leaderboard")
    description = models.CharField(max_length=LONGEST_DESCRIPTION, blank=True)
    # `assay-leaderboard/1` (`analytics.leaderboard`).
    content = models.JSONField()
    computed_at = models.DateTimeField(default=timezone.now)
    published_at = models.DateTimeField(default=timezone.now)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    def __str__(self) -> str:
        return f"leaderboard of {self.study_id}"

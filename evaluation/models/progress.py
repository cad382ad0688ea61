"""The progress of studies, counted now and then so that pages read one row of each."""

from typing import Any

from django.db import models
from django.utils import timezone

from evaluation.models.study import Study


class Progress(models.Model):
    """A study's counts as they were at one moment (`evaluation.services.progress`).

    People are the crowd: in a simulated study, its simulated raters stand among them (`figures["simulated"]` of
    `n_people`).
    """

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, related_name="progress")
    at = models.DateTimeField(default=timezone.now)
    # Judgments by people that their items need, and those of them that are there: no item has more than it needs.
    n_wanted = models.PositiveIntegerField(default=0)
    n_filled = models.PositiveIntegerField(default=0)
    # Counting judgments, those beyond what is needed too.
    n_people = models.PositiveIntegerField(default=0)
    n_judges = models.PositiveIntegerField(default=0)
    # Of the newest judgment by a person.
    last_activity = models.DateTimeField(null=True, blank=True)
    # Everything else that an overview shows, by name; what an app adds stands under its label.
    figures: Any = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "progress"
        constraints = [
            models.CheckConstraint(
                name="progress_filled_within_wanted", condition=models.Q(n_filled__lte=models.F("n_wanted"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.n_filled:,} of {self.n_wanted:,}"

    @property
    def is_counted(self) -> bool:
        """False of a large study that no worker has counted yet."""
        return not self._state.adding

    @property
    def percent(self) -> int:
        """Of the judgments needed, rounded down: 100 only once none is missing."""
        return 100 * self.n_filled // self.n_wanted if self.n_wanted else 0

    @property
    def is_full(self) -> bool:
        return self.n_wanted > 0 and self.n_filled == self.n_wanted

    @property
    def is_simulated(self) -> bool:
        """True where simulated raters gave all judgments that stand for people's."""
        return bool(0 < self.n_people == self.figures.get("simulated", 0))

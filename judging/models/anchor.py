"""Schedules by which a judge judges its anchor items again."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from judging.models.judge import Judge


class AnchorSchedule(models.Model):
    """A version of a judge that is run on the same items every so many days, by itself and past the cache."""

    judge = models.OneToOneField(Judge, models.CASCADE, primary_key=True, related_name="anchors")
    every_days = models.PositiveSmallIntegerField(
        "Every so many days", default=7, validators=[MinValueValidator(1), MaxValueValidator(365)]
    )
    max_items = models.PositiveIntegerField(
        "Number of items",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The same each time, drawn with the study's seed. Leave empty for all.",
    )
    budget = models.DecimalField(
        "Budget of each run",
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="Leave empty for no limit but the study's.",
    )
    by_batch = models.BooleanField(
        "As batches", default=False, help_text="The endpoint answers within a day, at its price of batches."
    )
    next_at = models.DateTimeField(default=timezone.now, editable=False)
    # Why the last one could not start, in words; '' where it did.
    problem = models.CharField(max_length=500, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(name="anchor_schedule_some_days", condition=Q(every_days__gte=1)),
            models.CheckConstraint(
                name="anchor_schedule_budget_more_than_zero",
                condition=Q(budget__isnull=True) | Q(budget__gt=0),
            ),
        ]

    def __str__(self) -> str:
        days = "day" if self.every_days == 1 else f"{self.every_days} days"
        items = "all items" if self.max_items is None else f"{self.max_items:,} items"
        return f"{items} every {days}"

"""Juries: judges that are read together, each a rater, and one rater beside people."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Study


class Combination(models.TextChoices):
    MAJORITY = "majority", "majority: the most common preference, a tie without one"
    MEAN = "mean", "mean: of the preferences, as numbers"


class Jury(models.Model):
    """A group of judges of one study that were made together."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="juries")
    name = models.SlugField(max_length=60)
    # How its members' preferences make one; numbers and ranks always go by their mean, other labels by majority.
    combination = models.CharField(max_length=10, choices=Combination, default=Combination.MAJORITY)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "juries"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="jury_name_unique"),
            models.CheckConstraint(
                name="jury_combination_known", condition=Q(combination__in=Combination.values)
            ),
        ]

    def __str__(self) -> str:
        return f"jury {self.name}"

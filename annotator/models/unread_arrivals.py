"""Visits with a panel's parameters in a study that is not set to that panel."""

from django.db import models

from evaluation.models import Study


class UnreadArrivals(models.Model):
    """Arrivals on a day with these parameters of a panel that the study does not read; or, with `=` after its name,
    with one that it reads and that held a placeholder. Names alone: no id of anybody is kept here."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="unread_arrivals")
    day = models.DateField()
    # With spaces between, the one that names a person first.
    names = models.CharField(max_length=200)
    n = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "day", "names"], name="unread_arrivals_once_a_day"),
        ]

    def __str__(self) -> str:
        return f"{self.study_id}: {self.names} on {self.day}"

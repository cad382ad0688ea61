"""Units of generation, which calls can be made for."""

from django.db import models

from evaluation.models import Query
from judging.models.run import Run


class GenerationUnit(models.Model):
    """One thing that a run generates for one query: a step's text, and which of several if it makes more than one."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="units", db_index=False)
    query = models.ForeignKey(Query, models.RESTRICT, related_name="+")
    step = models.CharField(max_length=60, blank=True)
    key = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "query", "step", "key"], name="generation_unit_once_per_query_step_and_key"
            ),
        ]

    def __str__(self) -> str:
        return f"unit {self.pk} of run {self.run_id}"

"""Runs of judges over a study's items."""

from django.db import models
from django.db.models import Q

from evaluation.models import Rater, Revision
from judging.models.judge import Judge
from judging.models.ledger import Spending
from judging.models.run import Run, WorkKind


class Purpose(models.TextChoices):
    MAIN = "main", "main"
    ANCHOR = "anchor", "anchor"
    TRIAL = "trial", "trial"
    # Not over the items, but what participants ask for while they calibrate entries.
    REVISION = "revision", "revisions"

    @property
    def work(self) -> WorkKind:
        """The kind of work of such a run."""
        return WorkKind.REVISION if self == Purpose.REVISION else WorkKind.JUDGING

    @property
    def spending(self) -> Spending:
        """The purpose under which the ledger has its calls."""
        return Spending.JUDGING if self == Purpose.MAIN else Spending(self.value)


class Half(models.TextChoices):
    """Halves of people's queries on which a judge is chosen and tested (`JudgeValidation`)."""

    TUNING = "tuning", "tuning half"
    TEST = "test", "test half"


class JudgeRun(models.Model):
    """The part of a run that only a judge's has: the judge, the rater it judges as, and what it is for."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="judging")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="judge_runs")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    rater = models.OneToOneField(Rater, models.PROTECT, related_name="judge_run")
    purpose = models.CharField(max_length=10, choices=Purpose, default=Purpose.MAIN)
    max_items = models.PositiveIntegerField(
        null=True, blank=True, help_text="Only so many items, drawn by the seed; empty: all."
    )
    # Of a trial: only the items of these queries.
    half = models.CharField(max_length=6, choices=Half, blank=True, editable=False)

    # Of a derived judge that was chosen or fitted on people: the fold of each query, by its key.
    folds = models.JSONField(default=dict, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(name="judge_run_purpose_known", condition=Q(purpose__in=Purpose.values)),
            models.CheckConstraint(
                name="judge_run_half_known",
                condition=Q(half="") | Q(half__in=Half.values, purpose=Purpose.TRIAL),
            ),
        ]

    def __str__(self) -> str:
        return str(self.judge)

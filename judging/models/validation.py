"""The choice of a judge that may stand in for people: tuned on one half of their queries, tested once on the other."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from evaluation.models import Study
from judging.models.judge import Judge
from judging.models.run import Run


class JudgeValidation(models.Model):
    """A study's choice of a judge, as far as it has come.

    `tuning` and `test` are the keys of the queries of either half, as they were drawn; queries that came in later are
    in none. The judge is chosen once, and its answers on the test half are compared with people's once, from when on
    `result` has what was found (`analytics.reports.judge_test.JudgeTest`).
    """

    study = models.OneToOneField(Study, models.CASCADE, related_name="judge_validation")
    question = models.CharField(max_length=80)
    tuning = models.JSONField(default=list)
    test = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    # What was found of the variants on the tuning half: the state of the study that it was computed in, and a record by
    # the pseudonym of each run's rater.
    tuned = models.JSONField(default=dict, blank=True)

    judge = models.ForeignKey(Judge, models.CASCADE, null=True, blank=True, related_name="+")
    chosen_at = models.DateTimeField(null=True, blank=True)
    # The variants that the judge was chosen among, by name and version.
    variants = models.JSONField(default=list, blank=True)
    test_run = models.OneToOneField(Run, models.SET_NULL, null=True, blank=True, related_name="+")

    result = models.JSONField(default=dict, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    # Judges whose agreement with people on the test half could be read in the report before it was opened.
    seen = models.JSONField(default=list, blank=True)

    def __str__(self) -> str:
        return f"validation of a judge of {self.study}"

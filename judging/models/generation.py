"""Runs of pipelines: their settings, the units that they generate, and the products of these."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Outcome, Query
from judging.models.run import Run


class PipelineRun(models.Model):
    """The part of a run that only a pipeline's has: the pipeline, its settings, and the step that it is at."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="generating")
    pipeline = models.CharField(max_length=60)
    # Of its prompts.
    version = models.CharField(max_length=20)
    seed = models.BigIntegerField()
    options = models.JSONField(default=dict, blank=True)
    # {role: {"models": [{"endpoint": its id, "model": its name}], "temperature": ..., "max_tokens": ...}}
    casts = models.JSONField(default=dict, blank=True)
    # {pipeline: the earlier run whose products are taken up}
    sources = models.JSONField(default=dict, blank=True)
    max_queries = models.PositiveIntegerField(
        null=True, blank=True, help_text="Only so many queries, drawn by the seed; empty: all."
    )
    # The place of the step whose units are being made.
    stage = models.PositiveSmallIntegerField(default=0, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(name="pipeline_run_named", condition=~Q(pipeline=""))]

    def __str__(self) -> str:
        return self.pipeline


class GenerationUnit(models.Model):
    """One thing that a run generates for one query: a step's text, and which of several if it makes more than one."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="units", db_index=False)
    query = models.ForeignKey(Query, models.RESTRICT, related_name="+")
    step = models.CharField(max_length=60, blank=True)
    key = models.CharField(max_length=120, blank=True)
    # What it is made from besides the query, and what was drawn for it.
    about = models.JSONField(default=dict, blank=True)
    # The model that is asked, as {"endpoint": id, "model": name}; {} where nobody is.
    model = models.JSONField(default=dict, blank=True)
    temperature = models.FloatField(null=True, blank=True)
    max_tokens = models.PositiveIntegerField(null=True, blank=True)
    # Empty until it is made, or can't be; ok: its products are there.
    outcome = models.CharField(max_length=15, choices=Outcome, blank=True)
    # Its query goes on without it, since a researcher said so.
    passed_over = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "query", "step", "key"], name="generation_unit_once_per_query_step_and_key"
            ),
            models.CheckConstraint(
                name="generation_unit_outcome_known", condition=Q(outcome="") | Q(outcome__in=Outcome.values)
            ),
        ]

    def __str__(self) -> str:
        return f"unit {self.pk} of run {self.run_id}"


class Product(models.Model):
    """A thing that a step made, as it was made; an edit stands beside it, and nothing is ever deleted."""

    unit = models.ForeignKey(GenerationUnit, models.CASCADE, related_name="products", db_index=False)
    # Its place among the unit's products, from 1.
    number = models.PositiveSmallIntegerField()
    content = models.JSONField()
    # As a researcher edited it; null: as it was made.
    edited = models.JSONField(null=True, blank=True)
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    edited_at = models.DateTimeField(null=True, blank=True)
    dropped_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # In nothing that is made of products.
    dropped_at = models.DateTimeField(null=True, blank=True)
    # The call that brought it, {} of what no model made: its id, model, endpoint, parameters, and if from the cache.
    provenance = models.JSONField(default=dict, blank=True)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["unit", "number"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "number"], name="product_number_once_per_unit"),
            models.CheckConstraint(
                name="product_edited_with_its_time",
                condition=Q(edited__isnull=True, edited_at__isnull=True)
                | Q(edited__isnull=False, edited_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"product {self.number} of unit {self.unit_id}"

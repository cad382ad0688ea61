"""Calls: the requests to endpoints that runs are made of."""

from django.db import models
from django.db.models import Q

from evaluation.models import Item, Outcome
from judging.models.generation import GenerationUnit
from judging.models.run import Run


class CallState(models.TextChoices):
    # Not to be claimed before the other calls of its judgment are final: its request is made of their replies.
    LATER = "later", "after others"
    OPEN = "open", "open"
    LEASED = "leased", "leased"
    FINAL = "final", "final"


class Call(models.Model):
    """One request to an endpoint about one subject: an item that is judged or a unit that is generated.

    Created ahead; its lease says who works on it.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="calls", db_index=False)
    item = models.ForeignKey(Item, models.PROTECT, null=True, blank=True, related_name="+")
    unit = models.ForeignKey(
        GenerationUnit, models.RESTRICT, null=True, blank=True, related_name="calls", db_index=False
    )
    # Order x sample; which of the judgment's replicates this belongs to.
    replicate = models.PositiveSmallIntegerField(default=0)
    # '' for the whole form, otherwise the key of the question asked.
    step = models.CharField(max_length=60, blank=True)
    order = models.CharField(max_length=120, blank=True)
    state = models.CharField(max_length=6, choices=CallState, default=CallState.OPEN)
    # Only while final.
    outcome = models.CharField(max_length=15, choices=Outcome, blank=True)
    # Requests that came to an end, and how many of them brought a reply that could not be read.
    attempts = models.PositiveSmallIntegerField(default=0)
    unread = models.PositiveSmallIntegerField(default=0)
    # Changes with every claim, so that a worker that lost its lease can't write.
    lease = models.UUIDField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    # Backing off: not claimed before.
    not_before = models.DateTimeField(null=True, blank=True)
    cache_key = models.CharField(max_length=64, blank=True)
    cached = models.BooleanField(default=False)
    # What came back, as it came back.
    raw = models.TextField(blank=True)
    reply = models.JSONField(default=dict, blank=True)
    # {question: value} against canonical responses, where it could be read.
    data = models.JSONField(null=True, blank=True)
    rationale = models.TextField(blank=True)
    error = models.CharField(max_length=500, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    # Of all attempts.
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    # The most that the attempt under way may cost, where the run has a budget.
    reserved = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "item", "replicate", "step"], name="call_once_per_replicate_and_step"
            ),
            # Partial, so that calls on items, which are many, have no entry in it.
            models.UniqueConstraint(
                fields=["unit", "replicate"],
                condition=Q(unit__isnull=False),
                name="call_once_per_unit_and_replicate",
            ),
            models.CheckConstraint(
                name="call_has_one_subject",
                condition=Q(item__isnull=False, unit__isnull=True) | Q(item__isnull=True, unit__isnull=False),
            ),
            models.CheckConstraint(name="call_state_known", condition=Q(state__in=CallState.values)),
            models.CheckConstraint(
                name="call_outcome_once_final",
                condition=Q(state="final", outcome__in=Outcome.values) | (~Q(state="final") & Q(outcome="")),
            ),
            models.CheckConstraint(
                name="call_lease_while_leased",
                condition=Q(state="leased", lease__isnull=False, leased_until__isnull=False)
                | (~Q(state="leased") & Q(lease__isnull=True, leased_until__isnull=True)),
            ),
        ]
        indexes = [
            models.Index(fields=["run", "id"], condition=~Q(state="final"), name="call_run_unfinished"),
            models.Index(
                fields=["cache_key"], condition=Q(outcome="ok", cached=False), name="call_cache_key"
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} of run {self.run_id}"

"""One judge over one study's items, and the calls that it is made of."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Item, Outcome, Rater, Revision, Study
from judging.models.judge import Judge


class Purpose(models.TextChoices):
    MAIN = "main", "main"
    ANCHOR = "anchor", "anchor"
    TRIAL = "trial", "trial"
    # Not over the items, but what participants ask for while they calibrate entries.
    REVISION = "revision", "revisions"


class RunState(models.TextChoices):
    PENDING = "pending", "pending"
    RUNNING = "running", "running"
    PAUSED = "paused", "paused"
    # Ended by Assay, with a reason: budget, quota, key. May be resumed.
    STOPPED = "stopped", "stopped"
    CANCELLED = "cancelled", "cancelled"
    COMPLETE = "complete", "complete"


# States in which workers take calls.
ACTIVE = (RunState.PENDING, RunState.RUNNING)


class Run(models.Model):
    """Resumable and idempotent: the calls are rows, and a message only says "work on this run"."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="runs")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    rater = models.OneToOneField(Rater, models.PROTECT, related_name="run")
    purpose = models.CharField(max_length=10, choices=Purpose, default=Purpose.MAIN)
    state = models.CharField(max_length=10, choices=RunState, default=RunState.PENDING)
    # Why it stands still, in a sentence for the screen.
    reason = models.CharField(max_length=500, blank=True)
    in_flight = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)],
        help_text="Calls in flight at once, per worker process; empty: as the endpoint allows.",
    )  # fmt: skip
    max_items = models.PositiveIntegerField(
        null=True, blank=True, help_text="Only so many items, drawn by the seed; empty: all."
    )
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="The run stops when this is spent."
    )
    # The judge's prices when the run began, per million tokens: later prices do not change what was spent.
    price_prompt = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    price_completion = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    # What its calls have cost so far: the sum over them, kept beside it so that a budget can be held at every claim.
    spent = models.DecimalField(max_digits=14, decimal_places=8, default=0, editable=False)
    # Its last replies since it was started or resumed, the latest at the end, a letter each: see
    # `judging.services.calls.unreadable_replies`.
    recent = models.CharField(max_length=50, blank=True, editable=False)
    # {token: until when}: the workers that are at it, and messages on their way to one.
    workers = models.JSONField(default=dict, blank=True, editable=False)
    # The last item whose calls were created; null once all of them are.
    dealt_to = models.BigIntegerField(null=True, blank=True, default=0)
    # Counted when it completes: its calls, without those that were left out against self-preference, and how many of
    # them brought no answer.
    asked = models.PositiveIntegerField(null=True, blank=True, editable=False)
    unanswered = models.PositiveIntegerField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="run_state_known", condition=Q(state__in=RunState.values)),
            models.CheckConstraint(name="run_purpose_known", condition=Q(purpose__in=Purpose.values)),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.judge}"

    @property
    def state_text(self) -> str:
        """The state in words; a complete run says what it lacks."""
        if self.state == RunState.COMPLETE and self.unanswered:
            return f"complete, {self.unanswered:,} of {self.asked:,} not answered"
        if self.purpose == Purpose.REVISION and self.state == RunState.RUNNING:
            return "open"
        return RunState(self.state).label


class CallState(models.TextChoices):
    OPEN = "open", "open"
    LEASED = "leased", "leased"
    FINAL = "final", "final"


class Call(models.Model):
    """One unit of a run's work, one request to an endpoint. Created ahead; its lease says who works on it."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="calls", db_index=False)
    item = models.ForeignKey(Item, models.PROTECT, related_name="+")
    # Order x sample; which of the judgment's replicates this belongs to.
    replicate = models.PositiveSmallIntegerField(default=0)
    # '' for the whole form, otherwise the key of the question asked.
    step = models.CharField(max_length=60, blank=True)
    order = models.CharField(max_length=120)
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

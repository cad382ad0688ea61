"""Runs: pieces of work that are made of calls to models."""

from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Study


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


class WorkKind(models.TextChoices):
    """The kinds of work that runs are for; `judging.services.calls.workload` says how each kind is worked on."""

    JUDGING = "judging", "judging"
    GENERATION = "generation", "generation"
    # Asked one by one, by whoever has a participant's round in hand: no worker takes them.
    REVISION = "revision", "revision"


class RunGroup(models.Model):
    """Runs of several judges over one study that were started together and share a budget."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="run_groups")
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="Its runs stop when this is spent."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="run_group_budget_more_than_zero", condition=Q(budget=None) | Q(budget__gt=0)
            ),
        ]

    def __str__(self) -> str:
        return f"group {self.pk}"


class Run(models.Model):
    """Work that is made of calls to a model: their state, their money, and the workers that are at it.

    Resumable and idempotent: the calls are rows, and a message only says "work on this run". What only one kind of
    work has stands in a row of its own beside it (`JudgeRun`). Beside it and not beneath: states are compared and set
    by one statement on this one table.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="runs")
    group = models.ForeignKey(RunGroup, models.SET_NULL, null=True, blank=True, related_name="runs")
    work = models.CharField(max_length=20, default=WorkKind.JUDGING, editable=False)
    state = models.CharField(max_length=10, choices=RunState, default=RunState.PENDING)
    # Why it stands still, in a sentence for the screen.
    reason = models.CharField(max_length=500, blank=True)
    # It stands still because its group's budget is spent up: a larger one resumes it.
    stopped_by_group = models.BooleanField(default=False, editable=False)
    in_flight = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)],
        help_text="Calls in flight at once, per worker process; empty: as the endpoint allows.",
    )  # fmt: skip
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="The run stops when this is spent."
    )
    # The model's prices when the run began, per million tokens: later prices do not change what was spent.
    price_prompt = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    price_completion = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    # Of a run whose calls go to several models: {"endpoint's id:model": [prompt, completion]}, as texts.
    prices = models.JSONField(default=dict, blank=True, editable=False)
    # What its calls have cost so far: the sum over them, kept beside it so that a budget can be held at every claim.
    spent = models.DecimalField(max_digits=14, decimal_places=8, default=0, editable=False)
    # Its last replies since it was started or resumed, the latest at the end, a letter each: see
    # `judging.services.calls.unreadable_replies`.
    recent = models.CharField(max_length=50, blank=True, editable=False)
    # Calls are held back by the endpoint's rate limit until then at least; null where none was lately.
    held_until = models.DateTimeField(null=True, blank=True, editable=False)
    # A paused run goes on by itself then: its endpoint asked to be left alone until that time.
    resumes_at = models.DateTimeField(null=True, blank=True, editable=False)
    by_batch = models.BooleanField(
        "As batches", default=False,
        help_text="Asked through the endpoint's Batch API: cheaper where it says so, and answered within a day.",
    )  # fmt: skip
    # {token: until when}: the workers that are at it, and messages on their way to one.
    workers = models.JSONField(default=dict, blank=True, editable=False)
    # The last subject whose calls were created; null once all of them are. The column is called as before: a new name
    # would break who works on runs while the version changes.
    last_subject = models.BigIntegerField(null=True, blank=True, default=0, db_column="dealt_to")
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
            models.CheckConstraint(name="run_work_named", condition=~Q(work="")),
        ]

    def __str__(self) -> str:
        purpose = getattr(self, "judging", None) or getattr(self, "generating", None)
        return f"run {self.pk}: {purpose}" if purpose else f"run {self.pk}"

    def prices_at(self, target: str) -> tuple[Decimal, Decimal]:
        """Prices for prompt and completion tokens at a target by its key; the run's own where it has none."""
        if target in self.prices:
            prompt, completion = self.prices[target]
            return Decimal(prompt), Decimal(completion)
        return self.price_prompt, self.price_completion

    @property
    def has_prices(self) -> bool:
        """True if any of its calls costs something."""
        listed = (price for prices in self.prices.values() for price in prices)
        return any((self.price_prompt, self.price_completion, *map(Decimal, listed)))

    @property
    def reason_text(self) -> str:
        """Why it stands still, and until when where that is known."""
        if self.resumes_at is None:
            return self.reason
        return f"{self.reason} It resumes by itself on {self.resumes_at:%Y-%m-%d at %H:%M} UTC."

    @property
    def state_text(self) -> str:
        """The state in words; a complete run says what it lacks."""
        if self.state == RunState.COMPLETE and self.unanswered:
            return f"complete, {self.unanswered:,} of {self.asked:,} not answered"
        if self.work == WorkKind.REVISION and self.state == RunState.RUNNING:
            return "open"
        return RunState(self.state).label

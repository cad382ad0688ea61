"""The progress of runs."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from evaluation.models import Outcome
from judging.models import ACTIVE, Call, CallState, Run, RunState
from judging.services.calls.workload import KINDS_OF_WORK, workload_of
from judging.services.endpoints.rate_gate import rate_limit_of

RATE_WINDOW = timedelta(seconds=30)
UNTOLD = "The job queue can't be reached right now. The run is saved and will start by itself."


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """The progress of one run."""

    state: str
    reason: str
    # Calls: those that are there, and those still to be created (told from what an item has taken so far).
    total: int
    final: int
    open: int
    leased: int
    # Of the open ones, those that are backing off.
    waiting: int
    # Final calls by outcome, in the order of `Outcome`, only what occurs.
    outcomes: dict[str, int] = field(default_factory=dict)
    cached: int
    prompt_tokens: int
    completion_tokens: int
    spent: Decimal
    budget: Decimal | None
    # The rate limits that decide its pace, as a sentence; '' where none does.
    held_back: str
    # Calls that became final lately.
    per_second: float
    # Until the end at this pace; None where it can't be told.
    seconds_left: float | None
    last_error: str

    @property
    def share(self) -> float:
        return self.final / self.total if self.total else 0.0

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    @property
    def not_ok(self) -> int:
        return self.final - self.outcomes.get(Outcome.OK, 0)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def run_progress(run: Run) -> RunProgress:
    return runs_progress([run])[run.pk]


def runs_progress(runs: Iterable[Run]) -> dict[int, RunProgress]:
    """The progress of several runs, in a fixed number of queries for those whose calls are there."""
    by_pk: dict[int, Run] = {run.pk: run for run in runs}
    now = timezone.now()
    rows: dict[int, list[dict[str, Any]]] = {pk: [] for pk in by_pk}
    recent = Q(finished_at__gte=now - RATE_WINDOW)
    for row in (
        Call.objects.filter(run__in=by_pk)
        .order_by()
        .values("run", "state", "outcome")
        .annotate(
            n=Count("pk"),
            cached=Count("pk", filter=Q(cached=True)),
            waiting=Count("pk", filter=Q(not_before__gt=now)),
            recent=Count("pk", filter=recent),
            prompt=Sum("prompt_tokens"),
            completion=Sum("completion_tokens"),
        )
    ):
        rows[row["run"]].append(dict(row))
    errors = _last_errors(by_pk)
    return {pk: _progress(run, rows[pk], now, errors.get(pk, "")) for pk, run in by_pk.items()}


def _last_errors(pks: Iterable[int]) -> dict[int, str]:
    failed = Call.objects.filter(run__in=list(pks)).exclude(error="").order_by()
    last = failed.values("run").annotate(last=Max("pk")).values("last")
    return dict(Call.objects.filter(pk__in=last).values_list("run", "error"))


def _progress(run: Run, rows: list[dict[str, Any]], now: datetime, last_error: str) -> RunProgress:
    def count(state: str) -> int:
        return sum(row["n"] for row in rows if row["state"] == state)

    counts: dict[str, int] = {row["outcome"]: row["n"] for row in rows if row["state"] == CallState.FINAL}
    there, final = sum(row["n"] for row in rows), count(CallState.FINAL)
    total = there + _calls_to_create(run, there)
    since = min(RATE_WINDOW.total_seconds(), (now - (run.started_at or now)).total_seconds()) or 1.0
    rate = sum(row["recent"] for row in rows) / max(since, 1.0)
    active = run.state in ACTIVE
    return RunProgress(
        state=run.state,
        reason=run.reason_text or (UNTOLD if run.state == RunState.PENDING and not run.workers else ""),
        total=total,
        final=final,
        open=count(CallState.OPEN) + count(CallState.LATER),
        leased=count(CallState.LEASED),
        waiting=sum(row["waiting"] for row in rows if row["state"] == CallState.OPEN),
        outcomes={outcome: counts[outcome] for outcome in Outcome.values if outcome in counts},
        cached=sum(row["cached"] for row in rows),
        prompt_tokens=sum(row["prompt"] for row in rows),
        completion_tokens=sum(row["completion"] for row in rows),
        spent=run.spent,
        budget=run.budget,
        held_back=_held_back(run, now),
        per_second=rate if active else 0.0,
        seconds_left=(total - final) / rate if active and rate else None,
        last_error=last_error,
    )


def _held_back(run: Run, now: datetime) -> str:
    if run.state not in ACTIVE or run.held_until is None or run.held_until < now:
        return ""
    endpoint = workload_of(run).endpoint
    limit = rate_limit_of(endpoint) if endpoint else None
    return f"Held back by the rate limit of {endpoint}: {limit}." if limit else ""


def _calls_to_create(run: Run, there: int) -> int:
    if run.last_subject is None or run.work not in KINDS_OF_WORK:
        return 0
    workload = workload_of(run)
    waiting = workload.waiting_subjects(run.last_subject)
    if not waiting:
        return 0
    subjects = Call.objects.filter(run=run).values(workload.subject).distinct().count() if there else 0
    per_subject = there / subjects if subjects else workload.calls_per_subject()
    return round(waiting * per_subject)

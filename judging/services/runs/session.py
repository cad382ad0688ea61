"""One worker's stay at one run: its claims, its leases, and the results that it writes."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Outcome
from judging.models import ACTIVE, Call, Run
from judging.services.calls.attempt_writer import AttemptWriter
from judging.services.calls.call_attempts import CallAttempt
from judging.services.calls.costs import ZERO
from judging.services.calls.creation import CallCreator
from judging.services.calls.leases import claim_calls, next_due, renew_leases
from judging.services.calls.workload import Workload
from judging.services.runs.lifecycle import complete_if_finished
from judging.services.runs.workers import sign_on

# How often a worker looks whether the run is still wanted, and waits where nothing is due.
LOOK_SECONDS = 0.4
# A worker leaves a run of which nothing is due for longer than this, and comes back when it is.
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Tick:
    """Progress of a session so far, for whoever watches it."""

    final: int
    failed: int
    spent: Decimal
    tokens: int


class Session:
    """One worker's stay at one run."""

    def __init__(
        self,
        run: Run,
        workload: Workload,
        token: str,
        seconds: float | None,
        should_stop: Callable[[], bool],
        on_tick: Callable[[Tick], None],
    ) -> None:
        self.run = run
        self.workload = workload
        self.token = token
        self.ends_at = None if seconds is None else time.monotonic() + seconds
        self.should_stop = should_stop
        self.on_tick = on_tick
        self.creator = CallCreator(run, workload)
        self.writer = AttemptWriter(run, workload)
        self.leases: set[uuid.UUID] = set()
        self.resume_in = 0.0
        self.final = self.failed = self.tokens = 0
        self.spent = ZERO
        self._renewed_at = time.monotonic()

    def out_of_time(self) -> bool:
        return self.ends_at is not None and time.monotonic() >= self.ends_at

    def claim(self, limit: int, among: Q | None = None) -> list[Call]:
        """Claim calls, creating further ones where there are too few."""
        calls = claim_calls(self.run.pk, limit, among)
        while len(calls) < limit and self.run.last_subject is not None:
            if not self.creator.create_batch():
                self.run.last_subject = None
            calls += claim_calls(self.run.pk, limit - len(calls), among)
        self.leases |= {call.lease for call in calls if call.lease}
        return calls

    def with_subjects(self, calls: Sequence[Call]) -> list[tuple[Call, Any]]:
        """Each call with what its request is made of."""
        subjects = self.workload.subjects(calls)
        field = f"{self.workload.subject}_id"
        return [(call, subjects[getattr(call, field)]) for call in calls]

    def record(self, batch: Sequence[CallAttempt]) -> None:
        self.writer.write(batch)
        for each in batch:
            self.final += bool(each.outcome)
            self.failed += bool(each.outcome) and each.outcome != Outcome.OK
            self.tokens += each.prompt_tokens + each.completion_tokens
            self.spent += each.cost

    def seconds_until_due(self, among: Q | None = None) -> float | None:
        """Seconds until something is due, where nothing could be claimed; None if the run is complete, or if nothing
        `among` these calls is left while others are."""
        if complete_if_finished(self.run.pk):
            return None
        # Another stage may have begun, of this worker's doing or another's.
        self.run.last_subject = Run.objects.values_list("last_subject", flat=True).get(pk=self.run.pk)
        due = next_due(self.run.pk, among)
        if due is None and among is not None and next_due(self.run.pk) is not None:
            return None
        return 0.0 if due is None else max(0.0, (due - timezone.now()).total_seconds())

    def tell_held_back(self, lasting: timedelta) -> None:
        """Note for whoever looks at the run that the endpoint's rate limits decide its pace."""
        Run.objects.filter(pk=self.run.pk).update(held_until=timezone.now() + lasting)

    def tick(self) -> None:
        self.on_tick(Tick(final=self.final, failed=self.failed, spent=self.spent, tokens=self.tokens))

    def heartbeat(self) -> bool:
        """Show signs of life; True if the run is still wanted."""
        now = time.monotonic()
        # Early enough that a slow database may miss one and no lease is lost.
        if now - self._renewed_at > settings.ASSAY_RUN_LEASE_SECONDS / 3:
            self._renewed_at = now
            renew_leases(self.run.pk, self.leases)
            # Its own place, which one that came since may not have taken.
            if sign_on(self.run.pk, self.token, over_limit=True) is None:
                return False
        self.tick()
        return Run.objects.filter(pk=self.run.pk, state__in=ACTIVE).exists()

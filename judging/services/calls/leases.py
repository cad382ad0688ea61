"""Leases on calls: taken, renewed and given back.

A claim is one short transaction: it takes calls that are open, or whose lease ran out, and writes a new lease into
them. Others that claim at the same moment pass over them (`skip_locked`); on SQLite the transaction itself is exclusive
and the same code is exact. Whatever is written about a call later needs the lease of its claim.
"""

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from judging.models import ACTIVE, Call, CallState, Run
from judging.services.calls.costs import ZERO

# What who works on a call must know of it; what came back at earlier attempts stays where it is.
TAKEN = (
    "run", "item", "unit", "replicate", "step", "order", "state", "outcome", "attempts", "unread", "lease",
    "leased_until", "not_before", "prompt_tokens", "completion_tokens", "cost", "reserved",
)  # fmt: skip


def claimable(run_id: int, now: datetime) -> QuerySet[Call]:
    """Calls that may be taken now, in the order of their creation."""
    due = Q(state=CallState.OPEN) & (Q(not_before=None) | Q(not_before__lte=now))
    lapsed = Q(state=CallState.LEASED, leased_until__lt=now)
    # The first condition repeats what the others say, in the words of the partial index.
    unfinished = Call.objects.filter(~Q(state=CallState.FINAL), run=run_id)
    return unfinished.filter(due | lapsed).only(*TAKEN).order_by("pk")


def claim_calls(run_id: int, limit: int, among: Q | None = None) -> list[Call]:
    """Up to `limit` calls of an active run under a new lease, only `among` these if there are some to choose; none if
    the run stands still."""
    now = timezone.now()
    lease, until = uuid.uuid4(), now + timedelta(seconds=settings.ASSAY_RUN_LEASE_SECONDS)
    with transaction.atomic():
        if not Run.objects.filter(pk=run_id, state__in=ACTIVE).exists():
            return []
        rows = claimable(run_id, now).filter(among or Q())
        calls = list(rows.select_for_update(skip_locked=True, no_key=True)[:limit])
        Call.objects.filter(pk__in=[call.pk for call in calls]).update(
            state=CallState.LEASED, lease=lease, leased_until=until, not_before=None, reserved=ZERO
        )
    for call in calls:
        call.state, call.lease, call.leased_until = CallState.LEASED, lease, until
        call.not_before, call.reserved = None, ZERO
    return calls


def renew_leases(run_id: int, leases: Collection[uuid.UUID]) -> None:
    """Slow calls keep their leases as long as their worker is alive."""
    until = timezone.now() + timedelta(seconds=settings.ASSAY_RUN_LEASE_SECONDS)
    leased_calls(run_id, leases).update(leased_until=until)


def release_calls(run_id: int, leases: Collection[uuid.UUID]) -> int:
    """Open what is still held under these leases: it was not asked, or nobody waited for the answer."""
    return leased_calls(run_id, leases).update(
        state=CallState.OPEN, lease=None, leased_until=None, reserved=ZERO
    )


def leased_calls(run_id: int, leases: Collection[uuid.UUID]) -> QuerySet[Call]:
    return Call.objects.filter(run=run_id, state=CallState.LEASED, lease__in=list(leases))


def next_due(run_id: int, among: Q | None = None) -> datetime | None:
    """The time from which the next unfinished call (`among` these) may be taken; None if there is none. It may lie in
    the past."""
    unfinished = Call.objects.filter(~Q(state=CallState.FINAL), run=run_id).filter(among or Q())
    if unfinished.filter(state=CallState.OPEN, not_before=None).exists():
        return timezone.now()
    due = unfinished.aggregate(open=Min("not_before"), leased=Min("leased_until"))
    return min((moment for moment in due.values() if moment is not None), default=None)

"""Taking calls, keeping them, giving them back, and setting money aside for them.

A claim is one short transaction: it takes calls that are open, or whose lease ran out, and writes a new lease into
them. Others that claim at the same moment pass over them (`skip_locked`); on SQLite the transaction itself is exclusive
and the same code is exact. Whatever is written about a call later needs the lease of its claim.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q, QuerySet, Sum
from django.utils import timezone

from judging.models import ACTIVE, Call, CallState, Run
from judging.services.money import ZERO

# What who works on a call must know of it; what came back at earlier attempts stays where it is.
TAKEN = (
    "run", "item", "replicate", "step", "order", "state", "outcome", "attempts", "unread", "lease", "leased_until",
    "not_before", "prompt_tokens", "completion_tokens", "cost", "reserved",
)  # fmt: skip


def claimable(run_id: int, now: datetime) -> QuerySet[Call]:
    """Calls that may be taken now, first dealt first."""
    due = Q(state=CallState.OPEN) & (Q(not_before=None) | Q(not_before__lte=now))
    lapsed = Q(state=CallState.LEASED, leased_until__lt=now)
    # The first condition repeats what the others say, in the words of the partial index.
    unfinished = Call.objects.filter(~Q(state=CallState.FINAL), run=run_id)
    return unfinished.filter(due | lapsed).only(*TAKEN).order_by("pk")


def claim_calls(run_id: int, limit: int) -> list[Call]:
    """Up to `limit` calls of an active run under a new lease; none if the run stands still."""
    now = timezone.now()
    lease, until = uuid.uuid4(), now + timedelta(seconds=settings.ASSAY_RUN_LEASE_SECONDS)
    with transaction.atomic():
        if not Run.objects.filter(pk=run_id, state__in=ACTIVE).exists():
            return []
        calls = list(claimable(run_id, now).select_for_update(skip_locked=True, no_key=True)[:limit])
        Call.objects.filter(pk__in=[call.pk for call in calls]).update(
            state=CallState.LEASED, lease=lease, leased_until=until, not_before=None, reserved=ZERO
        )
    for call in calls:
        call.state, call.lease, call.leased_until = CallState.LEASED, lease, until
        call.not_before, call.reserved = None, ZERO
    return calls


def renew(run_id: int, leases: Collection[uuid.UUID]) -> None:
    """Slow calls keep their leases as long as their worker is alive."""
    until = timezone.now() + timedelta(seconds=settings.ASSAY_RUN_LEASE_SECONDS)
    _held(run_id, leases).update(leased_until=until)


def give_back(run_id: int, leases: Collection[uuid.UUID]) -> int:
    """Opens what is still held under these leases: it was not asked, or nobody waited for the answer."""
    return _held(run_id, leases).update(state=CallState.OPEN, lease=None, leased_until=None, reserved=ZERO)


def _held(run_id: int, leases: Collection[uuid.UUID]) -> QuerySet[Call]:
    return Call.objects.filter(run=run_id, state=CallState.LEASED, lease__in=list(leases))


def next_due(run_id: int) -> datetime | None:
    """When the next unfinished call may be taken; None if there is none. It may lie in the past."""
    unfinished = Call.objects.filter(~Q(state=CallState.FINAL), run=run_id)
    if unfinished.filter(state=CallState.OPEN, not_before=None).exists():
        return timezone.now()
    due = unfinished.aggregate(open=Min("not_before"), leased=Min("leased_until"))
    return min((moment for moment in due.values() if moment is not None), default=None)


@dataclass(frozen=True)
class Reserved:
    """What a budget allows: these calls may be asked; nothing fits any more if `spent_up`."""

    allowed: list[Call]
    spent_up: bool = False


def reserve(run_id: int, bounds: Sequence[tuple[Call, Decimal]]) -> Reserved:
    """Sets aside, for each call about to be asked, the most that it may cost; gives back those that don't fit.

    What is guaranteed: the costs recorded for a run never exceed its budget, however many workers are at it, because
    a call is asked only if all that is spent, all that is set aside for calls in flight and its own bound fit. It
    holds as far as the endpoint reports its usage truthfully, keeps to the limit of tokens and prices them as the judge
    says; an attempt that broke off before usage was reported counts as free.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if run.budget is None:
            return Reserved([call for call, _ in bounds])
        mine = [call.pk for call, _ in bounds]
        leased = Call.objects.filter(~Q(state=CallState.FINAL), run=run_id, state=CallState.LEASED)
        elsewhere = leased.exclude(pk__in=mine).aggregate(sum=Sum("reserved"))["sum"] or ZERO
        left = run.budget - run.spent - elsewhere
        allowed: list[Call] = []
        refused: list[Call] = []
        for call, bound in bounds:
            if bound <= left and not refused:
                left -= bound
                call.reserved = bound
                allowed.append(call)
            else:
                refused.append(call)
        leases = {call.lease for call, _ in bounds if call.lease}
        own = _held(run_id, leases)
        # Whoever lost its lease meanwhile may not ask.
        still = set(own.filter(pk__in=mine).values_list("pk", flat=True))
        allowed = [call for call in allowed if call.pk in still]
        Call.objects.bulk_update(allowed, ["reserved"], batch_size=settings.ASSAY_BATCH_SIZE)
        own.filter(pk__in=[call.pk for call in refused]).update(
            state=CallState.OPEN, lease=None, leased_until=None
        )
    return Reserved(allowed, spent_up=bool(refused) and not allowed and not elsewhere)

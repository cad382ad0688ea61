"""Money set aside within a run's budget for calls that are about to be made."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum

from judging.models import Call, CallState, Run
from judging.services.calls.costs import ZERO
from judging.services.calls.leases import leased_calls


@dataclass(frozen=True)
class Reservation:
    """The calls that a budget allows; nothing fits any more if `spent_up`."""

    allowed: list[Call]
    spent_up: bool = False


def reserve_budget(run_id: int, bounds: Sequence[tuple[Call, Decimal]]) -> Reservation:
    """Set aside, for each call about to be asked, the most that it may cost; give back those that don't fit.

    What is guaranteed: the costs recorded for a run never exceed its budget, however many workers are at it, because
    a call is asked only if all that is spent, all that is set aside for calls in flight and its own bound fit. It
    holds as far as the endpoint reports its usage truthfully, keeps to the limit of tokens and prices them as the judge
    says; an attempt that broke off before usage was reported counts as free.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if run.budget is None:
            return Reservation([call for call, _ in bounds])
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
        own = leased_calls(run_id, leases)
        # Whoever lost its lease meanwhile may not ask.
        still = set(own.filter(pk__in=mine).values_list("pk", flat=True))
        allowed = [call for call in allowed if call.pk in still]
        Call.objects.bulk_update(allowed, ["reserved"], batch_size=settings.ASSAY_BATCH_SIZE)
        own.filter(pk__in=[call.pk for call in refused]).update(
            state=CallState.OPEN, lease=None, leased_until=None
        )
    return Reservation(allowed, spent_up=bool(refused) and not allowed and not elsewhere)

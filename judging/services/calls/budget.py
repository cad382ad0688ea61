"""Money set aside for calls that a run is about to make, within the budgets of the run, its group and its study.

What is set aside stands on each call's row, and ends with the call. Requests that are no calls of a run have no such
row: `judging.services.endpoints.spend_tracker` holds their money in one of its own, within the same room of the study.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone

from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from evaluation.services.history import log_action
from judging.backends.base import StopRun
from judging.models import ACTIVE, BudgetHold, Call, CallState, Run, RunGroup, StudyBudget, WorkKind
from judging.services.calls.costs import ZERO, format_amount
from judging.services.calls.leases import leased_calls
from judging.services.calls.ledger import exact_sum, study_spent


@dataclass(frozen=True)
class Reservation:
    """The calls that the budgets allow; nothing fits any more if `spent_up`. `reason` names the budget that refused."""

    allowed: list[Call]
    spent_up: bool = False
    reason: str = ""
    # The budget of the run's group, if that is the one that refused.
    group_budget: Decimal | None = None

    def stop(self) -> StopRun:
        """The end of the run for want of money."""
        if self.group_budget is not None:
            return GroupBudgetSpent(self.reason, self.group_budget)
        return StopRun(self.reason)


class GroupBudgetSpent(StopRun):
    """The budget that a run shares with others is spent up."""

    def __init__(self, reason: str, budget: Decimal) -> None:
        self.budget = budget
        super().__init__(reason)


@dataclass(frozen=True)
class Room:
    """The money that a budget has left, besides what is set aside for calls in flight."""

    name: str
    budget: Decimal
    left: Decimal
    elsewhere: Decimal
    of_group: bool = False

    def refusal(self, bound: Decimal) -> str:
        return (
            f"The {self.name} of {format_amount(self.budget)} would be exceeded: "
            f"the next call may cost up to {format_amount(bound)}."
        )


def is_limited(run: Run) -> bool:
    """True if a budget may keep calls of this run from being made."""
    if not run.has_prices:
        return False
    if run.budget is not None or RunGroup.objects.filter(runs=run.pk, budget__isnull=False).exists():
        return True
    return StudyBudget.objects.filter(study=run.study_id).exists()


def reserve_budget(run_id: int, bounds: Sequence[tuple[Call, Decimal]]) -> Reservation:
    """Set aside, for each call about to be asked, the most that it may cost; give back those that don't fit.

    What is guaranteed: the costs recorded for a run never exceed its budget, those of a group's runs the group's, or
    those of a study's runs the study's, however many workers are at them, because a call is asked only if all that is
    spent, all that is set aside for calls in flight and its own bound fit. It holds as far as the endpoint reports its
    usage truthfully, keeps to the limit of tokens and prices them as the judge says; an attempt that broke off before
    usage was reported counts as free, and calls that were in flight when a study or a group got its first budget count
    once they are answered.
    """
    mine = [call.pk for call, _ in bounds]
    with transaction.atomic():
        # The run first, then its group, then the study's budget. Who records results locks the run and never a shared
        # budget, so nobody who has the run waits for somebody who wants it; all who reserve for a group or a study meet
        # at its budget.
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        rooms = [*_room_of_run(run, mine), *_room_of_group(run, mine), *_rooms_of_study(run.study_id, mine)]
        if not rooms:
            return Reservation([call for call, _ in bounds])
        tightest = min(rooms, key=lambda room: room.left)
        left = tightest.left
        allowed: list[Call] = []
        refused: list[tuple[Call, Decimal]] = []
        for call, bound in bounds:
            if bound <= left and not refused:
                left -= bound
                call.reserved = bound
                allowed.append(call)
            else:
                refused.append((call, bound))
        leases = {call.lease for call, _ in bounds if call.lease}
        own = leased_calls(run_id, leases)
        # Whoever lost its lease meanwhile may not ask.
        still = set(own.filter(pk__in=mine).values_list("pk", flat=True))
        allowed = [call for call in allowed if call.pk in still]
        Call.objects.bulk_update(allowed, ["reserved"], batch_size=settings.ASSAY_BATCH_SIZE)
        own.filter(pk__in=[call.pk for call, _ in refused]).update(
            state=CallState.OPEN, lease=None, leased_until=None
        )
    if not refused:
        return Reservation(allowed)
    spent_up = not allowed and not tightest.elsewhere
    of_group = tightest.budget if tightest.of_group else None
    return Reservation(allowed, spent_up, tightest.refusal(refused[0][1]), of_group)


def _room_of_run(run: Run, mine: Sequence[int]) -> list[Room]:
    if run.budget is None:
        return []
    leased = Call.objects.filter(~Q(state=CallState.FINAL), run=run, state=CallState.LEASED)
    elsewhere = leased.exclude(pk__in=mine).aggregate(sum=Sum("reserved"))["sum"] or ZERO
    return [Room("budget", run.budget, run.budget - run.spent - elsewhere, elsewhere)]


def _room_of_group(run: Run, mine: Sequence[int]) -> list[Room]:
    if run.group_id is None:
        return []
    group = RunGroup.objects.select_for_update(no_key=True).get(pk=run.group_id)
    if group.budget is None:
        return []
    elsewhere = _held_elsewhere(mine, run__group=group)
    left = group.budget - group_spent(group) - elsewhere
    return [Room("budget of these judges together", group.budget, left, elsewhere, of_group=True)]


def group_spent(group: RunGroup) -> Decimal:
    """The money that a group's runs have cost so far."""
    return exact_sum(group.runs.aggregate(sum=Sum("spent"))["sum"])


def _rooms_of_study(study_id: int, mine: Sequence[int]) -> list[Room]:
    room = room_of_study(study_id, mine)
    return [] if room is None else [room]


def _held_elsewhere(mine: Sequence[int], **runs: Any) -> Decimal:
    """The money set aside for calls of these runs, but for one's own.

    To be read before what is spent: a call of another run that ends between the two counts twice, not never.
    """
    # Runs that stand still give their calls back, unless their worker was killed, and then the lease runs out; no
    # worker comes back for a revision either.
    held = Q(run__state__in=ACTIVE) & ~Q(run__work=WorkKind.REVISION) | Q(leased_until__gte=timezone.now())
    leased = Call.objects.filter(~Q(state=CallState.FINAL), held, state=CallState.LEASED, **runs)
    return leased.exclude(pk__in=mine).aggregate(sum=Sum("reserved"))["sum"] or ZERO


def room_of_study(study_id: int, mine: Sequence[int] = (), but_hold: int = 0) -> Room | None:
    """The room in the study's budget, locked, besides one's own calls and hold; None where it has no budget."""
    budget = StudyBudget.objects.select_for_update(no_key=True).filter(study=study_id).first()
    if budget is None:
        return None
    holds = BudgetHold.objects.filter(study=study_id, until__gte=timezone.now()).exclude(pk=but_hold)
    # As calls: read before what is spent.
    held = exact_sum(holds.aggregate(sum=Sum("amount"))["sum"])
    elsewhere = _held_elsewhere(mine, run__study=study_id) + held
    left = budget.amount - study_spent(study_id) - elsewhere
    return Room("study's budget", budget.amount, left, elsewhere)


def require_budget(amount: Decimal, field: str) -> None:
    """FieldsRefused where an amount is no budget."""
    if not amount.is_finite() or not 0 < amount < 100_000_000:
        raise FieldsRefused({field: ["A budget must be more than zero, and less than 100 million."]})


def study_budget(study: Study) -> Decimal | None:
    return StudyBudget.objects.filter(study=study).values_list("amount", flat=True).first()


def set_study_budget(study: Study, amount: Decimal | None, *, by: Any = None) -> str:
    """Set the most that all of a study's calls may cost together, None: no limit; the sentence of the history."""
    if amount is not None:
        require_budget(amount, "amount")
    with transaction.atomic():
        if amount is None:
            StudyBudget.objects.filter(study=study).delete()
            said = "Removed the study's budget."
        else:
            StudyBudget.objects.update_or_create(study=study, defaults={"amount": amount})
            said = f"Set the study's budget to {format_amount(amount)}."
        log_action(study=study, by=by, message=said)
    return said

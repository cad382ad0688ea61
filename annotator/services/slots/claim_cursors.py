"""Lower bounds for claims: they pass over what was handed out, and over nothing that can be had.

They are moved on now and then by who claims, and back by who opens a slot, in the transaction that opens it. Whoever
moves a cursor on holds its row while they look at the slots: a slot that is being opened meanwhile either is seen, or
its transaction waits for the row and moves it back.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import F, Min, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Least

from annotator.models import ClaimCursor, Slot, SlotState

# By how many ranks a cursor is moved on at a time: one claim in so many takes two statements more.
STRIDE = 50
# A lease that was just given may be seen late, and servers' clocks differ.
LEEWAY = timedelta(minutes=1)


def is_due(rank: int) -> bool:
    """True where claiming the slot of that rank moves the cursor on; every rank is claimed, mostly once."""
    return rank % STRIDE == 0


def move_on(study: int, arm: int, now: datetime) -> None:
    """To the first open slot and the first lease, in a transaction that takes no lock any more; where somebody else is
    moving the cursor, it is left to the next."""
    if not try_lock(arm):
        return
    cursor = ClaimCursor.objects.filter(arm=arm)
    slots = Slot.objects.filter(study=study, arm=arm)
    first = slots.filter(state=SlotState.OPEN, rank__gte=OuterRef("first_open")).order_by("rank")
    leases = slots.filter(state=SlotState.RESERVED, leased_until__gte=OuterRef("earliest_lease"))
    latest = Value(now - LEEWAY)
    lease = Coalesce(Subquery(leases.order_by("leased_until").values("leased_until")[:1]), latest)
    cursor.update(
        first_open=Coalesce(Subquery(first.values("rank")[:1]), F("first_open")),
        earliest_lease=Least(lease, latest),
    )


def try_lock(arm: int) -> bool:
    """Lock the arm's row, unless somebody else holds it."""
    cursor = ClaimCursor.objects.filter(arm=arm)
    return cursor.select_for_update(skip_locked=True, no_key=True).first() is not None


def move_back(slots: QuerySet[Slot]) -> None:
    """Move the cursor of each arm before its slots that have just been opened."""
    first = slots.filter(arm=OuterRef("arm")).order_by().values("arm").annotate(rank=Min("rank"))
    cursors = ClaimCursor.objects.filter(arm__in=slots.order_by().values("arm"))
    cursors.update(first_open=Least(F("first_open"), Subquery(first.values("rank"))))


def begin(arms: Iterable[int]) -> None:
    """Cursors for arms that get their first slots."""
    ClaimCursor.objects.bulk_create((ClaimCursor(arm_id=arm) for arm in arms), ignore_conflicts=True)

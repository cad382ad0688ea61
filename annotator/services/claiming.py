"""Claiming: one short transaction that takes one place and proves that it did."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Greatest

from annotator.models import Assignment, AssignmentState, Participant, Slot, SlotState
from annotator.selectors import available, once_field, seen_keys
from evaluation.models import Study


def claim_slot(participant: Participant, now: datetime) -> Assignment | None:
    """Reserves the first available place for a participant whose row the caller has locked.

    Places that others are just claiming are passed over (`skip_locked`), so nobody waits; on SQLite the
    transaction itself is exclusive and the same code is exact.
    """
    once = once_field(participant.revision.spec)
    slot = (
        available(participant.study, now)
        .filter(arm=participant.arm_id)
        .exclude(**{f"{once}__in": seen_keys(participant)})
        .select_for_update(skip_locked=True, no_key=True)
        .order_by("rank")
        .first()
    )
    if slot is None:
        return None
    if slot.holder_id is not None:
        expire(slot.holder_id, now)
        if not is_wanted(slot, participant.study):
            Slot.objects.filter(pk=slot.pk).update(state=SlotState.RETIRED, holder=None, leased_until=None)
            return claim_slot(participant, now)
    assignment = Assignment.objects.create(
        participant=participant,
        item_id=slot.item_id,
        slot=slot,
        once=getattr(slot, once),
        order=slot.order,
        reserved_at=now,
    )
    Slot.objects.filter(pk=slot.pk).update(
        state=SlotState.RESERVED, holder=assignment, leased_until=lease_end(participant, now)
    )
    return assignment


def lease_end(participant: Participant, now: datetime) -> datetime:
    return now + timedelta(minutes=participant.study.lease_minutes)


def expire(holder: UUID, now: datetime) -> None:
    """Ends the assignment that let its place go."""
    running = Assignment.objects.filter(pk=holder, state=AssignmentState.RESERVED)
    running.update(state=AssignmentState.EXPIRED, ended_at=Greatest(F("reserved_at"), Value(now)))


def is_wanted(slot: Slot, study: Study) -> bool:
    """Whether somebody else shall judge here; not if redundancy was lowered or the item withdrawn meanwhile."""
    standing = Slot.objects.filter(item=slot.item_id, item__withdrawn_at=None, replaced_by=None)
    return 0 < standing.exclude(state=SlotState.RETIRED).count() <= study.redundancy


def release_slot(assignment: Assignment) -> None:
    """Opens the place again, if it is still this assignment's, or closes it if it is wanted no more."""
    if assignment.slot is None:
        return
    wanted = is_wanted(assignment.slot, assignment.participant.study)
    state = SlotState.OPEN if wanted else SlotState.RETIRED
    _held(assignment).update(state=state, holder=None, leased_until=None)


def extend_lease(assignment: Assignment, now: datetime) -> datetime | None:
    """Activity keeps the place; also one whose lease ran out, as long as nobody else took it."""
    until = lease_end(assignment.participant, now)
    return until if _held(assignment).update(leased_until=until) else None


def _held(assignment: Assignment) -> QuerySet[Slot]:
    """The place, as long as it is this assignment's."""
    return Slot.objects.filter(holder=assignment, state=SlotState.RESERVED)

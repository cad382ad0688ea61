"""Items that a participant gave back and gets again: nobody meets an item twice otherwise."""

from datetime import datetime

from django.db.models import Case, Value, When

from annotator.models import Assignment, AssignmentState, Participant, Slot, SlotState
from annotator.services.slots.claim import is_wanted, lease_end, release_slot
from annotator.services.slots.in_play import bring_back
from evaluation.models import Status


def return_item(assignment: Assignment, now: datetime) -> None:
    """Free the place, and keep what was filled in."""
    release_slot(assignment)
    assignment.state, assignment.ended_at = AssignmentState.RETURNED, max(now, assignment.reserved_at)
    assignment.save(update_fields=["state", "ended_at"])


def reserve_again(participant: Participant, assignment: Assignment, now: datetime) -> bool:
    """Reserve it for them again, if its place is still free, or another of the same item; true if so.

    The time between is no time at work. The caller has locked the participant, who has nothing before them.
    """
    if participant.study.status == Status.CLOSED:
        return False
    if assignment.slot_id is not None and not _take_place(participant, assignment, now):
        return False
    spent = (assignment.ended_at or now) - assignment.reserved_at
    assignment.state, assignment.ended_at = AssignmentState.RESERVED, None
    assignment.reserved_at = now - spent
    assignment.visit_number = participant.visit_number
    assignment.save(update_fields=["slot", "order", "state", "reserved_at", "ended_at", "visit_number"])
    bring_back(participant)
    return True


def _take_place(participant: Participant, assignment: Assignment, now: datetime) -> bool:
    # A paused study gives no places; what takes none is theirs again, or a qualification would lack it.
    if participant.study.status != Status.LIVE or not is_wanted(assignment.item_id, participant.study):
        return False
    free = Slot.objects.filter(item=assignment.item_id, state=SlotState.OPEN, item__withdrawn_at=None)
    is_other = Case(When(pk=assignment.slot_id, then=Value(0)), default=Value(1))
    slot = (
        free.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by(is_other, "rank").first()
    )
    if slot is None:
        return False
    held = {"state": SlotState.RESERVED, "holder": assignment, "leased_until": lease_end(participant, now)}
    Slot.objects.filter(pk=slot.pk).update(**held)
    assignment.slot, assignment.order = slot, slot.order
    return True


def restore_returned(participant: Participant, now: datetime, *, judged: int) -> bool:
    """Reserve the item again that they had before taking back a skip; true if it could be."""
    given_back = Assignment.objects.filter(participant=participant, state=AssignmentState.RETURNED)
    last = given_back.select_related("item", "slot").order_by("-ended_at").first()
    if last is None or (last.slot_id is not None and judged >= participant.quota):
        return False
    return reserve_again(participant, last, now)

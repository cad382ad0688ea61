"""Going on after a return or a time-out: whoever takes the study again at the panel is who they were."""

from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, Slot, SlotState, Step
from annotator.services.claiming import is_wanted, lease_end
from annotator.services.progress import advance, counts, first_step
from annotator.services.submitting import lock_participant
from evaluation.models import Role, Status

# The step that an item met last says they were at.
STEPS = {
    Role.MAIN: Step.ITEMS,
    Role.ATTENTION: Step.ITEMS,
    Role.QUALIFICATION: Step.QUALIFICATION,
    Role.TRAINING: Step.TRAINING,
}


def reopen(participant: Participant) -> Participant:
    """The participant at the step where they stopped, without an outcome."""
    locked = lock_participant(participant.token)
    last = _last_met(locked)
    locked.step = first_step(locked.revision.spec) if last is None else STEPS[Role(last.item.role)]
    locked.outcome, locked.ended_at = "", None
    locked.save(update_fields=["step", "outcome", "ended_at"])
    return locked


def pick_up(participant: Participant) -> None:
    """Puts before them what they had when they left, if its place is still free, or what comes next."""
    if not _take_again(participant):
        judged, checked = counts(participant)
        advance(participant, timezone.now(), judged=judged, checked=checked)


def _last_met(participant: Participant) -> Assignment | None:
    met = Assignment.objects.filter(participant=participant).select_related("item", "slot")
    return met.order_by("-reserved_at").first()


def _take_again(participant: Participant) -> bool:
    """Whether they have the item again that they gave back by leaving; nobody meets an item twice otherwise."""
    last = _last_met(participant)
    status = participant.study.status
    if last is None or last.state != AssignmentState.RETURNED or status == Status.CLOSED:
        return False
    now = timezone.now()
    if last.slot is not None:
        # A paused study gives no places; what takes none is theirs again, or a qualification would lack it.
        if status != Status.LIVE:
            return False
        free = Slot.objects.filter(pk=last.slot.pk, state=SlotState.OPEN, item__withdrawn_at=None)
        if free.select_for_update(skip_locked=True, no_key=True, of=("self",)).first() is None:
            return False
        if not is_wanted(last.item_id, participant.study):
            return False
        reserved = {
            "state": SlotState.RESERVED,
            "holder": last,
            "leased_until": lease_end(participant, now),
        }
        Slot.objects.filter(pk=last.slot.pk).update(**reserved)
    # The time away is no time at work.
    last.state, last.reserved_at, last.ended_at = AssignmentState.RESERVED, now, None
    last.save(update_fields=["state", "reserved_at", "ended_at"])
    return True

"""Going on after a return or a time-out: whoever takes the study again at the panel is who they were."""

from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, Step
from annotator.services.slots.returns import reserve_again
from annotator.services.work.progress import advance, counts, first_step
from annotator.services.work.submit import lock_participant
from evaluation.models import Role

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


def resume(participant: Participant) -> None:
    """Put before them what they had when they left, if its place is still free, or what comes next."""
    if not _take_again(participant):
        judged, checked = counts(participant)
        advance(participant, timezone.now(), judged=judged, checked=checked)


def _last_met(participant: Participant) -> Assignment | None:
    met = Assignment.objects.filter(participant=participant).select_related("item", "slot")
    return met.order_by("-reserved_at").first()


def _take_again(participant: Participant) -> bool:
    """Reserve the item again that they gave back by leaving; true if it could be."""
    last = _last_met(participant)
    if last is None or last.state != AssignmentState.RETURNED:
        return False
    return reserve_again(participant, last, timezone.now())

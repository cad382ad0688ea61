"""Participants' reports that something is wrong with an item."""

import uuid

from django.db import transaction

from annotator.models import Assignment, AssignmentState
from annotator.services.work.submit import UNFINISHED, lock_assignment
from evaluation.models import ItemFlag
from evaluation.refusals import Refused

# Of one participant that nobody has resolved yet; whoever finds more writes to the researchers.
MAX_REPORTS = 5
MAX_NOTE = 2_000
REPORTED = "reported"


def report_problem(token: str, assignment_id: uuid.UUID, note: str) -> None:
    """Flag the item in the participant's name. Refused, or NotYours of somebody else's item."""
    with transaction.atomic():
        # The participant is locked, so that reports at once are counted one after the other.
        assignment = lock_assignment(token, assignment_id)
        if not _is_at_hand(assignment):
            raise Refused("The item is no longer before the participant.", notice="report-late")
        rater = assignment.participant.rater_id
        if ItemFlag.objects.filter(rater=rater, reason=REPORTED).count() >= MAX_REPORTS:
            raise Refused(f"{MAX_REPORTS} reports of one participant wait already.", notice="report-enough")
        ItemFlag.objects.create(
            item_id=assignment.item_id, rater_id=rater, reason=REPORTED, note=note.strip()[:MAX_NOTE]
        )


def _is_at_hand(assignment: Assignment) -> bool:
    """True for the item before the participant, and for the one that they submitted last."""
    if assignment.state in UNFINISHED:
        return True
    count_submitted = Assignment.objects.filter(
        participant=assignment.participant_id, state=AssignmentState.SUBMITTED
    )
    return count_submitted.order_by("-ended_at").values_list("pk", flat=True).first() == assignment.pk

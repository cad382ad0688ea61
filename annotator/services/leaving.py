"""The end of a participant's way: comments, and withdrawing."""

from django.db import transaction
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, ParticipantOutcome, Step
from annotator.services.claiming import release_slot
from annotator.services.progress import finish
from annotator.services.slots import replace_excluded
from annotator.services.submitting import lock_participant
from evaluation.services import exclude

MAX_COMMENTS = 5_000


def leave_comments(token: str, comments: str) -> None:
    """Comments end the way; a second time changes nothing."""
    with transaction.atomic():
        participant = lock_participant(token)
        if participant.step != Step.COMMENTS:
            return
        participant.comments = comments.strip()[:MAX_COMMENTS]
        participant.save(update_fields=["comments"])
        finish(participant, ParticipantOutcome.COMPLETED)


def withdraw(token: str, *, leave_out_judgments: bool = False) -> None:
    """Ends the participation and frees the place; on wish, what was judged is left out and judged anew by others."""
    with transaction.atomic():
        participant = lock_participant(token)
        if participant.outcome:
            return
        for assignment in Assignment.objects.filter(participant=participant, state=AssignmentState.RESERVED):
            release_slot(assignment)
            assignment.state, assignment.ended_at = AssignmentState.RETURNED, timezone.now()
            assignment.save(update_fields=["state", "ended_at"])
        finish(participant, ParticipantOutcome.WITHDRAWN)
    if leave_out_judgments:
        with transaction.atomic():
            exclude(study=participant.study, rater=participant.rater, reason="The participant withdrew.")
            replace_excluded(participant.study)

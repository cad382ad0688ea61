"""The end of a participant's way: comments, finishing early, and withdrawing."""

from contextlib import suppress

from django.db import transaction
from django.utils import timezone

from annotator.models import Assignment, Participant, ParticipantOutcome, Step
from annotator.services.slots.replacements import replace_excluded
from annotator.services.slots.returns import return_item
from annotator.services.work.progress import advance, counts, finish
from annotator.services.work.submit import UNFINISHED, has_assignment, lock_participant
from evaluation.models import Status
from evaluation.services.exclusions import AlreadyExcluded, exclude

MAX_COMMENTS = 5_000


def leave_comments(token: str, comments: str) -> None:
    """Comments end the way; a second time changes nothing."""
    with transaction.atomic():
        participant = lock_participant(token)
        if participant.step != Step.COMMENTS:
            return
        # Behind those of earlier visits.
        said = (participant.comments, comments.strip()[:MAX_COMMENTS])
        participant.comments, participant.unsent_comments = "\n\n".join(filter(None, said)), ""
        participant.save(update_fields=["comments", "unsent_comments"])
        finish(participant, ParticipantOutcome.COMPLETED)


def finish_now(token: str) -> None:
    """End the items of whoever only waits for those that others hold, with what they have judged in this visit.

    As where no item can ever come: a check that is due comes first, then comments and the end. An item that has become
    free meanwhile is theirs instead.
    """
    with transaction.atomic():
        participant = lock_participant(token)
        is_paused = participant.study.status == Status.PAUSED
        if participant.step != Step.ITEMS or is_paused or has_assignment(participant):
            return
        judged, checked = counts(participant)
        if judged:
            advance(participant, timezone.now(), judged=judged, checked=checked, waits=False)


def store_unsent_comments(token: str, comments: str) -> None:
    """Keep comments that were refused, to be shown and shortened, where this is the time for comments."""
    with transaction.atomic():
        participant = lock_participant(token)
        if participant.step != Step.COMMENTS:
            return
        participant.unsent_comments = comments
        participant.save(update_fields=["unsent_comments"])


def withdraw(token: str, *, leave_out_judgments: bool = False, erase: bool = False) -> None:
    """End the participation and free the place; on wish, what was judged is left out and judged again by others.

    To `erase` is for studies that allow it: it is asked for here, and done by a worker once the participant's
    submissions are settled (`annotator.services.erasing.sweep_erasures`). Until then it is left out.
    """
    with transaction.atomic():
        participant = lock_participant(token)
        erase = erase and participant.study.erases_withdrawn
        # Also of somebody whose way ended while they read the page that asks.
        if erase and participant.erasure_asked_at is None:
            participant.erasure_asked_at = timezone.now()
            participant.save(update_fields=["erasure_asked_at"])
        if not participant.outcome:
            give_back(participant)
            if participant.unsent_comments:
                participant.unsent_comments = ""
                participant.save(update_fields=["unsent_comments"])
            finish(participant, ParticipantOutcome.WITHDRAWN)
    # Not in the same transaction, which would hold the study while it waits; asking again completes it.
    if erase or (leave_out_judgments and participant.outcome == ParticipantOutcome.WITHDRAWN):
        with transaction.atomic():
            with suppress(AlreadyExcluded):
                exclude(study=participant.study, rater=participant.rater, reason="The participant withdrew.")
            replace_excluded(participant.study)


def give_back(participant: Participant) -> None:
    """Free the place; what expired is given back too, so that nothing is submitted late after withdrawing."""
    unfinished = Assignment.objects.filter(participant=participant, state__in=UNFINISHED)
    # By arm: two who leave at once would otherwise wait for each other's cursors.
    by_arm = unfinished.order_by("slot__arm", "pk")
    for assignment in by_arm.select_related("slot", "participant__study"):
        return_item(assignment, timezone.now())

"""Skipping an item, and taking a skip back until the next item is submitted."""

import uuid
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, Step
from annotator.selectors.participants import last_skipped
from annotator.services.slots.claim import release_slot
from annotator.services.slots.returns import reserve_again, restore_returned, return_item
from annotator.services.work.progress import advance, enter_step
from annotator.services.work.submit import (
    UNFINISHED,
    AlreadyDone,
    duration_ms,
    finished_meanwhile,
    lock_assignment,
    lock_participant,
    submitted_before,
)
from evaluation.models import ItemFlag, Judgment, Outcome, Role
from evaluation.services.judgments import JudgmentInput, record_judgments


class CannotSkip(Exception):
    """This item can't be skipped."""


class CannotUndoSkip(Exception):
    """The skip stands: an item was submitted since, the visit is over, or others have taken the item's places."""


def skip(token: str, assignment_id: uuid.UUID) -> None:
    """Give the item back and take another; a second skip of the same changes nothing."""
    now = timezone.now()
    try:
        with transaction.atomic():
            assignment = lock_assignment(token, assignment_id)
            if assignment.state != AssignmentState.RESERVED:
                raise AlreadyDone
            participant = assignment.participant
            if not may_be_skipped(assignment) or skips_left(participant) < 1:
                raise CannotSkip
            release_slot(assignment)
            was_skipped = assignment.judgment_id is not None
            [assignment.judgment] = record_judgments(
                study=participant.study,
                batch=[
                    JudgmentInput(
                        rater_id=participant.rater_id,
                        item_id=assignment.item_id,
                        revision_id=participant.revision_id,
                        replicate=assignment.attempt,
                        outcome=Outcome.SKIPPED,
                        shown=assignment.order,
                        duration_ms=duration_ms(assignment, now),
                        judged_at=now,
                    )
                ],
                known_new=not was_skipped,
            )
            _end(assignment, now)
            _flag_if_often_skipped(assignment)
            judged, checked = submitted_before(assignment)
            if was_skipped and restore_returned(participant, now, judged=judged):
                return
            advance(participant, now, judged=judged, checked=checked)
    except AlreadyDone:
        return
    except IntegrityError:
        if finished_meanwhile(token, assignment_id) is None:
            raise


def _end(assignment: Assignment, now: datetime) -> None:
    """End the encounter as a submit does, but keep the draft: undoing the skip shows it again."""
    unfinished = Assignment.objects.filter(pk=assignment.pk, state__in=UNFINISHED)
    ended = {"state": AssignmentState.SKIPPED, "ended_at": max(now, assignment.reserved_at)}
    if not unfinished.update(**ended, judgment=assignment.judgment_id):
        raise AlreadyDone


def may_be_skipped(assignment: Assignment) -> bool:
    """An attention check can be skipped like an item, because it must not be told from one."""
    return assignment.item.role in (Role.MAIN, Role.ATTENTION)


def skips_allowed(participant: Participant) -> int:
    """The number of items that a participant may skip in all; 0 where the study has no skipping."""
    limit: int = participant.revision.spec["skips"].get("per_participant", 0)
    return limit


def skips_left(participant: Participant) -> int:
    """The number of items that the participant may still skip; asks the database where it was not read with them."""
    skipped = getattr(participant, "skipped", None)
    if skipped is None:
        skipped = Assignment.objects.filter(participant=participant, state=AssignmentState.SKIPPED).count()
    return max(0, skips_allowed(participant) - skipped)


def _flag_if_often_skipped(assignment: Assignment) -> None:
    often = assignment.participant.revision.spec["skips"].get("flag_after")
    if not often:
        return
    skipped = Judgment.objects.filter(item=assignment.item_id, outcome=Outcome.SKIPPED).count()
    if skipped >= often and not ItemFlag.objects.filter(item=assignment.item_id, reason="skipped").exists():
        ItemFlag.objects.create(item_id=assignment.item_id, reason="skipped", note=f"skipped {skipped} times")


def undo_skip(token: str, assignment_id: uuid.UUID) -> None:
    """Put the skipped item before the participant again, with what they had filled in.

    What they have before them meanwhile is kept for them: they get it again after this one, if it is still free. The
    judgment goes on saying that the item was skipped until it is submitted. A second time changes nothing. Raises
    CannotUndoSkip (then nothing has changed) or NotYours.
    """
    now = timezone.now()
    with transaction.atomic():
        participant = lock_participant(token)
        if Assignment.objects.filter(
            participant=participant, pk=assignment_id, state=AssignmentState.RESERVED
        ).exists():
            return
        skipped = last_skipped(participant)
        if skipped is None or skipped.pk != assignment_id:
            raise CannotUndoSkip
        for current in Assignment.objects.select_related("participant__study").filter(
            participant=participant, state=AssignmentState.RESERVED
        ):
            return_item(current, now)
        if not reserve_again(participant, skipped, now):
            raise CannotUndoSkip
        if participant.step != Step.ITEMS:
            enter_step(participant, Step.ITEMS)

"""Drafts of an item's form: kept before it is submitted, and with them the place."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.models import Assignment, AssignmentState
from annotator.services.slots.claim import extend_lease, lease_end
from annotator.services.work.submit import UNFINISHED, lock_assignment
from evaluation.forms.input.draft_merge import merge_drafts

# In bytes of a request: well above thirty entries of the length that one may have.
MAX_DRAFT = 1_000_000


def save_draft(token: str, assignment_id: uuid.UUID, draft: dict[str, Any]) -> datetime | None:
    """Keep what was filled in so far and extend the lease; None if the place was lost. NotYours otherwise."""
    now = timezone.now()
    with transaction.atomic():
        assignment = lock_assignment(token, assignment_id)
        # The place before the assignment, as claiming does it, so the two can't wait for each other.
        # An item without a place can't be lost, but must look as if it could: attention checks don't stand out.
        until = (
            extend_lease(assignment, now) if assignment.slot_id else lease_end(assignment.participant, now)
        )
        mine = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.RESERVED)
        return until if mine.update(draft=merge_draft(assignment, draft)) else None


def store_refused_form(token: str, assignment_id: uuid.UUID, draft: dict[str, Any]) -> None:
    """Keep a form that was refused as the draft, also of an item that may only be submitted late by now: that is kept
    and paid. Raises NotYours."""
    if save_draft(token, assignment_id, draft) is not None:
        return
    with transaction.atomic():
        assignment = lock_assignment(token, assignment_id)
        mine = Assignment.objects.filter(pk=assignment.pk, state__in=UNFINISHED)
        mine.update(draft=merge_draft(assignment, draft))


def merge_draft(assignment: Assignment, draft: dict[str, Any]) -> dict[str, Any]:
    participant = assignment.participant
    questions = participant.study.protocol_object.questions(
        participant.revision.spec, assignment.item.stimulus or {}
    )
    return merge_drafts(questions, assignment.draft, draft)

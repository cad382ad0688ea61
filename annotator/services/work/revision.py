"""Answers that a participant revises before their visit ends, and answers that came when others were recorded."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotator.models import Assignment, AssignmentState, Participant, Step
from annotator.services.work.draft_rounds import origins_of, rounds_of
from annotator.services.work.drafts import merge_draft
from annotator.services.work.submit import NotYours, get_assignment, lock_participant
from evaluation.models import GoingBack, Role
from evaluation.protocols import AnswersInvalid, AnswerValue, Kind
from evaluation.protocols.entries.sets import trace_answer_origins
from evaluation.services.answers import load_answers
from evaluation.services.judgments import revise_judgment


class CannotRevise(Exception):
    """The study does not allow it, or not any more."""


def revisable_assignments(participant: Participant) -> list[Assignment]:
    """The assignments that the participant may revise, the latest first."""
    allowed = participant.study.going_back
    if (
        participant.outcome
        or participant.step not in (Step.ITEMS, Step.COMMENTS)
        or allowed == GoingBack.NONE
    ):
        return []
    # Attention checks must not be told from main items.
    done = Assignment.objects.select_related("item", "judgment").filter(
        participant=participant,
        visit_number=participant.visit_number,
        state=AssignmentState.SUBMITTED,
        item__role__in=[Role.MAIN, Role.ATTENTION],
    )
    found = done.order_by("-ended_at")
    return list(found[:1] if allowed == GoingBack.LAST else found)


def revise_answers(token: str, assignment_id: uuid.UUID, data: Mapping[str, Any]) -> None:
    """Record other answers; place, time and pay stay. A check stands by its first answer, or a warning after it would
    be the answer to it. Raises AnswersInvalid (nothing changed), CannotRevise or NotYours."""
    with transaction.atomic():
        participant = lock_participant(token)
        assignment = _to_revise(participant, assignment_id)
        if assignment is None or assignment.judgment is None:
            raise CannotRevise
        protocol, stimulus = participant.study.protocol_object, assignment.item.stimulus or {}
        answers = protocol.clean(participant.revision.spec, stimulus, data, source="form")
        if any(answer.kind == Kind.ENTRIES for answer in answers):
            answers = trace_answer_origins(answers, origins_of(rounds_of(assignment)))
        revise_judgment(study=participant.study, judgment=assignment.judgment, answers=answers)
        if assignment.item.role == Role.MAIN and assignment.item.gold is not None:
            assignment.passed = protocol.compare_gold(stimulus, assignment.item.gold, answers).passed
        assignment.draft = {}
        assignment.save(update_fields=["passed", "draft"])


def store_unsent_answers(token: str, assignment_id: uuid.UUID, fields: dict[str, str]) -> None:
    """Keep what was filled in of an item that had been finished, so that it can be shown."""
    assignment = get_assignment(token, assignment_id)
    Assignment.objects.filter(pk=assignment.pk).update(draft=merge_draft(assignment, fields))


def store_revision_draft(token: str, assignment_id: uuid.UUID, fields: dict[str, str], of: str = "") -> bool:
    """Keep what was filled in so far while answers are revised; False where they can't be, or not any more.

    What was recorded stays as it is until the revision is submitted. `of` is what `revision_of` was for the page: what
    it sent last may come when the revision has been submitted, and is not the beginning of another one.
    """
    with transaction.atomic():
        assignment = _to_revise(lock_participant(token), assignment_id)
        if assignment is None or (of and of != revision_of(assignment)):
            return False
        assignment.draft = merge_draft(assignment, fields)
        assignment.save(update_fields=["draft"])
    return True


def revision_of(assignment: Assignment) -> str:
    """The version of the answers that a revising page shows: the number of earlier revisions."""
    judgment = assignment.judgment
    return str(judgment.trace.get("revised", 0)) if judgment is not None else ""


def reset_revision_draft(token: str, assignment_id: uuid.UUID) -> bool:
    """Begin a revision again, from the answers that are recorded; False where they can't be revised any more."""
    with transaction.atomic():
        assignment = _to_revise(lock_participant(token), assignment_id)
        if assignment is None:
            return False
        assignment.draft = {}
        assignment.save(update_fields=["draft"])
    return True


def _to_revise(participant: Participant, assignment_id: uuid.UUID) -> Assignment | None:
    """The assignment, if its answers may be revised. Raises NotYours."""
    assignment = next((each for each in revisable_assignments(participant) if each.pk == assignment_id), None)
    if assignment is None and not participant.assignments.filter(pk=assignment_id).exists():
        raise NotYours
    return assignment


def has_new_answers(assignment: Assignment, data: Mapping[str, Any]) -> bool:
    """True of a form that came too late and says something else than what was recorded."""
    if not any(_texts(data)):
        return False
    spec = assignment.participant.revision.spec
    try:
        answers = assignment.participant.study.protocol_object.clean(
            spec, assignment.item.stimulus or {}, data, source="form"
        )
    except AnswersInvalid:
        return True
    return set(answers) != set(answers_on_record(assignment))


def _texts(data: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for value in data.values():
        found += _texts(value) if isinstance(value, Mapping) else [str(value).strip()]
    return found


def answers_on_record(assignment: Assignment) -> list[AnswerValue]:
    if assignment.judgment is None:
        return []
    return load_answers(assignment.judgment)

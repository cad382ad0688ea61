"""Rounds with a model: a participant asks for a revised draft of the entries before them, and every one is kept.

Asking stores a waiting round and its job; a worker asks the model and ends both. The job has the claim, so that the
model is paid for once; the round has the entries, and says in the participant's language why it failed. A round whose
worker was lost gives way once the participant asks again.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotator.job_kinds import DRAFT_ROUND
from annotator.models import Assignment, AssignmentState, DraftRound, Participant
from annotator.services.work.submit import get_assignment, lock_participant
from evaluation.extension import Reviser, RevisionFailed, extensions
from evaluation.models import Item, Job, Study
from evaluation.protocols import Kind
from evaluation.protocols.base import Data
from evaluation.protocols.entries.form import read_form
from evaluation.protocols.entries.sets import (
    Entry,
    clean_entry,
    fragments_of,
    inherit_origins,
    is_blank,
    revision_origins,
    trace_origins,
)
from evaluation.refusals import Refused
from evaluation.services.jobs import begin_job, finish_job

# Of an item; those that failed are not counted.
MAX_ROUNDS = 8
MAX_INSTRUCTION = 2_000
LOST = gettext_noop("The model did not answer in time. You can ask again.")
UNREACHED = gettext_noop(
    "The model can't be asked at the moment. Your work is kept; you can ask again later."
)
BROKE = gettext_noop("Something went wrong while the model was asked. You can ask again.")


# Why a model is not asked now, by what the participant's notice ends in.
REFUSALS = {
    "no_model": "There is no model to ask about this item.",
    "lost": "The item is no longer before the participant.",
    "no_instruction": "There is no instruction.",
    "too_long": f"The instruction is longer than {MAX_INSTRUCTION} characters.",
    "waiting": "The model has not answered the last time yet.",
    "enough": "The model was asked as often as it can be for this item.",
    "spent": "The participant has asked as often as they can in this study.",
    "study_spent": "All together have asked as often as they can in this study.",
    "day_spent": "All together have asked as often as they can today.",
}


def _refused(code: str) -> Refused:
    return Refused(REFUSALS[code], notice=f"round-{code}")


def find_reviser(item: Item) -> tuple[Reviser, str] | None:
    """The reviser that can be asked about this item, and its name; None where there is none, and so no button."""
    for reviser in (each.reviser() for each in extensions()):
        if reviser and (name := reviser.name(item)):
            return reviser, name
    return None


def request_round(token: str, assignment_id: uuid.UUID, instruction: str, data: Data) -> DraftRound:
    """A waiting round for the entries as a form's data has them now; Refused or NotYours otherwise.

    Whoever calls sends its job.
    """
    with transaction.atomic():
        # Whoever asks at the same moment in this study waits, or two would pass its limits at once.
        Study.objects.select_for_update(no_key=True, of=("self",)).filter(participants__token=token).first()
        lock_participant(token)
        assignment = get_assignment(token, assignment_id)
        question = _asked_for_entries(assignment)
        found = find_reviser(assignment.item)
        if question is None or found is None:
            raise _refused("no_model")
        if assignment.state != AssignmentState.RESERVED:
            raise _refused("lost")
        if not instruction.strip():
            raise _refused("no_instruction")
        if len(instruction) > MAX_INSTRUCTION:
            raise _refused("too_long")
        asked = rounds_of(assignment)
        for waiting in [each for each in asked if each.state == DraftRound.State.WAITING]:
            if not is_lost(waiting):
                raise _refused("waiting")
            _end(waiting, state=DraftRound.State.FAILED, problem=LOST)
        if not rounds_left(asked):
            raise _refused("enough")
        if code := limit_reached(assignment.participant):
            raise _refused(code)
        study = assignment.participant.study
        job = begin_job(
            kind=DRAFT_ROUND.key, slug=study.slug, study=study, subject=str(assignment.pk), by=None
        )
        return DraftRound.objects.create(
            job=job,
            assignment=assignment,
            number=max((each.number for each in asked), default=0) + 1,
            instruction=instruction.strip(),
            before=_entries(question, assignment, data, origins_of(asked)),
            model=found[1][:200],
        )


def abandon_round(waiting: DraftRound) -> None:
    """End a round that no worker could be told of, and leave nothing that might be sent later."""
    _end(waiting, state=DraftRound.State.FAILED, problem=UNREACHED)
    unsent = Job.objects.filter(kind=DRAFT_ROUND.key, subject=str(waiting.assignment_id))
    unsent.filter(state=Job.State.QUEUED).delete()


def limit_reached(participant: Participant) -> str:
    """Name the limit that keeps this participant from asking again: spent, study_spent, day_spent, or ''.

    Rounds that failed are counted: they may have been paid for. Those that no worker was told of are not. Withdrawing
    and coming back changes nothing of what the study has spent, and who came without an id may be anybody again.
    """
    study = participant.study
    own = settings.ASSAY_ROUNDS_PER_PARTICIPANT
    if not participant.external_id:
        own = min(own, study.revisions_anonymous)
    sent = DraftRound.objects.exclude(problem=UNREACHED)
    if sent.filter(assignment__participant=participant).count() >= own:
        return "spent"
    asked = sent.filter(assignment__participant__study=study)
    if asked.count() >= study.revisions_in_all:
        return "study_spent"
    lately = asked.filter(asked_at__gte=timezone.now() - timedelta(days=1))
    return "day_spent" if lately.count() >= study.revisions_per_day else ""


def rounds_left(asked: Sequence[DraftRound]) -> int:
    """The number of times that the model can still be asked for an item that has these rounds."""
    failed = sum(each.state == DraftRound.State.FAILED or is_lost(each) for each in asked)
    return max(0, MAX_ROUNDS - len(asked) + failed)


def rounds_of(assignment: Assignment) -> list[DraftRound]:
    """The rounds about the item with their jobs, the first one first."""
    rounds = DraftRound.objects.filter(assignment=assignment).select_related("job")
    return list(rounds.order_by("number"))


def origins_of(asked: Sequence[DraftRound]) -> dict[str, list[str]]:
    """The origins of the entries in an item's revisions, by their names."""
    return revision_origins({each.number: each.after for each in asked})


def _asked_for_entries(assignment: Assignment) -> str | None:
    """The key of the question whose answer is a set of entries; None where there is none."""
    participant = assignment.participant
    questions = participant.study.protocol_object.questions(
        participant.revision.spec, assignment.item.stimulus or {}
    )
    return next((question.key for question in questions if question.kind == Kind.ENTRIES), None)


def _entries(
    question: str, assignment: Assignment, data: Data, known: Mapping[str, Sequence[str]]
) -> list[Entry]:
    """The entries in the form; what could not be submitted as it stands is not shown to the model."""
    rows = data.get(question)
    kept, _ = read_form(question, rows if isinstance(rows, dict) else {})
    fragments = fragments_of(assignment.item.stimulus or {})
    read = [clean_entry(row, fragments, name) for name, row in kept.items()]
    return [trace_origins(entry, known) for entry, problems in read if not problems and not is_blank(entry)]


def is_lost(each: DraftRound) -> bool:
    """True if a round still waits though whoever was to ask the model must be gone."""
    job = each.job
    return each.state == DraftRound.State.WAITING and (job is None or job.is_lost or not job.is_active)


def work_on_round(job: Job) -> None:
    """Ask the model and end the job's round. One that ended meanwhile stays as it is, and nobody is asked for it."""
    rounds = DraftRound.objects.select_related("assignment__item__study")
    each = rounds.filter(job=job, state=DraftRound.State.WAITING).first()
    if each is None:
        finish_job(job, message="The participant did not wait for it.")
        return
    item = each.assignment.item
    found = find_reviser(item)
    ended: dict[str, Any]
    try:
        if found is None:
            raise RevisionFailed(gettext_noop("No model is available in this study any more."))
        after = found[0].revise(item, each.before, each.instruction)
    except RevisionFailed as failed:
        ended = {"state": DraftRound.State.FAILED, "problem": str(failed)[:300]}
    except Exception:
        _end(each, state=DraftRound.State.FAILED, problem=BROKE)
        raise
    else:
        known = inherit_origins(each.number, each.before, after)
        ended = {"state": DraftRound.State.DONE, "after": known, "model": found[1][:200]}
    with transaction.atomic():
        _end(each, **ended)
        # A worker that was given up meanwhile ends nothing: this is where it hears of it.
        finish_job(job, message=str(ended.get("problem", "The model has answered.")))


def _end(waiting: DraftRound, **fields: Any) -> None:
    """End a round that still waits."""
    still = DraftRound.objects.filter(pk=waiting.pk, state=DraftRound.State.WAITING)
    still.update(answered_at=timezone.now(), **fields)

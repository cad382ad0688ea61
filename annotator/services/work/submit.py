"""Submitting the item before a participant, and going on.

A submit and the claim that follows it are one transaction of at most eleven statements, however large the study.
"""

import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.models import (
    Assignment,
    AssignmentState,
    Participant,
    ParticipantOutcome,
    Slot,
    SlotState,
    Step,
)
from annotator.selectors.participants import PERSON, columns_of, count_submitted, rounds_as_trace
from annotator.services.slots.in_play import note_filled
from annotator.services.slots.returns import restore_returned
from annotator.services.work.progress import (
    advance,
    counts,
    enter_step,
    failed_checks,
    finish,
    next_step,
)
from evaluation.database.compiled_queries import CompiledSelect, CompiledUpdate, field_of
from evaluation.forms.input.screen_record import SCREEN_TRACE, ScreenRecord, read_screen
from evaluation.models import Role
from evaluation.protocols import AnswerValue, Kind
from evaluation.protocols.answers.parts import response_parts
from evaluation.protocols.answers.trace import Trace, possible_moves
from evaluation.protocols.entries.sets import revision_origins, trace_answer_origins
from evaluation.services.judgments import JudgmentInput, record_judgments

# What can still be submitted.
UNFINISHED = (AssignmentState.RESERVED, AssignmentState.EXPIRED)


class NotYours(Exception):
    """There is no such assignment for this participant."""


class AlreadyDone(Exception):
    """The assignment was submitted or skipped before; nothing may change."""


def get_assignment(token: str, assignment_id: uuid.UUID) -> Assignment:
    """The participant's assignment with everything that its pages read, in one query; NotYours otherwise."""
    try:
        found: Assignment = _with_everything().get(pk=assignment_id, participant__token=token)
    except Assignment.DoesNotExist:
        raise NotYours from None
    return found


def _with_everything() -> Any:
    return Assignment.objects.select_related("item", "slot", "participant__study", "participant__revision")


def submit(
    token: str,
    assignment_id: uuid.UUID,
    data: Mapping[str, Any],
    *,
    visible_ms: int | None = None,
    trace: Trace | None = None,
    screen: str | None = None,
) -> Assignment:
    """Record the judgment, fill the place and give the participant what comes next.

    A second submit changes nothing. A late one is taken if the place is still free, and otherwise kept as surplus.
    `trace` is how the answers came about and `screen` how the item was shown, as the browser says (empty without
    scripts, None where there was no page); what can't have been is left out.
    Raises AnswersInvalid (nothing changed) or NotYours.
    """
    now = timezone.now()
    try:
        with transaction.atomic():
            assignment = lock_assignment(token, assignment_id)
            if assignment.state not in UNFINISHED:
                raise AlreadyDone
            spec = assignment.participant.revision.spec
            protocol = assignment.participant.study.protocol_object
            stimulus = assignment.item.stimulus
            assert stimulus is not None  # only frozen items are given to anybody
            answers = protocol.clean(spec, stimulus, data, source="form")
            was_late = assignment.state == AssignmentState.EXPIRED
            questions = protocol.questions(spec, stimulus) if trace else []
            moves = possible_moves(questions, stimulus, trace or {})
            rounds = _rounds(assignment, answers)
            known = revision_origins({each["number"]: each["after"] for each in rounds.get("rounds", ())})
            answers = trace_answer_origins(answers, known) if known else answers
            was_skipped = assignment.judgment_id is not None
            layout = _layout_trace(assignment, screen, now)
            _record(assignment, answers, now, visible_ms, moves | rounds | layout | _visit_trace(assignment))
            _advance(assignment, now, was_late=was_late or assignment.surplus, was_skipped=was_skipped)
            return assignment
    except AlreadyDone:
        # Outside of the transaction, which took everything back: a fill of the place among it.
        finished = get_assignment(token, assignment_id)
        finished.was_done = True
        return finished
    except IntegrityError:
        meanwhile = finished_meanwhile(token, assignment_id)
        if meanwhile is None:
            raise
        return meanwhile


def _rounds(assignment: Assignment, answers: list[AnswerValue]) -> Trace:
    """The rounds with a model, as part of the trace; looked for only where there are entries to revise."""
    if all(answer.kind != Kind.ENTRIES for answer in answers):
        return {}
    rounds = rounds_as_trace(assignment)
    return {"rounds": rounds} if rounds else {}


def _layout_trace(assignment: Assignment, screen: str | None, now: datetime) -> dict[str, ScreenRecord]:
    """Layout in which the item was shown, as part of the trace."""
    if screen is None:
        return {}
    parts = response_parts(assignment.item.stimulus or {"responses": []})
    return {SCREEN_TRACE: read_screen(screen, parts, duration_ms(assignment, now))}


def _visit_trace(assignment: Assignment) -> dict[str, int]:
    """The visit that it is of, as part of the trace; nothing of a first one."""
    number = assignment.visit_number
    return {"visit_number": number} if number > 1 else {}


def finished_meanwhile(token: str, assignment_id: uuid.UUID) -> Assignment | None:
    """The assignment, if another request finished it while this one waited for the participant's lock.

    Waiting refreshes the locked row alone, so the second of two at once still reads the assignment as unfinished,
    and the judgment's uniqueness stops it.
    """
    assignment = get_assignment(token, assignment_id)
    assignment.was_done = True
    return None if assignment.state in UNFINISHED else assignment


# The columns that submitting, skipping and keeping a draft read.
SUBMIT_COLUMNS = (
    *("participant", "item", "slot", "attempt", "visit_number", "order", "state", "reserved_at"),
    *("surplus", "judgment", "passed"),
    *(*PERSON, "participant__revision__spec"),
    *columns_of("participant__study", "protocol", "status", "redundancy", "lease_minutes", "seal_key"),
    *columns_of("item", "role", "gold", "stimulus"),
)


def _locked(token: str, assignment: uuid.UUID) -> Any:
    return (
        Assignment.objects.select_related("item", "participant__study", "participant__revision")
        .only(*SUBMIT_COLUMNS)
        .annotate(
            judged=count_submitted("participant", Role.MAIN),
            checked=count_submitted("participant", Role.ATTENTION),
        )
        .select_for_update(of=("participant",), no_key=True)
        .filter(pk=assignment, participant__token=token)
    )


LOCKED: CompiledSelect[Assignment] = CompiledSelect(
    _locked,
    token=field_of(Participant, "token"),
    assignment=field_of(Assignment, "id"),
)


def lock_assignment(token: str, assignment_id: uuid.UUID) -> Assignment:
    """Lock the participant, so that nothing else of theirs happens meanwhile, and read all that is needed."""
    assignment = LOCKED.first(token=token, assignment=assignment_id)
    if assignment is None:
        raise NotYours
    return assignment


class Submitted(NamedTuple):
    """The numbers of items and of attention checks that a participant has submitted in their present visit."""

    judged: int
    checked: int


def submitted_before(assignment: Any) -> Submitted:
    """By the participant of an assignment that was just locked, which brings both along."""
    return Submitted(assignment.judged, assignment.checked)


def _record(
    assignment: Assignment,
    answers: list[AnswerValue],
    now: datetime,
    visible_ms: int | None,
    trace: dict[str, Any],
) -> None:
    # The place first: whether the judgment counts is part of what is recorded, and sealed with it.
    surplus = not _fill_slot(assignment)
    # An item that was skipped and taken back has a judgment already, which says so and is replaced.
    is_new = assignment.judgment_id is None
    gold = assignment.item.gold
    study = assignment.participant.study
    if gold is not None:
        assignment.passed = study.protocol_object.compare_gold(
            assignment.item.stimulus or {}, gold, answers
        ).passed
    duration = duration_ms(assignment, now)
    [judgment] = record_judgments(
        study=study,
        batch=[
            JudgmentInput(
                rater_id=assignment.participant.rater_id,
                item_id=assignment.item_id,
                revision_id=assignment.participant.revision_id,
                # Of a qualification that may be tried again, the attempt; otherwise 0.
                replicate=assignment.attempt,
                answers=answers,
                shown=assignment.order,
                surplus=surplus,
                duration_ms=duration,
                visible_ms=visible_ms,
                judged_at=now,
                trace=trace,
            )
        ],
        known_new=is_new,
    )
    if assignment.slot_id is not None and not surplus:
        # After the judgment, which may count a correction of the study: its row before an arm's, as those who consent.
        note_filled(assignment.participant, assignment.slot_id)
    assignment.judgment, assignment.surplus = judgment, surplus
    _end(assignment, AssignmentState.SUBMITTED, now)


def duration_ms(assignment: Assignment, now: datetime) -> int:
    return max(0, int((now - assignment.reserved_at).total_seconds() * 1000))


def _fill_slot(assignment: Assignment) -> bool:
    """Fill the place. True if the judgment counts: the place was this assignment's, or free, as the update shows.

    The place is locked before the assignment, as claiming does it, so the two can't wait for each other.
    """
    # Training, qualification and checks have no places: nobody else can have taken theirs.
    if assignment.slot_id is None:
        return True
    fill = FILL_LATE if assignment.state == AssignmentState.EXPIRED else FILL
    return fill.run(slot=assignment.slot_id, assignment=assignment.pk) == 1


def _filling(*, late: bool) -> Callable[..., tuple[QuerySet[Slot], dict[str, Any]]]:
    def build(slot: int, assignment: uuid.UUID) -> tuple[QuerySet[Slot], dict[str, Any]]:
        mine = Q(state=SlotState.RESERVED, holder=assignment)
        if late:
            mine |= Q(state=SlotState.OPEN)
        filled = {"state": SlotState.FILLED, "holder": assignment, "leased_until": None}
        return Slot.objects.filter(mine, pk=slot), filled

    return build


FILL, FILL_LATE = (
    CompiledUpdate(
        _filling(late=late),
        slot=field_of(Slot, "id"),
        assignment=field_of(Assignment, "id"),
    )
    for late in (False, True)
)


def _end(assignment: Assignment, state: AssignmentState, now: datetime) -> None:
    """End an encounter once. What was read may be old, so the update itself must find it unfinished."""
    ended = END.run(
        assignment=assignment.pk,
        state=state,
        ended_at=max(now, assignment.reserved_at),  # servers' clocks differ
        judgment=assignment.judgment_id,
        surplus=assignment.surplus,
        passed=assignment.passed,
    )
    if not ended:
        raise AlreadyDone
    assignment.state = state


def _ending(assignment: uuid.UUID, **changes: Any) -> tuple[QuerySet[Assignment], dict[str, Any]]:
    # The draft is what a page that is loaded again shows; from now on the judgment has the answers.
    return Assignment.objects.filter(pk=assignment, state__in=UNFINISHED), {**changes, "draft": {}}


END = CompiledUpdate(
    _ending,
    assignment=field_of(Assignment, "id"),
    state=field_of(Assignment, "state"),
    ended_at=field_of(Assignment, "ended_at"),
    judgment=field_of(Assignment, "judgment"),
    surplus=field_of(Assignment, "surplus"),
    passed=field_of(Assignment, "passed"),
)


def _advance(assignment: Assignment, now: datetime, *, was_late: bool, was_skipped: bool) -> None:
    """Give the participant the next thing after a submit; not in training, where they read the feedback first."""
    participant, role = assignment.participant, assignment.item.role
    if role == Role.TRAINING or participant.step == Step.DONE:
        return
    if role == Role.ATTENTION and not assignment.passed and _fails(participant):
        finish(participant, ParticipantOutcome.FAILED_ATTENTION)
        return
    # While this one had run out they may have been given another: nobody has two before them.
    if was_late and has_assignment(participant):
        return
    before = submitted_before(assignment)
    # What ran out in an earlier visit and comes late is of that one.
    is_present = assignment.visit_number == participant.visit_number
    judged = before.judged + (is_present and role == Role.MAIN)
    if was_skipped and restore_returned(participant, now, judged=judged):
        return
    advance(participant, now, judged=judged, checked=before.checked + (is_present and role == Role.ATTENTION))


def has_assignment(participant: Participant) -> bool:
    """True if the participant already has an item before them."""
    return Assignment.objects.filter(participant=participant, state=AssignmentState.RESERVED).exists()


def notice_after_submit(assignment: Assignment) -> str:
    """The notice that a submit calls for beside what comes next: a failed check, where the study warns, or a further
    attempt at qualifying. Asks nothing after a main item."""
    role, participant = assignment.item.role, assignment.participant
    if role == Role.ATTENTION and assignment.passed is False and participant.outcome == "":
        rule = participant.revision.spec["steps"].get("attention") or {}
        return "check-failed" if rule.get("warn") else ""
    if role == Role.QUALIFICATION:
        again = Assignment.objects.filter(participant=participant, attempt__gt=assignment.attempt)
        return "try-again" if again.exists() else ""
    return ""


def _fails(participant: Participant) -> bool:
    allowed = participant.revision.spec["steps"]["attention"].get("allowed_failures")
    return allowed is not None and failed_checks(participant, participant.visit_number) > allowed


def advance_participant(token: str) -> None:
    """From the instructions or a training's feedback to what follows, or another look for a free place."""
    now = timezone.now()
    with transaction.atomic():
        participant = lock_participant(token)
        if has_assignment(participant):
            return
        if participant.step == Step.INSTRUCTIONS:
            enter_step(participant, next_step(participant.revision.spec, participant.step))
        judged, checked = counts(participant)
        advance(participant, now, judged=judged, checked=checked)


def lock_participant(token: str) -> Participant:
    """Participant.DoesNotExist for a stranger's token."""
    return (
        Participant.objects.select_for_update(of=("self",), no_key=True)
        .select_related("study", "revision")
        .get(token=token)
    )

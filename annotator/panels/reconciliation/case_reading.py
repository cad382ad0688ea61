"""The reading of visits from both sides, in a number of queries that does not grow with the study."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotator.models import (
    Assignment,
    AssignmentState,
    Panel,
    PanelAct,
    PanelRecord,
    Participant,
    ParticipantOutcome,
    Submission,
)
from annotator.panels.reconciliation.cases import NO_WORK, Case, Work
from annotator.panels.services.submission_records import is_same_visit
from annotator.panels.states import FREED
from evaluation.models import Judgment, Outcome, Role
from evaluation.selectors import counting_judgments, excluded_q, main_judgments, standing_exclusions


@dataclass(frozen=True)
class CaseScope:
    """The rows that cases are read from: a whole study's, or one visit's and all that hang together with it."""

    records: Q
    submissions: Q
    # Of assignments and judgments, by the participant.
    participants: frozenset[int] | None = None


WHOLE_STUDY = CaseScope(Q(), Q())


def case_scope(
    panel: Panel, *, record: PanelRecord | None = None, submission: Submission | None = None
) -> CaseScope:
    """One visit, with all others of the same person, by any id that the panel or we have of them.

    Whose visit it is, and which of several the work belongs to, can be told from these alone.
    """
    ids = {record.external_id} if record is not None else set()
    people = {record.participant_id} if record is not None else set()
    participants = {submission.participant_id} if submission is not None else set()
    before = -1
    while before != (before := len(ids) + len(people) + len(participants)):
        by_record = (
            Q(external_id__in=ids)
            | Q(participant_id__in=people)
            | Q(submission__participant__in=participants)
        )
        by_visit = Q(external_id__in=ids) | Q(participant__in=participants)
        by_visit |= Q(participant__external_id__in=people, participant__platform=panel.platform)
        records = PanelRecord.objects.filter(by_record, panel=panel)
        visits = Submission.objects.filter(by_visit, participant__study=panel.study_id)
        for external_id, person, participant in records.values_list(
            "external_id", "participant_id", "submission__participant"
        ):
            ids.add(external_id)
            people.add(person)
            participants.add(participant)
        for external_id, platform, person, participant in visits.values_list(
            "external_id", "participant__platform", "participant__external_id", "participant"
        ):
            participants.add(participant)
            if platform == panel.platform:
                ids.add(external_id)
                people.add(person)
        ids, people, participants = ids - {""}, people - {""}, participants - {None}
    return CaseScope(by_record, by_visit, frozenset(participants))


def read_cases(panel: Panel, scope: CaseScope = WHOLE_STUDY) -> list[Case]:
    """Every visit of the study that the panel or we know of, the latest first."""
    submissions = list(
        Submission.objects.filter(scope.submissions, participant__study=panel.study_id)
        .select_related("participant__rater")
        .defer("extra", "participant__comments")
    )
    records = list(PanelRecord.objects.filter(scope.records, panel=panel).select_related("linked_study"))
    for record in records:
        record.panel = panel
    cases = _match(panel, records, submissions)
    _assign_work_to_visits(panel, cases, scope)
    acts: dict[int, list[PanelAct]] = defaultdict(list)
    made = PanelAct.objects.filter(panel=panel)
    if scope is not WHOLE_STUDY:
        made = made.filter(record__in=records)
    for act in made.order_by("pk"):
        acts[act.record_id].append(act)
    for case in cases:
        if case.record is not None:
            case.acts = acts[case.record.pk]
    return sorted(cases, key=lambda case: -case.came)


def _match(panel: Panel, records: Sequence[PanelRecord], submissions: Sequence[Submission]) -> list[Case]:
    """Records with the visits that they are linked to, or that have their id; then visits without a record."""
    by_pk = {each.pk: each for each in submissions}
    own = [each for each in submissions if each.participant.platform == panel.platform]
    # An address that was passed on brings two people under one id: the record's own person comes first.
    by_id = {each.external_id: each for each in reversed(own) if each.external_id}
    exactly = {(each.external_id, each.participant.external_id): each for each in own if each.external_id}
    people = {each.participant.external_id: each.participant for each in own if each.participant.external_id}
    linked = {record.submission_id for record in records} - {None}
    cases, taken = [], set()
    for record in records:
        if record.submission_id:
            submission = by_pk.get(record.submission_id)
        else:
            ids = (record.external_id, record.participant_id)
            submission = exactly.get(ids) or by_id.get(record.external_id)
        if submission is not None and not record.submission_id and submission.pk in linked:
            submission = None
        if submission is not None:
            taken.add(submission.pk)
        person = submission.participant if submission is not None else people.get(record.participant_id)
        doubtful = (
            submission is not None
            and record.submission_id is None
            and not is_same_visit([record.study_there], record.participant_id, submission)
        )
        cases.append(Case(record, submission, person, is_doubtful=doubtful))
    return cases + [Case(None, each, each.participant) for each in submissions if each.pk not in taken]


def _assign_work_to_visits(panel: Panel, cases: Iterable[Case], scope: CaseScope) -> None:
    """The work of each visit of a participant to the latest of its submissions that still stands, or to the latest of
    all."""
    by_visit: dict[tuple[int, int], list[Case]] = defaultdict(list)
    for case in cases:
        if case.participant is not None:
            case.visit_number = _visit_number(case, case.participant, panel.study.visits)
            by_visit[case.participant.pk, case.visit_number].append(case)
    work = _work(panel, scope)
    for key, submissions in by_visit.items():
        holder = max(submissions, key=_claim)
        holder.holds_work = True
        holder.work = work.get(key, NO_WORK)


def _visit_number(case: Case, participant: Participant, visits: int) -> int:
    """The visit that a submission is of; one that never came here is of its study's, or else of the next, where there
    is one to come."""
    if case.submission is not None:
        return case.submission.visit_number
    if case.record is not None and case.record.linked_study is not None:
        return case.record.linked_study.visit_number
    number = participant.visit_number
    comes_again = participant.outcome == ParticipantOutcome.COMPLETED and number < visits
    return number + 1 if comes_again else number


def _claim(case: Case) -> tuple[bool, bool, bool, bool, bool, float]:
    """Sort key: the visit that the work belongs to has the greatest; of equals it is the latest."""
    return (
        case.status not in FREED,
        not case.is_doubtful,
        case.submission is not None,
        not case.is_late,
        case.record is not None,
        case.came,
    )


def _work(panel: Panel, scope: CaseScope) -> dict[tuple[int, int], Work]:
    """By participant and the number of their visit."""
    theirs = Q() if scope.participants is None else Q(participant__in=scope.participants)
    submitted, attention = Q(state=AssignmentState.SUBMITTED), Q(item__role=Role.ATTENTION)
    rows = (
        Assignment.objects.filter(theirs, participant__study=panel.study_id)
        .order_by()
        .values_list("participant", "visit_number", "participant__rater")
        .annotate(
            judged=Count("pk", filter=submitted & Q(item__role=Role.MAIN)),
            checks=Count("pk", filter=submitted & attention),
            failed=Count("pk", filter=attention & Q(passed=False, judgment__outcome=Outcome.OK)),
        )
    )
    people = Q() if scope.participants is None else Q(rater__participant__in=scope.participants)
    kept = _by_visit(main_judgments(panel.study).filter(people).exclude(excluded_q(panel.study)))
    counting = _by_visit(counting_judgments(panel.study).filter(people))
    gone = dict(standing_exclusions(panel.study).filter(rater__isnull=False).values_list("rater", "reason"))
    return {
        (participant, number): Work(
            judged,
            kept.get((rater, number), 0),
            counting.get((rater, number), 0),
            checks,
            failed,
            gone.get(rater, ""),
        )
        for participant, number, rater, judged, checks, failed in rows
    }


def _by_visit(judgments: QuerySet[Judgment]) -> dict[tuple[int, int], int]:
    """The number of the judgments that are of each visit of people's raters."""
    theirs = judgments.filter(rater__participant__isnull=False).order_by()
    rows = theirs.values_list("rater", "assignment__visit_number").annotate(n=Count("pk"))
    return {(rater, number): n for rater, number, n in rows}

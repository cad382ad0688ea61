"""Visits as the panel has them and as they are here, side by side: what reconciling looks at.

Everything is read in a fixed number of queries, whatever the study's size.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Q, QuerySet

from annotator.models import (
    Assignment,
    AssignmentState,
    Panel,
    PanelAct,
    PanelRecord,
    PanelStatus,
    Participant,
    ParticipantOutcome,
    Submission,
)
from evaluation.models import Judgment, Outcome, Role
from evaluation.selectors import counting_judgments, excluded, main_judgments, standing_exclusions

Kind, State = PanelAct.Kind, PanelAct.State
# An act that stands: it will be sent, is being sent or was done. One with an unknown outcome may have been done.
STANDING = (State.INTENDED, State.SENDING, State.DONE, State.UNKNOWN)
# The panel says that the person is done, whatever it has decided since.
COMPLETE_THERE = (
    PanelStatus.AWAITING_REVIEW,
    PanelStatus.APPROVED,
    PanelStatus.PARTIALLY_APPROVED,
    PanelStatus.REJECTED,
)
PAID = (PanelStatus.APPROVED, PanelStatus.PARTIALLY_APPROVED)
GONE = (PanelStatus.RETURNED, PanelStatus.TIMED_OUT, PanelStatus.SCREENED_OUT)
# The panel gives the place of such a submission to somebody else.
FREED = (*GONE, PanelStatus.REJECTED)
FAILED = (ParticipantOutcome.FAILED_ATTENTION, ParticipantOutcome.FAILED_QUALIFICATION)


@dataclass(frozen=True)
class Work:
    """What a participant did: main items judged, judgments that count, and attention checks met and failed.

    `kept` is what is not left out; it counts unless its place was taken or its item was withdrawn meanwhile.
    """

    judged: int = 0
    kept: int = 0
    counting: int = 0
    checks: int = 0
    failed: int = 0
    excluded: str = ""


NO_WORK = Work()


@dataclass
class Case:
    """One visit: the panel's record of it and ours; either may be missing.

    A person's work belongs to one of their visits, the one that is to be paid for (`holds_work`).
    """

    record: PanelRecord | None
    submission: Submission | None
    participant: Participant | None
    work: Work = NO_WORK
    acts: list[PanelAct] = field(default_factory=list)
    holds_work: bool = False
    # The visit has the submission's id, and came under another person's or another study's: a person decides.
    is_doubtful: bool = False

    @property
    def id(self) -> str:
        if self.record is not None:
            return self.record.external_id
        return self.submission.external_id if self.submission is not None else ""

    @property
    def person(self) -> str:
        """The panel's id of who it is."""
        if self.record is not None:
            return self.record.participant_id
        return self.participant.external_id if self.participant is not None else ""

    @property
    def key(self) -> str:
        """Names the visit: by the panel's id, or by ours where the panel has none."""
        if self.record is not None:
            return self.record.external_id
        return f"#{self.submission.pk}" if self.submission is not None else ""

    @property
    def status(self) -> str:
        return self.record.status if self.record is not None else ""

    @property
    def outcome(self) -> str:
        """How the visit ended here; of a visit that never came here, how the person ended."""
        if self.submission is not None and self.submission.outcome:
            return self.submission.outcome
        return self.participant.outcome if self.participant is not None and self.holds_work else ""

    @property
    def is_afterwards(self) -> bool:
        """Whether they came once more after their way had ended; nothing was done in this visit."""
        return self.submission is not None and self.submission.came_afterwards

    @property
    def is_complete_here(self) -> bool:
        return self.outcome == ParticipantOutcome.COMPLETED

    @property
    def is_paid(self) -> bool:
        return self.status in PAID

    def standing(self, *kinds: str) -> list[PanelAct]:
        return [
            act
            for act in self.acts
            if act.kind in kinds and act.state in STANDING and not self._is_undone(act)
        ]

    def _is_undone(self, act: PanelAct) -> bool:
        """A rejection that was done stands as long as the panel has it so: there it can be taken back."""
        return act.kind == Kind.REJECT and act.state == State.DONE and self.status != PanelStatus.REJECTED

    @property
    def is_decided(self) -> bool:
        """Whether approving, rejecting or asking to return is under way or done."""
        return bool(self.standing(Kind.APPROVE, Kind.REJECT, Kind.REQUEST_RETURN))

    @property
    def may_reject(self) -> bool:
        """Whether rejecting can be thought of: never for a failed qualification, nor anew after it was taken back."""
        failed = self.outcome == ParticipantOutcome.FAILED_QUALIFICATION
        return not failed and not any(self._is_undone(act) for act in self.acts)

    @property
    def came(self) -> float:
        """When it began, for the order of visits."""
        starts = [
            moment
            for moment in (
                self.record.started_at if self.record else None,
                self.submission.entered_at if self.submission else None,
                self.record.status_at if self.record else None,
            )
            if moment is not None
        ]
        return starts[0].timestamp() if starts else 0.0


def is_same(panel: Panel, person: str, submission: Submission) -> bool:
    """Whether a visit with a submission's id is that submission's by the other ids too; one that is missing fits.

    The address that a participant opens is theirs to change.
    """
    came_as, came_for = submission.participant.external_id, submission.external_study_id
    return came_as in ("", person or came_as) and came_for in ("", panel.external_id or came_for)


def read_cases(panel: Panel) -> list[Case]:
    """Every visit of the study that the panel or we know of, the latest first."""
    submissions = list(
        Submission.objects.filter(participant__study=panel.study_id)
        .select_related("participant__rater")
        .defer("extra", "participant__comments")
    )
    records = list(PanelRecord.objects.filter(panel=panel))
    cases = _match(panel, records, submissions)
    _give_work(panel, cases)
    acts: dict[int, list[PanelAct]] = defaultdict(list)
    for act in PanelAct.objects.filter(panel=panel).order_by("pk"):
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
            and not is_same(panel, record.participant_id, submission)
        )
        cases.append(Case(record, submission, person, is_doubtful=doubtful))
    return cases + [Case(None, each, each.participant) for each in submissions if each.pk not in taken]


def _give_work(panel: Panel, cases: Iterable[Case]) -> None:
    """Each participant's work to the latest of their visits that still stands, or to the latest of all."""
    by_participant: dict[int, list[Case]] = defaultdict(list)
    for case in cases:
        if case.participant is not None:
            by_participant[case.participant.pk].append(case)
    work = _work(panel)
    for pk, visits in by_participant.items():
        holder = max(visits, key=_claim)
        holder.holds_work = True
        holder.work = work.get(pk, NO_WORK)


def _claim(case: Case) -> tuple[bool, bool, bool, bool, bool, float]:
    """What makes a visit the one that the work belongs to; of equals the latest."""
    return (
        case.status not in FREED,
        not case.is_doubtful,
        case.submission is not None,
        not case.is_afterwards,
        case.record is not None,
        case.came,
    )


def _work(panel: Panel) -> dict[int, Work]:
    submitted, attention = Q(state=AssignmentState.SUBMITTED), Q(item__role=Role.ATTENTION)
    rows = (
        Assignment.objects.filter(participant__study=panel.study_id)
        .order_by()
        .values_list("participant", "participant__rater")
        .annotate(
            judged=Count("pk", filter=submitted & Q(item__role=Role.MAIN)),
            checks=Count("pk", filter=submitted & attention),
            failed=Count("pk", filter=attention & Q(passed=False, judgment__outcome=Outcome.OK)),
        )
    )
    kept = dict(_by_rater(main_judgments(panel.study).exclude(excluded(panel.study))))
    counting = dict(_by_rater(counting_judgments(panel.study)))
    gone = dict(standing_exclusions(panel.study).filter(rater__isnull=False).values_list("rater", "reason"))
    return {
        participant: Work(
            judged, kept.get(rater, 0), counting.get(rater, 0), checks, failed, gone.get(rater, "")
        )
        for participant, rater, judged, checks, failed in rows
    }


def _by_rater(judgments: QuerySet[Judgment]) -> Iterable[tuple[int, int]]:
    """People's raters, and how many of the judgments are theirs."""
    theirs = judgments.filter(rater__participant__isnull=False)
    return theirs.order_by().values_list("rater").annotate(n=Count("pk"))

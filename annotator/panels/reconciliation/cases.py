"""Visits as the panel has them and as they are here, side by side: what reconciling looks at."""

from dataclasses import dataclass, field

from annotator.models import PanelAct, PanelRecord, PanelStatus, Participant, ParticipantOutcome, Submission
from annotator.panels.states import PAID, STANDING, Kind, State


@dataclass(frozen=True)
class Work:
    """A participant's work: main items judged, judgments that count, and attention checks met and failed.

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

    A person's work belongs to one of the submissions of the visit that it was done in, the one that is to be paid for
    (`holds_work`); mostly there is one visit, and `visit_number` is 1.
    """

    record: PanelRecord | None
    submission: Submission | None
    participant: Participant | None
    visit_number: int = 1
    work: Work = NO_WORK
    acts: list[PanelAct] = field(default_factory=list)
    holds_work: bool = False
    # The visit has the submission's id, and came under another person's or another study's: a person decides.
    is_doubtful: bool = False

    def matches(self, record: PanelRecord | None, submission: Submission | None) -> bool:
        """True of the case of that record, or else of that visit of ours."""
        return self.record == record if record is not None else self.submission == submission

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
        """The visit's outcome here; of a visit that never came here, the person's."""
        if self.submission is not None and self.submission.outcome:
            return self.submission.outcome
        if self.participant is None or not self.holds_work:
            return ""
        return self.participant.outcome if self.visit_number == self.participant.visit_number else ""

    @property
    def is_late(self) -> bool:
        """True of a visit that began after their way had ended; nothing was done in it."""
        return self.submission is not None and self.submission.is_late

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
        """True where approving, rejecting or asking to return is under way or done."""
        return bool(self.standing(Kind.APPROVE, Kind.REJECT, Kind.REQUEST_RETURN))

    @property
    def may_reject(self) -> bool:
        """True where a rejection is possible: never for a failed qualification, nor again after it was taken back."""
        failed = self.outcome == ParticipantOutcome.FAILED_QUALIFICATION
        return not failed and not any(self._is_undone(act) for act in self.acts)

    @property
    def came(self) -> float:
        """Start of the visit as a timestamp, for sorting."""
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

"""Holding a panel's records, our rows and the money against each other."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from django.db.models import Count
from django.utils import timezone

from annotator.models import (
    Assignment,
    AssignmentState,
    KnownMismatch,
    Panel,
    PanelAct,
    PanelEvent,
    PanelStatus,
    ParticipantOutcome,
    Slot,
    SlotState,
)
from annotator.platforms import get_platform
from annotator.platforms.prolific import statuses
from annotator.selectors import people_needed
from annotator.services.cases import COMPLETE_THERE, FREED, Case, Kind, State, read_cases
from annotator.services.mismatch_kinds import KINDS, Mismatch, Rules
from annotator.services.mismatches import (
    event_mismatch,
    filters_mismatch,
    find_mismatches,
    places_mismatch,
)
from annotator.services.whom import whom_differences
from evaluation.models import Status, Study

ZERO = Decimal("0.00")
EVENTS_SHOWN = 50


@dataclass(frozen=True)
class Line:
    """One line of the table that holds the panel against us; an empty side has nothing to say."""

    name: str
    there: str
    here: str


@dataclass(frozen=True)
class Sum:
    """Money for one thing. `unknown` was sent without an answer and is in `approved`, not in `paid`."""

    name: str
    owed: Decimal = ZERO
    approved: Decimal = ZERO
    paid: Decimal = ZERO
    unknown: Decimal = ZERO

    @property
    def to_come(self) -> Decimal:
        return self.owed - self.paid

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(
            self.name,
            self.owed + other.owed,
            self.approved + other.approved,
            self.paid + other.paid,
            self.unknown + other.unknown,
        )


@dataclass(frozen=True)
class Money:
    """What the people of a study are owed, in its currency, without the panel's fees and taxes."""

    currency: str
    # None where the study says no pay: then only bonuses are known.
    pay: Decimal | None
    wages: Sum
    bonuses: Sum
    # Submissions whose pay is not the study's: the panel alone knows what it paid for them.
    partial: int = 0

    @property
    def total(self) -> Sum:
        return replace(Sum("In all") + self.wages + self.bonuses, name="In all")


@dataclass(frozen=True)
class Reconciliation:
    """Everything that the page shows. `mismatches` are open, `known` those that a researcher lets stand."""

    panel: Panel
    cases: tuple[Case, ...]
    lines: tuple[Line, ...]
    money: Money
    mismatches: tuple[Mismatch, ...]
    known: tuple[Mismatch, ...]
    approvable: tuple[Case, ...]
    waiting: tuple[PanelAct, ...]

    @cached_property
    def _by_case(self) -> dict[int, list[Mismatch]]:
        by_case: dict[int, list[Mismatch]] = {}
        for each in self.mismatches:
            by_case.setdefault(id(each.case), []).append(each)
        return by_case

    @cached_property
    def _ready(self) -> set[int]:
        return {id(case) for case in self.approvable}

    def of_case(self, case: Case) -> list[Mismatch]:
        """The open mismatches of one of the cases."""
        return self._by_case.get(id(case), [])

    def is_ready(self, case: Case) -> bool:
        """Whether the case can be approved without a further look."""
        return id(case) in self._ready


def reconcile(panel: Panel) -> Reconciliation:
    """The state of things, in a fixed number of queries. Changes nothing."""
    now = timezone.now()
    study = panel.study
    cases = read_cases(panel)
    known = {each.key: each for each in KnownMismatch.objects.filter(panel=panel).select_related("by")}
    has_api = get_platform(panel.platform).has_api
    rules = Rules(panel, has_api, study.completion_codes, now)
    found = list(find_mismatches(rules, cases))
    needed = people_needed(study, now)
    if panel.external_id and panel.places is not None and study.status in (Status.LIVE, Status.PAUSED):
        places = places_mismatch(needed, _coming(panel, cases))
        found += [places] if places is not None else []
    filters = filters_mismatch(whom_differences(panel), panel.status == statuses.DRAFT)
    found += [filters] if filters is not None else []
    events = PanelEvent.objects.filter(panel=panel, applied_at=None).exclude(problem="")
    found += [event_mismatch(event) for event in events.order_by("occurred_at", "pk")[:EVENTS_SHOWN]]
    found = [replace(each, known=known.get(each.key)) for each in found]
    order = list(KINDS)
    found.sort(key=lambda each: order.index(each.kind))
    still_open = tuple(each for each in found if each.known is None)
    return Reconciliation(
        panel,
        tuple(cases),
        _lines(panel, cases, needed),
        money_of(panel, cases),
        still_open,
        tuple(each for each in found if each.known is not None),
        _approvable(cases, still_open),
        tuple(act for case in cases for act in case.acts if act.state == State.INTENDED),
    )


def _approvable(cases: Iterable[Case], mismatches: Iterable[Mismatch]) -> tuple[Case, ...]:
    """Complete on both sides, passed, not decided, some of the work kept, and nothing open about them."""
    odd = {id(each.case) for each in mismatches if each.case is not None}
    return tuple(
        case
        for case in cases
        if case.status == PanelStatus.AWAITING_REVIEW
        and case.is_complete_here
        and case.holds_work
        and case.work.kept
        and not case.is_decided
        and (case.record is None or case.record.return_asked_at is None)
        and id(case) not in odd
    )


def _taken(cases: Iterable[Case]) -> int:
    """Places that the panel counts as taken: who is out of the study there has none any more."""
    return sum(case.record is not None and case.status not in FREED for case in cases)


def _coming(panel: Panel, cases: Sequence[Case]) -> int:
    """Who can still come: the panel's free places, and those who took one and have not arrived here."""
    free = max(0, (panel.places or 0) - _taken(cases))
    under_way = (PanelStatus.RESERVED, PanelStatus.ACTIVE)
    return free + sum(case.status in under_way and case.participant is None for case in cases)


# --- counts -----------------------------------------------------------------------------------------------------------


def _lines(panel: Panel, cases: Sequence[Case], needed: int) -> tuple[Line, ...]:
    records = [case for case in cases if case.record is not None]
    visits = [case for case in cases if case.submission is not None]
    people = {case.participant.pk: case.participant for case in cases if case.participant is not None}
    outcomes = Counter(each.outcome for each in people.values())
    statuses = Counter(case.status for case in records)
    holders = [case for case in cases if case.holds_work]
    judged, counting = sum(case.work.judged for case in holders), sum(case.work.counting for case in holders)
    there = bool(panel.external_id)
    decided = Counter(act.kind for case in cases for act in case.standing(Kind.APPROVE, Kind.BONUS))
    paid = sum(case.is_paid for case in records)
    return (
        Line(
            "Places",
            _places_there(panel, cases),
            f"{_slots(panel.study)}; work for {_n(needed, 'more person', 'more people')}",
        ),
        Line(
            "Submissions",
            _counted(len(records), ((str(s.label), statuses[s]) for s in PanelStatus)) if there else "",
            _n(len(visits), "visit", "visits"),
        ),
        Line(
            "Participants",
            _n(len({case.person for case in records}), "person", "people") if there else "",
            _counted(
                len(people),
                (
                    ("at work", outcomes[""]),
                    *((str(o.label), outcomes[o]) for o in ParticipantOutcome),
                ),
            ),
        ),
        Line("Assignments", "", _assignments(panel.study)),
        Line("Judgments", "", f"{judged:,} of main items, {counting:,} in the figures"),
        Line(
            "Payments",
            f"{paid:,} approved" if there else "",
            f"{outcomes[ParticipantOutcome.COMPLETED]:,} completed; asked of the panel: "
            f"{_n(decided[Kind.APPROVE], 'approval', 'approvals')}, {_n(decided[Kind.BONUS], 'bonus', 'bonuses')}",
        ),
    )


def _counted(n: int, parts: Iterable[tuple[str, int]], what: str = "") -> str:
    """ "12 visits: 9 completed, 3 returned"."""
    listed = ", ".join(f"{k:,} {name}" for name, k in parts if k)
    said = f"{n:,} {what}".strip()
    return f"{said}: {listed}" if listed else said


def _n(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _places_there(panel: Panel, cases: Sequence[Case]) -> str:
    if panel.places is None:
        return ""
    taken = _taken(cases)
    return f"{panel.places:,}: {taken:,} taken, {max(0, panel.places - taken):,} free"


def _slots(study: Study) -> str:
    rows = Slot.objects.filter(study=study, replaced_by=None).exclude(state=SlotState.RETIRED)
    states = dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
    parts = ((str(s.label), states.get(s, 0)) for s in SlotState)
    return _counted(sum(states.values()), parts, "wanted")


def _assignments(study: Study) -> str:
    rows = Assignment.objects.filter(participant__study=study).order_by()
    states = dict(rows.values_list("state").annotate(n=Count("pk")))
    return _counted(sum(states.values()), ((str(s.label), states.get(s, 0)) for s in AssignmentState))


# --- money ------------------------------------------------------------------------------------------------------------


def money_of(panel: Panel, cases: Iterable[Case]) -> Money:
    """Pay per submission that earned it, and bonuses per act."""
    pay = panel.study.pay
    wages, bonuses, partial = Sum("Pay"), Sum("Bonuses"), 0
    for case in cases:
        wages += _wage(case, pay or ZERO) if is_owed(panel, case) else Sum("")
        partial += case.status in (PanelStatus.PARTIALLY_APPROVED, PanelStatus.SCREENED_OUT)
        for act in case.standing(Kind.BONUS):
            assert act.amount is not None
            done, unknown = act.state == State.DONE, act.state == State.UNKNOWN
            bonuses += Sum(
                "", act.amount, act.amount, act.amount if done else ZERO, act.amount if unknown else ZERO
            )
    return Money(panel.study.currency, pay, wages, bonuses, partial)


def _wage(case: Case, pay: Decimal) -> Sum:
    approvals = case.standing(Kind.APPROVE)
    approved = case.is_paid or bool(approvals)
    unknown = not case.is_paid and any(act.state == State.UNKNOWN for act in approvals)
    paid = case.is_paid or any(act.state == State.DONE for act in approvals)
    return Sum("", pay, pay if approved else ZERO, pay if paid else ZERO, pay if unknown else ZERO)


def is_owed(panel: Panel, case: Case) -> bool:
    """Whether the visit has earned the study's pay, or will be paid unless somebody says otherwise.

    Who was asked to return and has not done so is paid in the end, like everybody who awaits review.
    """
    if case.is_paid or case.standing(Kind.APPROVE):
        return True
    unpaid = (PanelStatus.REJECTED, PanelStatus.RETURNED, PanelStatus.SCREENED_OUT)
    if case.standing(Kind.REJECT) or case.status in unpaid:
        return False
    if case.status == PanelStatus.TIMED_OUT and case.standing(Kind.BONUS):
        return False  # the bonus is their pay
    return case.status in COMPLETE_THERE or (
        case.holds_work and case.is_complete_here and _comes_from(panel, case)
    )


def _comes_from(panel: Panel, case: Case) -> bool:
    """Not a colleague with a personal link, whom the panel does not know and can't pay."""
    if case.record is not None:
        return True
    return case.participant is not None and case.participant.platform == panel.platform

"""Holding a panel's records, our rows and the money against each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import prefetch_related_objects
from django.utils import timezone

from annotator.models import KnownMismatch, Panel, PanelAct, PanelEvent, PanelRecord, PanelStatus, Submission
from annotator.panels.money.bonus_evidence import Evidence, evidence_by_act
from annotator.panels.platforms import get_platform
from annotator.panels.reconciliation.case_reading import case_scope, read_cases
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.comparison import ComparisonLine, comparison_lines, people_coming
from annotator.panels.reconciliation.kinds import MISMATCH_KINDS, Facts, Mismatch
from annotator.panels.reconciliation.sums import PanelMoney, money_of
from annotator.panels.services.recruitment_filters import filter_differences
from annotator.panels.states import State
from annotator.selectors.arms import people_needed
from evaluation.models import Status

EVENTS_SHOWN = 50


@dataclass(frozen=True)
class Reconciliation:
    """Everything that the page shows. `mismatches` are open, `known` those that a researcher acknowledged."""

    panel: Panel
    cases: tuple[Case, ...]
    lines: tuple[ComparisonLine, ...]
    money: PanelMoney
    mismatches: tuple[Mismatch, ...]
    known: tuple[Mismatch, ...]
    approvable: tuple[Case, ...]
    waiting: tuple[PanelAct, ...]

    @property
    def has_other_side(self) -> bool:
        """False where nothing of the panel is known that could be compared."""
        return bool(self.panel.external_id) or any(case.record is not None for case in self.cases)

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
        """True of a case that can be approved without a further look."""
        return id(case) in self._ready


def reconcile(panel: Panel) -> Reconciliation:
    """The state of things, in a fixed number of queries. Changes nothing."""
    now = timezone.now()
    prefetch_related_objects([panel], "linked_studies")
    study, cases = panel.study, read_cases(panel)
    needed = people_needed(study, now)
    recruits = panel.external_id and panel.places is not None and study.status in (Status.LIVE, Status.PAUSED)
    events = PanelEvent.objects.filter(panel=panel, applied_at=None).exclude(problem="")
    facts = _facts(
        panel,
        cases,
        now,
        places=(needed, people_coming(panel, cases)) if recruits else None,
        filter_differences=filter_differences(panel),
        unapplied_events=list(events.order_by("occurred_at", "pk")[:EVENTS_SHOWN]),
    )
    still_open, known = _find_mismatches(facts)
    return Reconciliation(
        panel,
        tuple(cases),
        comparison_lines(panel, cases, needed),
        money_of(panel, cases),
        still_open,
        known,
        _approvable(cases, still_open),
        tuple(act for case in cases for act in case.acts if act.state == State.INTENDED),
    )


@dataclass(frozen=True)
class VisitReconciliation:
    """One visit. `mismatches` are open, `known` those that a researcher acknowledged."""

    case: Case
    mismatches: tuple[Mismatch, ...]
    known: tuple[Mismatch, ...]


def reconcile_visit(
    panel: Panel, *, record: PanelRecord | None = None, submission: Submission | None = None
) -> VisitReconciliation | None:
    """One visit, named by the panel's record of it or by ours; None if it is not the study's. Changes nothing.

    Reads no more than the visits of whoever came in it, however many there are in the study.
    """
    cases = read_cases(panel, case_scope(panel, record=record, submission=submission))
    this = next((case for case in cases if case.matches(record, submission)), None)
    if this is None:
        return None
    still_open, known = (
        tuple(each for each in found if each.case is this)
        for found in _find_mismatches(_facts(panel, cases, timezone.now()))
    )
    return VisitReconciliation(this, still_open, known)


def _facts(panel: Panel, cases: Sequence[Case], now: datetime, **of_study: Any) -> Facts:
    return Facts(
        panel,
        get_platform(panel.platform).api is not None,
        _bonuses_show_within(panel),
        panel.study.completion_codes,
        now,
        cases,
        bonus_evidence(panel, cases),
        **of_study,
    )


def bonus_evidence(panel: Panel, cases: Iterable[Case]) -> dict[int, Evidence]:
    """By the act's id: what the panel shows of each bonus whose outcome is unknown."""
    return evidence_by_act(((case.record, case.acts) for case in cases), _bonuses_show_within(panel))


def _bonuses_show_within(panel: Panel) -> timedelta:
    """No time of a panel that nothing is paid at from here."""
    api = get_platform(panel.platform).api
    return api.bonuses_show_within if api is not None else timedelta()


def _find_mismatches(facts: Facts) -> tuple[tuple[Mismatch, ...], tuple[Mismatch, ...]]:
    """Open and acknowledged mismatches, the most pressing kinds first."""
    known = {each.key: each for each in KnownMismatch.objects.filter(panel=facts.panel).select_related("by")}
    found = [
        replace(each, known=known.get(each.key))
        for kind in MISMATCH_KINDS.values()
        for each in kind.find(facts)
    ]
    return tuple(each for each in found if each.known is None), tuple(each for each in found if each.known)


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

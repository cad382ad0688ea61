"""Counts of the same thing at the panel and here, side by side."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotator.models import (
    Assignment,
    AssignmentState,
    ErasedVisit,
    Panel,
    PanelStatus,
    ParticipantOutcome,
    Slot,
    SlotState,
)
from annotator.panels.reconciliation.cases import Case
from annotator.panels.states import FREED, Kind
from evaluation.models import Study


@dataclass(frozen=True)
class ComparisonLine:
    """A line of the table that compares the panel with Assay; a side without a figure is empty."""

    name: str
    there: str
    here: str


def comparison_lines(panel: Panel, cases: Sequence[Case], needed: int) -> tuple[ComparisonLine, ...]:
    records = [case for case in cases if case.record is not None]
    visits = [case for case in cases if case.submission is not None]
    people = {case.participant.pk: case.participant for case in cases if case.participant is not None}
    outcomes = Counter(each.outcome for each in people.values())
    # Of each person the visits before the present one, too.
    completed = sum(
        each.visit_number - (each.outcome != ParticipantOutcome.COMPLETED) for each in people.values()
    )
    statuses = Counter(case.status for case in records)
    holders = [case for case in cases if case.holds_work]
    judged, counting = sum(case.work.judged for case in holders), sum(case.work.counting for case in holders)
    there = bool(panel.external_id)
    decided = Counter(act.kind for case in cases for act in case.standing(Kind.APPROVE, Kind.BONUS))
    paid = sum(case.is_paid for case in records)
    return (
        ComparisonLine(
            "Places",
            _places_there(panel, cases),
            f"{_slots(panel.study)}; work for {_more(panel.study, needed)}",
        ),
        ComparisonLine(
            "Submissions",
            _counted(len(records), ((str(s.label), statuses[s]) for s in PanelStatus)) if there else "",
            _n(len(visits), "visit", "visits"),
        ),
        ComparisonLine(
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
        ComparisonLine("Assignments", "", _assignments(panel.study)),
        ComparisonLine("Judgments", "", f"{judged:,} on main items, {counting:,} in the figures"),
        ComparisonLine(
            "Payments",
            f"{paid:,} approved" if there else "",
            f"{completed:,} completed; requested: "
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


def _more(study: Study, needed: int) -> str:
    if study.visits > 1:
        return _n(needed, "more visit", "more visits")
    return _n(needed, "more person", "more people")


def _places_there(panel: Panel, cases: Sequence[Case]) -> str:
    if panel.places is None:
        return ""
    places, taken = _places(panel), places_taken(panel, cases)
    return f"{places:,}: {taken:,} taken, {max(0, places - taken):,} free"


def _places(panel: Panel) -> int:
    """In all of the panel's studies for this one."""
    return (panel.places or 0) + sum(each.places for each in panel.linked_studies.all())


def _slots(study: Study) -> str:
    rows = Slot.objects.filter(study=study, replaced_by=None).exclude(state=SlotState.RETIRED)
    states = dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
    parts = ((str(s.label), states.get(s, 0)) for s in SlotState)
    return _counted(sum(states.values()), parts, "slots")


def _assignments(study: Study) -> str:
    rows = Assignment.objects.filter(participant__study=study).order_by()
    states = dict(rows.values_list("state").annotate(n=Count("pk")))
    return _counted(sum(states.values()), ((str(s.label), states.get(s, 0)) for s in AssignmentState))


def places_taken(panel: Panel, cases: Iterable[Case]) -> int:
    """Places that the panel counts as taken, also by people who were erased here: who is out of the study there has
    none any more."""
    erased = ErasedVisit.objects.filter(study=panel.study_id).exclude(digest="").exclude(status__in=FREED)
    return erased.count() + sum(case.record is not None and case.status not in FREED for case in cases)


def people_coming(panel: Panel, cases: Sequence[Case]) -> int:
    """The number of people who can still come: the panel's free places, and those who took one and are not here yet."""
    free = max(0, _places(panel) - places_taken(panel, cases))
    under_way = (PanelStatus.RESERVED, PanelStatus.ACTIVE)
    return free + sum(case.status in under_way and _is_on_the_way(case) for case in cases)


def _is_on_the_way(case: Case) -> bool:
    """True of somebody who has not come, or not again for their next visit."""
    if case.participant is None:
        return True
    return case.submission is None and case.visit_number > case.participant.visit_number

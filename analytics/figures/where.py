"""The items and judgments that a record of a figure is of: its raters, setting, category and systems, as filters of
the list of items. What no filter names is None."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

from analytics.display.tables import Counted, Pairs, TableCell, Where
from analytics.figures.document import GroupRecord, ReportRecord
from analytics.figures.groups import GroupView, QuestionView
from analytics.frames.rows import JUDGES, JURY, jury_key
from analytics.statistics.core.estimates import Estimate
from evaluation.explorer.number_range import NumberRange
from evaluation.filters import NO_SPLIT
from evaluation.models import Rater
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.protocols import Over

COUNTING = ("state", "counting")
NOTHING = "nothing"


def of_group(report: ReportRecord, group: GroupRecord) -> Where | None:
    """The judgments that count of a group of raters; only items are counted where somebody judged some repeatedly."""
    kind, within = group["kind"], group.get("within", "")
    if within:
        return Where((("by", within), ("group", group["key"].removeprefix(f"{within}-")), COUNTING))
    if kind in (Rater.Kind.PERSON, Rater.Kind.SIMULATED):
        return Where((("by", str(kind)), COUNTING))
    members = _members(report, group)
    once = sum(each["judgments"] for each in report["raters"] if each["rater"] in members)
    pairs = (*(("rater", each) for each in members), COUNTING)
    return Where(pairs, "" if once == group["judgments"] else "items") if members else None


def of_question(group: GroupView, question: str, judgments: int) -> Where | None:
    """Those of them with an answer to the question, which so many of them have."""
    where = group.where
    if where is None or judgments == group.judgments:
        return where
    if "." in question:
        # One part of a question in turns.
        return replace(where, counts=NOTHING)
    return replace(where, pairs=(*where.pairs, ("answered", question)))


def _members(report: ReportRecord, group: GroupRecord) -> list[str]:
    """The judges of a group, by pseudonym; none of all judges together, if the report does not say which they are."""
    own = [each for each in report["judges"] if not each["heuristic"]]
    if group["kind"] == JUDGES:
        # One that is made of judges is none of them, and a jury is one of them.
        return [each["rater"] for each in own] if len(own) == group["raters"] else []
    key = group["key"].removesuffix("-members") if group["kind"] == JURY else group["key"]
    jury = [each["rater"] for each in own if key == jury_key(each.get("jury", {}).get("name", ""))]
    return jury or [key]


def of(
    group: GroupView,
    cell: object | None = None,
    *,
    arm: str | None = None,
    category: str | None = None,
    pair: Sequence[str | None] = (),
    system: str | None = None,
) -> Where | None:
    """A group's judgments of items of the setting, category and systems that are given, or that `cell`, a record,
    names; None where one of them has no name."""
    if cell is not None:
        arm, category = getattr(cell, "arm", arm), getattr(cell, "category", category)
        one, two = getattr(cell, "system_1", None), getattr(cell, "system_2", None)
        if one is not None and two is not None:
            pair = (one, two)
    found = {
        "arm": arm,
        "category": category,
        "pair": BETWEEN_SYSTEMS.join(filter(None, pair)) if pair else None,
        "system": system,
    }
    if "" in found.values():
        return None
    return _also(group, *((name, value) for name, value in found.items() if value is not None))


def _also(group: GroupView, *own: tuple[str, str]) -> Where | None:
    where = group.where
    return where and replace(where, pairs=(*where.pairs, *own))


def beside_people(group: GroupView, *estimates: Counted) -> Where | None:
    """A group's judgments, in a row of figures of the items that people judged, too: no filter says which these are, so
    that nothing is counted where some are left out."""
    where = of(group)
    return replace(where, counts=NOTHING) if where and any(each.left_out for each in estimates) else where


def of_part(group: GroupView, by: str, name: str) -> Where | None:
    """The same of a setting, category or split of that name; `by` "all" is of no part."""
    if by == "all":
        return of(group)
    own = (by, name or NO_SPLIT) if by == "split" else (by, name)
    return _also(group, own) if own[1] else None


def of_rater(pseudonym: str) -> Where:
    """A rater's judgments that count."""
    return Where((("rater", pseudonym), COUNTING))


def of_two(report: ReportRecord, one: str, other: str, question: str = "") -> Where | None:
    """The items that both raters judged, or answered the question for; None where one of them is a jury, or it is one
    part of a question in turns."""
    known = {each["rater"] for each in report["raters"]}
    answered = (("answered", question),) if question else ()
    pairs = (("rater", one), ("rater", other), ("least", "2"), COUNTING, *answered)
    return Where(pairs) if {one, other} <= known and "." not in question else None


def recorded(pseudonym: str) -> Where:
    """A rater's judgments, whatever became of them."""
    return Where((("rater", pseudonym),))


def outcome(name: str, counts: str, n: int) -> Where | None:
    """Of them the `n` of that outcome, if there are any."""
    return Where((("outcome", name),), counts, n) if n else None


def named(of: Where | None) -> Where | None:
    """Where a name leads that is of these judgments."""
    return of and Where(of.pairs)


def of_items(**named: str) -> Where:
    """Items with these filters, whoever judged them."""
    return Where(tuple(named.items()))


def of_queries(by: str, value: str, split: str | None) -> Where | None:
    """Items of the queries with a category, source or split; None where they have none of it, which has no name."""
    pairs = ((by, value), ("split", split))
    named_ones = tuple((name, each or NO_SPLIT) for name, each in pairs if each is not None)
    return Where(named_ones) if value or by == "split" else None


def answered(cell: TableCell, share: Estimate, question: str, *values: str) -> TableCell:
    """The cell of a share of judgments, leading to those that gave the question one of these answers."""
    return _of_share(cell, share, tuple(("answer", f"{question}:{value}") for value in values))


def rated(
    cell: TableCell,
    question: QuestionView,
    n: int,
    *,
    system: str | None = None,
    value: float | str | None = None,
) -> TableCell:
    """The cell of `n` ratings, leading to those of its row's judgments that give one, or one of this value; of a system
    to its responses. Where a judgment gives several, or the question is one part of another, no filter names them."""
    once = question.over == Over.ITEM or (system is not None and question.over == Over.RESPONSE)
    if not once or "." in question.key or not n:
        return cell
    about = f"{question.key}@{system}" if question.over == Over.RESPONSE else question.key
    points = [point.number for point in question.points] if value is None else [float(value)]
    low, high = min(points), max(points)
    return replace(cell, where=Where((("range", f"{about}:{NumberRange(low, high)}"),), "judgments", n))


def within(answers: str, low: float | None, high: float | None) -> tuple[str, str]:
    """The filter of answers from `low` up to, but not including, `high`; None is no end."""
    return "range", f"{answers}:{number_range(low, high)}"


def longer(system: str, low: float | None, high: float | None) -> tuple[str, str]:
    """The filter of items whose other response is by so many characters longer than the system's."""
    return "longer_than", f"{system}:{number_range(low, high)}"


def number_range(low: float | None, high: float | None) -> NumberRange:
    return NumberRange(-inf if low is None else low, inf if high is None else high, is_open=high is not None)


def won(cell: TableCell, share: Estimate, question: str, system: str) -> TableCell:
    """The same of those that prefer the system, or pick it."""
    return _of_share(cell, share, (("winner", f"{question}:{system}"),))


def _of_share(cell: TableCell, share: Estimate, answers: Pairs) -> TableCell:
    if share.value is None:
        return cell
    return replace(cell, where=Where(answers, "judgments", round(share.value * share.n)))


def narrowed(group: GroupView, **named_parts: Any) -> GroupView:
    """The group as the raters of a mark that is of these alone."""
    return replace(group, where=of(group, **named_parts))

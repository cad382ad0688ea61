"""The items and judgments that a record of a figure is of: its raters, setting, category and systems, as filters of
the list of items. What no filter names is None."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analytics.display.tables import Pairs, Where
from analytics.frames.rows import JUDGES, JURY, jury_key
from evaluation.filters import NO_SPLIT
from evaluation.models import Rater

Record = dict[str, Any]
COUNTING = ("state", "counting")


def of_group(report: Record, group: Record) -> Where:
    """The judgments that count of a group of raters; only items are counted where somebody judged some repeatedly."""
    pairs = pairs_of_raters(report, group)
    members = {value for name, value in pairs if name == "rater"}
    once = sum(each["judgments"] for each in report["raters"] if each["rater"] in members)
    return Where((*pairs, COUNTING), "items" if members and once != group["judgments"] else "")


def pairs_of_raters(report: Record, group: Record) -> Pairs:
    """All judgments of a group of raters, or of a rater, by its `key` and `kind`."""
    kind, within = group["kind"], group.get("within", "")
    if within:
        return ("by", within), ("group", group["key"].removeprefix(f"{within}-"))
    if kind in (Rater.Kind.PERSON, Rater.Kind.SIMULATED):
        return (("by", str(kind)),)
    judges = report["judges"]
    if kind == JUDGES:
        # A heuristic is no judge.
        members = [each["rater"] for each in judges if not each["heuristic"]]
    else:
        name = group["key"].removesuffix("-members") if kind == JURY else group["key"]
        members = [each["rater"] for each in judges if jury_key(each.get("jury", {}).get("name", "")) == name]
    return tuple(("rater", each) for each in members or [group["key"]])


def of(
    group: Record,
    cell: Record | None = None,
    *,
    arm: str | None = None,
    category: str | None = None,
    pair: Sequence[str] = (),
    system: str | None = None,
) -> Where | None:
    """A group's judgments of items of the setting, category and systems that are given, or that `cell`, a record,
    names; None where one of them has no name."""
    if cell is not None:
        arm, category = cell.get("arm", arm), cell.get("category", category)
        if cell.get("system_1") is not None:
            pair = (cell["system_1"], cell["system_2"])
    found = {"arm": arm, "category": category, "pair": " | ".join(pair) if pair else None, "system": system}
    if "" in found.values():
        return None
    own = ((name, value) for name, value in found.items() if value is not None)
    return replace(group["where"], pairs=(*group["where"].pairs, *own))


def named(group: Record, by: str, name: str) -> Where | None:
    """The same of a setting, category or split of that name; `by` "all" is of no part."""
    if by == "all":
        return of(group)
    own = (by, name or NO_SPLIT) if by == "split" else (by, name)
    return replace(group["where"], pairs=(*group["where"].pairs, own)) if own[1] else None


def of_rater(pseudonym: str) -> Where:
    """A rater's judgments that count."""
    return Where((("rater", pseudonym), COUNTING))


def of_two(report: Record, one: str, other: str) -> Where | None:
    """The items that both raters judged; None where one of them is a jury."""
    known = {each["rater"] for each in report["raters"]}
    pairs = (("rater", one), ("rater", other), ("least", "2"), COUNTING)
    return Where(pairs) if {one, other} <= known else None


def recorded(pseudonym: str) -> Where:
    """A rater's judgments, whatever became of them."""
    return Where((("rater", pseudonym),))


def outcome(name: str, counts: str, n: int) -> Where | None:
    """Of them the `n` of that outcome, if there are any."""
    return Where((("outcome", name),), counts, n) if n else None

"""The filters of the list of items that a record of a figure is of: its raters, setting, category and systems.

A number that is of what no filter names has none: `None` stands for that.
"""

from collections.abc import Sequence
from typing import Any

from analytics.display.tables import Pairs, Where
from analytics.frames.rows import JUDGES, JURY, jury_key
from evaluation.models import Rater

Record = dict[str, Any]
COUNTING = ("state", "counting")


def pairs_of_group(report: Record, group: Record) -> Pairs:
    """The filters of the judgments that count of a group of raters, or of a rater, by its `key` and `kind`."""
    return (*pairs_of_raters(report, group), COUNTING)


def pairs_of_raters(report: Record, group: Record) -> Pairs:
    """The same of all of their judgments."""
    kind, within = group["kind"], group.get("within", "")
    if within:
        return ("by", within), ("group", group["key"].removeprefix(f"{within}-"))
    if kind in (Rater.Kind.PERSON, Rater.Kind.SIMULATED):
        return (("by", str(kind)),)
    judges = report["judges"]
    if kind == JUDGES:
        # A heuristic is no judge, and what is made of judges would count them twice.
        members = [each["rater"] for each in judges if not each["heuristic"] and not each.get("derived")]
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
) -> Pairs | None:
    """The filters of a group's judgments of items of the setting, category and systems that are given, or that `cell`,
    a record, names; None where one of them has no name."""
    if cell is not None:
        arm, category = arm or cell.get("arm"), category or cell.get("category")
        if cell.get("system_1") is not None:
            pair = (cell["system_1"], cell["system_2"])
    found = {"arm": arm, "category": category, "pair": " | ".join(pair) if pair else None, "system": system}
    if "" in found.values():
        return None
    return (*group["where"], *((name, value) for name, value in found.items() if value is not None))


def leads(pairs: Pairs | None) -> Where | None:
    """Where a name leads that is of this."""
    return None if pairs is None else Where(pairs)

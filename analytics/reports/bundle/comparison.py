"""Two reports of the same study held against each other, figure by figure and number by number."""

import enum
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Numbers that differ by less are the same but for the order in which a machine adds.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
# The key of the table of what judges' runs cost, which the installation knows that ran them.
COSTS = "judges-cost-of-judging"
# The parts of a report beside its figures that are computed from judgments. Its methods tell of the installation too.
PARTS = ("counts", "raters", "judges", "groups", "times", "queries", "codings", "questions", "findings")


class Sameness(enum.IntEnum):
    """The least that holds of two values."""

    EXACT = 0
    ROUNDED = 1
    DIFFERENT = 2


@dataclass(frozen=True)
class Difference:
    """A place where two records are not the same to the last digit; None where one has nothing."""

    path: str
    theirs: Any
    ours: Any
    sameness: Sameness

    def __str__(self) -> str:
        return f"{self.path}: {_shown(self.theirs)} in the bundle, {_shown(self.ours)} here"


@dataclass(frozen=True)
class ComparedFigure:
    """One part of two reports: a figure of a question and a group, or a part beside the figures."""

    figure: str
    question: str
    group: str
    differences: tuple[Difference, ...]

    @property
    def sameness(self) -> Sameness:
        return max((each.sameness for each in self.differences), default=Sameness.EXACT)

    @property
    def name(self) -> str:
        return ", ".join(filter(None, [self.figure, self.question, self.group]))


MISSING = object()


def compare_reports(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[ComparedFigure]:
    """Every part and every figure of either, in the order of the first; those that only one has differ."""
    theirs, ours = _without_costs(theirs), _without_costs(ours)
    parts = [
        ComparedFigure(
            name, "", "", tuple(_differences(theirs.get(name, MISSING), ours.get(name, MISSING), ""))
        )
        for name in PARTS
    ]
    mine, yours = _by_key(theirs.get("records", [])), _by_key(ours["records"])
    return parts + [
        ComparedFigure(*key[:3], tuple(_differences(mine.get(key, MISSING), yours.get(key, MISSING), "")))
        for key in dict.fromkeys([*mine, *yours])
    ]


def _without_costs(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The report without what its judges' runs cost."""
    told = [
        {name: each for name, each in judge.items() if name != "cost"} for judge in report.get("judges", ())
    ]
    return {**report, "judges": told} if "judges" in report else report


def compare_tables(theirs: Mapping[str, bytes], ours: Mapping[str, bytes]) -> list[tuple[str, bool]]:
    """By its key, True for each table of either that both have with the same bytes; that of costs is left out."""
    keys = dict.fromkeys([*theirs, *ours])
    return [(key, key in theirs and theirs[key] == ours.get(key)) for key in keys if key != COSTS]


def _by_key(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, str, int], Mapping[str, Any]]:
    """Records by figure, question and group; numbered, should one recur."""
    times: Counter[tuple[str, str, str]] = Counter()
    found = {}
    for record in records:
        key = str(record["figure"]), str(record["question"]), str(record["group"])
        found[(*key, times[key])] = record
        times[key] += 1
    return found


def _differences(theirs: Any, ours: Any, path: str) -> Iterator[Difference]:
    if theirs is MISSING or ours is MISSING:
        # One of them is there, and what is not there is shown as nothing.
        if theirs is not ours:
            yield Difference(path or "all of it", _present(theirs), _present(ours), Sameness.DIFFERENT)
    elif _is_number(theirs) and _is_number(ours):
        if theirs != ours:
            near = math.isclose(theirs, ours, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
            yield Difference(path, theirs, ours, Sameness.ROUNDED if near else Sameness.DIFFERENT)
    elif isinstance(theirs, dict) and isinstance(ours, dict):
        for name in dict.fromkeys([*theirs, *ours]):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(theirs.get(name, MISSING), ours.get(name, MISSING), inner)
    elif isinstance(theirs, list) and isinstance(ours, list):
        for at in range(max(len(theirs), len(ours))):
            mine, yours = (each[at] if at < len(each) else MISSING for each in (theirs, ours))
            yield from _differences(mine, yours, f"{path}[{at}]")
    elif theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool):
        yield Difference(path, theirs, ours, Sameness.DIFFERENT)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _present(value: Any) -> Any:
    return None if value is MISSING else value


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

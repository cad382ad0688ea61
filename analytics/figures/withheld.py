"""Intervals and tests of a fixed number of queries, withheld where a study may stop early by the figure.

How many queries such a study has depends on what they say, so that an interval or a test that takes their number for
granted holds less often than it says; the interval that holds at every look stands under *Stopping early*.
"""

from collections.abc import Mapping
from typing import Any

from analytics.figures.figure_input import MAY_STOP, PAIRS, FigureInput

BY_LOOKS = (
    "The study may stop early, so that an interval of a fixed number of queries does not hold here; that of the "
    "registered figure stands under Stopping early."
)
OF_A_COMPARISON = (
    "A study that may stop early by this figure has one interval of it, which holds at every look and stands under "
    "Stopping early in its own report."
)
OF_A_VIEW = "The study may stop early by this figure: a part of it has no interval that holds at every look."
ESTIMATE = {"value", "low", "high", "undefined"}
# A judge's own numbers stand beside people's, by which alone a study stops.
OWN = ("judge",)
# Words about an interval, and numbers that follow from one.
OF_INTERVALS = ("method", "note")
DERIVED = ("standard_error", "rank")


def concerns(given: FigureInput, stops_with: tuple[str, ...], *, beside_people: bool) -> bool:
    """True if the record of a figure that repeats the numbers of these rules is of people, or has people's numbers
    beside others."""
    rule = given.terms.stopping
    # The rules are about preferences: what the same figure says of another question repeats none of their numbers.
    if rule is None or rule.figure not in stops_with or given.form != PAIRS:
        return False
    return given.is_of_people or (beside_people and given.people is not None)


def withheld(found: Any, reason: str = BY_LOOKS, *, parts: tuple[str, ...] = ()) -> Any:
    """The record without intervals, p-values, standard errors and ranks; values stay, with the reason.

    Of a record of which only some `parts` repeat the figure, these, by their keys.
    """
    if parts:
        return {name: withheld(each, reason) if name in parts else each for name, each in found.items()}
    if isinstance(found, list):
        return [withheld(each, reason) for each in found]
    if not isinstance(found, Mapping):
        return found
    kept = {name: each if name in OWN else withheld(each, reason) for name, each in found.items()}
    # What has no interval says why already.
    if found.keys() >= ESTIMATE and not found["undefined"]:
        kept |= {"low": None, "high": None, "undefined": reason}
        kept |= {name: "" for name in OF_INTERVALS if name in found}
    kept |= {name: None for name in DERIVED if isinstance(found.get(name), int | float)}
    if "p_value" in found:
        kept["p_value"] = None
        if "test_undefined" in found:
            kept |= {"test_undefined": MAY_STOP, "statistic": None}
        elif "least" in found:
            # A test, as one that is in no family.
            kept |= {"p_corrected": None, "tests": 0, "undefined": MAY_STOP}
    return kept

"""Sentences that a report may say: the tests that they go by are corrected together, family by family.

All that the head could say of a group of raters is one family, whatever its kind: over all pairs, arms, categories and
questions. What judges do otherwise than people is another one, over all judges. Tests of fewer queries than
`LEAST_QUERIES` support no sentence, so that they are in no family.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from analytics.statistics.core.randomization import CorrectedTest, Tested, holm

Record = dict[str, Any]
ALPHA = 0.05
# The families of what the head says: of a group of raters, and of judges beside people.
CLAIMS, JUDGED = "claims", "judges beside people"
# Where judges stand beside people, so much of the level is for what is said of them.
JUDGED_SHARE = 0.2
# Hardly a family can reach its level below: see "Few queries" in docs/statistics.md.
LEAST_QUERIES = 10
NOT_ALL = "Corrected with all that a report could say, of which this one has a part."
TOO_FEW = f"The test has fewer than {LEAST_QUERIES} queries: too few for a conclusion."


SHARE = {"minimum": 0, "maximum": 1}


class TestedRecord(TypedDict):
    """A two-sided test by randomization over queries, corrected within its family by Holm's method."""

    p_value: Annotated[
        float | None, SHARE, "before correction; null where the study may stop early by the figure"
    ]
    least: Annotated[float, SHARE, "the smallest p-value that the test could have had"]
    n: Annotated[int, {"minimum": 0}, "queries"]
    method: Annotated[str, "which test, and whether outcomes were counted or drawn"]
    p_corrected: NotRequired[
        Annotated[float | None, "after correction, which findings go by; null with too few queries"]
    ]
    tests: NotRequired[Annotated[int, {"minimum": 0}, "in the family"]]
    undefined: NotRequired[Annotated[str, "why there is no corrected p-value"]]


@dataclass(frozen=True)
class FamilyTest:
    """A test of a record, and the family in which it is corrected.

    A test `beneath` another is of a stronger sentence about the same thing, which is said only where the weaker one may
    be: the two count once.
    """

    family: str
    test: Record
    beneath: Record | None = None


def correct(tests: Iterable[FamilyTest], least: int = LEAST_QUERIES, share: float = 1.0) -> None:
    """Writes into each test of a family its p-value after Holm's correction, and the number of tests.

    The family has this `share` of the level. Tests of fewer queries than `least` are in no family.
    """
    # What was withheld is in no family.
    family = [each for each in tests if each.test["p_value"] is not None]
    told = [each for each in family if each.test["n"] >= least]
    weaker = [each.test for each in told if each.beneath is None]
    for each in family:
        each.test.update(p_corrected=None, tests=len(weaker), undefined=TOO_FEW)
    _corrected(weaker, weaker)
    stronger = {id(each.beneath): each.test for each in told if each.beneath is not None}
    if stronger:
        instead = [stronger.get(id(test), test) for test in weaker]
        _corrected(instead, list(stronger.values()))
        for each in told:
            if each.beneath is not None and each.test["p_corrected"] is not None:
                each.test["p_corrected"] = max(each.test["p_corrected"], each.beneath["p_corrected"])
    for each in told:
        if each.test["p_corrected"] is not None:
            each.test["p_corrected"] = min(1.0, each.test["p_corrected"] / share)


def leave_uncorrected(tests: Iterable[FamilyTest]) -> None:
    """Writes into each test that a part of its family says nothing of it."""
    for each in tests:
        each.test.update(p_corrected=None, tests=0, undefined=NOT_ALL)


def _corrected(family: list[Record], written: list[Record]) -> None:
    """Corrects these tests together, and completes those to be written."""
    corrected = holm([test["p_value"] for test in family], [test["least"] for test in family])
    found = {id(test): p for test, p in zip(family, corrected, strict=True)}
    for test in written:
        if id(test) in found:
            test.update(p_corrected=found[id(test)], undefined="")


def corrected_p(test: Tested | None) -> float:
    """The p-value that a sentence goes by; of a test in no family it is 1."""
    assert isinstance(test, CorrectedTest)
    return 1.0 if test.p_corrected is None else test.p_corrected


def is_supported(test: Tested | None) -> bool:
    """True if a sentence may be made of the test."""
    return test is not None and corrected_p(test) < ALPHA


def is_below_level(p_corrected: float | None) -> bool:
    """The same of its p-value alone."""
    return p_corrected is not None and p_corrected < ALPHA

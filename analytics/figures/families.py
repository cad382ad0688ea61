"""Sentences that a report may say: the tests that they go by are corrected together, family by family.

All that the head could say of a group of raters is one family, whatever its kind: over all pairs, arms, categories and
questions. What judges do otherwise than people is another one, over all judges. Tests of fewer queries than
`LEAST_QUERIES` support no sentence, so that they are in no family.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from analytics.statistics.core.randomization import CorrectedTest, Tested, holm

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
    test: Tested
    beneath: Tested | None = None


def correct(
    tests: Sequence[FamilyTest], least: int = LEAST_QUERIES, share: float = 1.0
) -> list[CorrectedTest]:
    """Each test of a family, in their order, with its p-value after Holm's correction and the number of tests.

    The family has this `share` of the level. Tests of fewer queries than `least` are in no family.
    """
    told = [each for each in tests if not _is_withheld(each.test) and each.test.n >= least]
    weaker = [each.test for each in told if each.beneath is None]
    found = _corrected(weaker)
    stronger = {id(each.beneath): each.test for each in told if each.beneath is not None}
    of_stronger = _corrected([stronger.get(id(test), test) for test in weaker]) if stronger else {}
    for each in told:
        if each.beneath is not None and id(each.test) in of_stronger:
            found[id(each.test)] = max(of_stronger[id(each.test)], found[id(each.beneath)])
    return [_completed(each.test, found.get(id(each.test)), len(weaker), share) for each in tests]


def _is_withheld(test: Tested) -> bool:
    """True of a test as a report has it where the study may stop early by its figure: it has no p-value."""
    return test.p_value is None


def _completed(test: Tested, p: float | None, tests: int, share: float) -> CorrectedTest:
    if isinstance(test, CorrectedTest) and _is_withheld(test):
        return test
    of = (test.p_value, test.n, test.method, test.least)
    if p is None:
        return CorrectedTest(*of, p_corrected=None, tests=tests, undefined=TOO_FEW)
    return CorrectedTest(*of, p_corrected=min(1.0, p / share), tests=tests)


def left_uncorrected(tests: Iterable[FamilyTest]) -> list[CorrectedTest]:
    """The same of tests of which a part of their family says nothing."""
    given = (each.test for each in tests)
    return [CorrectedTest(each.p_value, each.n, each.method, each.least, undefined=NOT_ALL) for each in given]


def _corrected(family: Sequence[Tested]) -> dict[int, float]:
    """The p-values of these tests, corrected together, by the identity of each."""
    corrected = holm([test.p_value for test in family], [test.least for test in family])
    return {id(test): p for test, p in zip(family, corrected, strict=True)}


def corrected_p(test: Tested | None) -> float:
    """The p-value that a sentence goes by; of a test in no family it is 1."""
    assert isinstance(test, CorrectedTest)
    return 1.0 if test.p_corrected is None else test.p_corrected


def is_supported(test: Tested | None) -> bool:
    """True if a sentence may be made of the test."""
    return test is not None and corrected_p(test) < ALPHA


def read_tests(record: Any, found: Any) -> Iterator[tuple[Tested, TestedRecord]]:
    """Each test of a record beside the JSON that it was read from."""
    if isinstance(record, Tested):
        yield record, found
    elif is_dataclass(record):
        for each in fields(record):
            if each.name in found:
                yield from read_tests(getattr(record, each.name), found[each.name])
    elif isinstance(record, tuple):
        for one, of_one in zip(record, found, strict=True):
            yield from read_tests(one, of_one)

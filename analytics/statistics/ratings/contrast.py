"""Two sides' shares of a code and the test of their difference (ContextEval, section 5 and Figure 4).

The paper shows the shares of criteria in people's and in autoraters' justifications side by side, untested. Here they
are tested over queries: paired where the two sides share at least half of the queries that the smaller has, as arms
are compared elsewhere, and otherwise as two samples of queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip, two_sample
from analytics.statistics.core.resampling import ResampleSpec, divide, query_estimates, sum_by
from analytics.statistics.core.tidy import Floats, Ints

NOTHING = "One of the two sides has nothing that was coded."


@dataclass(frozen=True, eq=False)
class CodedSide:
    """Codes given to one side's texts: `value` (n,) is 0 or 1, `cell` (n,) what is paired, `query` (n,) its query."""

    value: Floats
    cell: Ints
    query: Ints

    def __post_init__(self) -> None:
        if not self.value.shape == self.cell.shape == self.query.shape:
            raise TidyDataError("Each coded text needs its value, its cell and its query.")


@dataclass(frozen=True)
class Contrast:
    """Shares of both sides, and the second less the first; `paired` says over which cells: shared ones, or all."""

    first: Estimate
    second: Estimate
    difference: Estimate
    paired: bool
    test: Tested


def contrast(
    one: CodedSide, other: CodedSide, *, resample: ResampleSpec, tests: Randomization, unit: str
) -> Contrast | None:
    """Mean over cells (named `unit`) of the share of a cell's values that are 1, on both sides; None without a side.

    Every cell weighs the same, however many texts it has. Intervals and tests are over queries.
    """
    if not len(one.value) or not len(other.value):
        return None
    first, second = _cells(one), _cells(other)
    shared, at_one, at_other = np.intersect1d(
        first.cell, second.cell, assume_unique=True, return_indices=True
    )
    few = min(len(np.unique(each.query)) for each in (first, second))
    paired = 2 * len(np.unique(first.query[at_one])) >= few
    if paired:
        first, second = (
            CodedSide(side.value[at], side.cell[at], side.query[at])
            for side, at in ((first, at_one), (second, at_other))
        )
        test = sign_flip(second.value - first.value, first.query, tests).two_sided
    else:
        test = two_sample(_query_means(first), _query_means(second), tests)
    first_share, second_share, difference = query_estimates(
        _columns(first, second),
        np.concatenate([first.query, second.query]),
        _shares_and_difference,
        n=len(shared) if paired else len(first.value) + len(second.value),
        unit=unit,
        resample=resample,
        empty=NOTHING,
        scales=["share", "share", "plain"],
    )
    return Contrast(first_share, second_share, difference, paired, test)


def _cells(side: CodedSide) -> CodedSide:
    """One row per cell, with its mean."""
    cell, at, code, n = np.unique(side.cell, return_index=True, return_inverse=True, return_counts=True)
    return CodedSide(sum_by(code, side.value, len(cell)) / n, cell, side.query[at])


def _query_means(side: CodedSide) -> Floats:
    _, code, n = np.unique(side.query, return_inverse=True, return_counts=True)
    return np.asarray(sum_by(code, side.value, len(n)) / n)


def _columns(first: CodedSide, second: CodedSide) -> Floats:
    """Sums and numbers (m, 4) of the first side's cells and of the second's, a row per cell of either."""
    n, total = len(first.value), len(first.value) + len(second.value)
    columns = np.zeros((total, 4))
    columns[:n, 0], columns[:n, 1] = first.value, 1
    columns[n:, 2], columns[n:, 3] = second.value, 1
    return columns


def _shares_and_difference(sums: Floats) -> Floats:
    one, other = divide(sums[:, 0], sums[:, 1]), divide(sums[:, 2], sums[:, 3])
    return np.stack([one, other, other - one], axis=1)

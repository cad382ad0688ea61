"""Two rater groups' ratings of the same things: how far apart their means are, and how they correlate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, present, undefined
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.jackknife import leave_out_cells
from analytics.statistics.core.resampling import (
    Range,
    ResampleSpec,
    divide,
    estimates_from,
    mean_estimate,
    mean_within,
)
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import Values, unit_means

FIRST_ONLY = "{unit} that only people rated"
SECOND_ONLY = "{unit} that only the judge rated"


@dataclass(frozen=True)
class Compared:
    """The second group's unit means (a judge's) beside the first's (people's), over the units that both rated.

    `difference` is the second less the first, `error` its absolute value, both averaged over units.
    """

    error: Estimate
    difference: Estimate
    pearson: Estimate
    spearman: Estimate


@dataclass(frozen=True, eq=False)
class _Cells:
    """Distinct pairs of means: positions (p,) in the ascending tables `x` (kx,) and `y` (ky,)."""

    at_x: Ints
    at_y: Ints
    x: Floats
    y: Floats


def compare_means(
    people: Values, judge: Values, *, resample: ResampleSpec, within: Range | None = None, unit: str = "items"
) -> Compared:
    """Mean absolute error, mean difference, Pearson's r and Spearman's rho of the two groups' unit means.

    Units, named `unit` in the plural, are matched by their codes, which must mean the same in both; those that one
    group rated alone are left out. Each unit weighs the same however often it was rated. Intervals are over
    queries; the ranks of Spearman's rho are taken anew without each of them. `within` are the ends of the scale, if it
    has any, by which the error can be told to lie inside of what is possible.
    """
    one, other = unit_means(people), unit_means(judge)
    _, at_one, at_other = np.intersect1d(one.unit, other.unit, assume_unique=True, return_indices=True)
    left_out = present(
        {
            FIRST_ONLY.format(unit=unit): len(one) - len(at_one),
            SECOND_ONLY.format(unit=unit): len(other) - len(at_other),
        }
    )
    x, y, query = one.mean[at_one], other.mean[at_other], one.query[at_one]
    error, difference = (
        _mean_gap(gap, query, most, unit=unit, resample=resample, left_out=left_out)
        for gap, most in (
            (np.abs(y - x), None if within is None else (0.0, within[1] - within[0])),
            (y - x, None),
        )
    )
    pearson, spearman = correlations(x, y, query, resample=resample, unit=unit, left_out=left_out)
    return Compared(error, difference, pearson, spearman)


def _mean_gap(
    gap: Floats,
    query: Ints,
    within: Range | None,
    *,
    unit: str,
    resample: ResampleSpec,
    left_out: tuple[LeftOut, ...],
) -> Estimate:
    empty = _nothing_shared(unit)
    if within is None:
        return mean_estimate(gap, query, unit=unit, resample=resample, left_out=left_out, empty=empty)
    return mean_within(gap, query, within, unit=unit, resample=resample, left_out=left_out, empty=empty)


def correlations(
    x: Floats,
    y: Floats,
    query: Ints,
    *,
    resample: ResampleSpec,
    unit: str = "items",
    left_out: tuple[LeftOut, ...] = (),
) -> tuple[Estimate, Estimate]:
    """Pearson's r and Spearman's rho (mid-ranks) of x (n,) and y (n,), with intervals over `query` (n,)."""
    # Means of the same ratings in another order may differ in their last bits, which must not break a tie of ranks.
    x_table, at_x = np.unique(np.round(x, 12), return_inverse=True)
    y_table, at_y = np.unique(np.round(y, 12), return_inverse=True)
    pair, cell = np.unique(at_x.astype(np.int64) * max(len(y_table), 1) + at_y, return_inverse=True)
    if len(x_table) < 2 or len(y_table) < 2:
        reason = _nothing_shared(unit)
        if len(x):
            reason = (
                "One of the two groups has the same mean throughout, so there is no correlation to compute."
            )
        nothing = undefined(reason, n=len(x), unit=unit, level=resample.level, left_out=left_out)
        return nothing, nothing
    cells = _Cells(pair // len(y_table), pair % len(y_table), x_table, y_table)
    found = leave_out_cells(query, cell, len(pair), lambda weights: _correlate(weights, cells))
    pearson, spearman = estimates_from(
        found,
        n=len(x),
        unit=unit,
        level=resample.level,
        left_out=left_out,
        empty=_nothing_shared(unit),
        scales=["coefficient", "coefficient"],
    )
    # The less varied of the two decides.
    totals = max((np.bincount(at_x), np.bincount(at_y)), key=lambda counts: int(counts.max()))
    return (
        noted(pearson, totals, found.queries, distances=True),
        noted(spearman, totals, found.queries),
    )


def _correlate(weights: Floats, cells: _Cells) -> Floats:
    """Pearson's r and Spearman's rho (r, 2) where cells occur `weights` (r, p) times; nan without variation."""
    ranks_x, varied_x = _mid_ranks(weights, cells.at_x, len(cells.x))
    ranks_y, varied_y = _mid_ranks(weights, cells.at_y, len(cells.y))
    r = _weighted_r(weights, cells.x[cells.at_x][None, :], cells.y[cells.at_y][None, :])
    rho = _weighted_r(weights, ranks_x, ranks_y)
    varied = varied_x & varied_y
    return np.where(varied[:, None], np.stack([r, rho], axis=1), np.nan)


def _mid_ranks(weights: Floats, position: Ints, n: int) -> tuple[Floats, np.ndarray]:
    """Mid-ranks (r, p), up to a constant, of values at `position` (p,), and whether two values occur (r,)."""
    import scipy

    membership = scipy.sparse.csr_array(
        (np.ones(len(position)), (np.arange(len(position)), position)), shape=(len(position), n)
    )
    totals = np.asarray(weights @ membership)
    return (np.cumsum(totals, axis=1) - totals / 2)[:, position], (totals > 0).sum(axis=1) > 1


def _weighted_r(weights: Floats, x: Floats, y: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    x = x - divide((weights * x).sum(axis=1, keepdims=True), n)
    y = y - divide((weights * y).sum(axis=1, keepdims=True), n)
    across = (weights * x * y).sum(axis=1)
    spread = np.sqrt((weights * x**2).sum(axis=1) * (weights * y**2).sum(axis=1))
    return np.clip(divide(across, spread), -1, 1)


def _nothing_shared(unit: str) -> str:
    return f"There are no {unit} that both groups rated."

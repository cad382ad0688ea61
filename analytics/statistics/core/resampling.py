"""Figures of sums over queries with their intervals, in memory and time that hardly grow with the number of judgments.

A figure is a function of sums over queries; its interval comes from leaving out one query at a time (see `jackknife`).
Only what has no standard error, such as a rank, is resampled by a bootstrap over queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, ParameterError, undefined
from analytics.statistics.core.interval_notes import note_of_share
from analytics.statistics.core.jackknife import (
    CHUNK_BYTES,
    ENDS,
    SAME,
    SCALES,
    Jackknife,
    Scale,
    Statistic,
    leave_out,
    t_interval,
)
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.design import generator

ONE_QUERY = "An interval needs at least two queries."
NO_VARIATION = "There is no variation across queries, so there is no interval."
UNDEFINED_WITHOUT_ONE = "Without one of the queries the figure is undefined, so there is no interval."
AT_THE_END = "The figure lies at the end of its range, so there is no interval."
Range: TypeAlias = tuple[float, float]
"""The least and the greatest value that there can be."""
SHARE: Range = (0.0, 1.0)


@dataclass(frozen=True)
class ResampleSpec:
    """Terms of intervals: level, and seed and number of replicates where a bootstrap is needed.

    A figure has a seed of its own, and each of its cells a generator of its own: no number depends on which others were
    computed before it.
    """

    seed: int
    replicates: int = 1000
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.replicates < 0:
            raise ParameterError("The number of replicates must not be negative.")
        if not 0 < self.level < 1:
            raise ParameterError("The level of an interval must lie between 0 and 1.")

    def rng(self, *cell: object) -> np.random.Generator:
        """The generator of one cell of the figure, such as an arm and a category."""
        return generator(self.seed, *cell)


def sum_by(codes: Ints, values: Floats, n: int) -> Floats:
    """Sums of `values` (m,) or (m, d) by `codes` (m,), shape (n,) or (n, d)."""
    if values.ndim == 1:
        return np.asarray(np.bincount(codes, weights=values, minlength=n), dtype=np.float64)
    columns = [np.bincount(codes, weights=column, minlength=n) for column in values.T]
    # Column by column, as they are added up again.
    return np.asarray(np.stack(columns).T, dtype=np.float64) if columns else np.zeros((n, 0))


def sums_by_query(columns: Floats, query: Ints) -> Floats:
    """Sums of `columns` (m,) or (m, d) over the rows of each query that occurs in `query` (m,), (q,) or (q, d)."""
    used = np.bincount(query) > 0
    return np.asarray(sum_by(query, columns, len(used))[used])


def draw_queries(n: int, *, rng: np.random.Generator, replicates: int) -> Iterator[Floats]:
    """Times that each of `n` queries is drawn with replacement, in chunks (c, n) of replicates under 50 MB each."""
    chunk = max(1, CHUNK_BYTES // (8 * max(n, 1)))
    for start in range(0, replicates, chunk):
        drawn = np.empty((min(chunk, replicates - start), n))
        for row in drawn:
            row[:] = np.bincount(rng.integers(0, n, size=n), minlength=n)
        yield drawn


def wilson_interval(share: float, units: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of `units` independent units (Wilson 1927)."""
    import scipy

    z = float(scipy.special.ndtri((1 + level) / 2))
    centre = (share + z**2 / (2 * units)) / (1 + z**2 / units)
    half = z / (1 + z**2 / units) * np.sqrt(share * (1 - share) / units + z**2 / (4 * units**2))
    # At 0 and 1 the limit is the share itself, which rounding may miss on either side.
    return max(0.0, min(float(centre - half), share)), min(1.0, max(float(centre + half), share))


def estimate_from(
    value: float,
    error: float,
    found: Jackknife,
    *,
    n: int,
    unit: str,
    level: float = 0.95,
    left_out: Sequence[LeftOut] = (),
    scale: Scale = "plain",
) -> Estimate:
    """An estimate of one of the figures `found`, a finite `value` with its standard `error`.

    Where a share is 0 or 1 in every query there is no variation to learn from; then the interval is Wilson's, with the
    queries as the units. (For values that are not only 0 and 1 it is if anything too wide: a mean of m gives n ones
    with a probability of at most m to the power of n.)
    """
    parts = tuple(left_out)
    reason, method, note = _why_no_interval(value, error, found.queries, scale), "", ""
    low = high = None
    if not reason:
        method = f"t interval{SCALES[scale]}, {found.method}"
        low, high = t_interval(value, error, found.groups, scale, level)
        note = note_of_share(value, n, found.queries) if scale == "share" else ""
    elif scale == "share" and reason == NO_VARIATION and _is_at(value, 0, 1):
        reason, method = "", f"Wilson interval, as all {found.queries} queries give the same value"
        low, high = wilson_interval(round(value), found.queries, level)
    return Estimate(float(value), low, high, n, unit, level, method, parts, reason, note)


def _why_no_interval(value: float, error: float, queries: int, scale: Scale) -> str:
    if queries < 2:
        return ONE_QUERY
    if not np.isfinite(error):
        return UNDEFINED_WITHOUT_ONE
    # Every query says the same: what was never seen can't be told from it, and a width of zero would be a lie.
    if error <= SAME * max(1.0, abs(value)):
        return NO_VARIATION
    return "" if _is_inside(value, ENDS[scale]) else AT_THE_END


def _is_at(value: float, *ends: float) -> bool:
    return any(abs(value - end) <= SAME for end in ends)


def _is_inside(value: float, ends: Range) -> bool:
    least, greatest = ends
    return least + SAME < value < greatest - SAME


def query_estimates(
    columns: Floats,
    query: Ints,
    statistic: Statistic,
    *,
    n: int,
    unit: str,
    resample: ResampleSpec,
    left_out: Sequence[LeftOut] = (),
    empty: str,
    scales: Sequence[Scale],
) -> tuple[Estimate, ...]:
    """The figures of `statistic` on sums of `columns` (m, d), each with its interval over queries on its scale.

    `empty` is the sentence for a figure that is undefined on the data itself.
    """
    found = leave_out(sums_by_query(columns, query), statistic)
    return estimates_from(
        found, n=n, unit=unit, level=resample.level, left_out=left_out, empty=empty, scales=scales
    )


def estimates_from(
    found: Jackknife,
    *,
    n: int,
    unit: str,
    level: float,
    left_out: Sequence[LeftOut] = (),
    empty: str,
    scales: Sequence[Scale],
) -> tuple[Estimate, ...]:
    """Estimates of all figures `found`, as in `query_estimates`."""
    return tuple(
        estimate_from(value, error, found, n=n, unit=unit, level=level, left_out=left_out, scale=scale)
        if np.isfinite(value)
        else undefined(empty, n=n, unit=unit, level=level, left_out=left_out)
        for value, error, scale in zip(found.value, found.error, scales, strict=True)
    )


def shares_of_last(sums: Floats) -> Floats:
    """The statistic of most figures: all columns but the last, divided by the last."""
    return divide(sums[:, :-1], sums[:, -1:])


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Quotients, nan where the denominator is zero."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    result = np.full(shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def mean_estimate(
    values: Floats,
    query: Ints,
    *,
    unit: str,
    resample: ResampleSpec,
    left_out: Sequence[LeftOut] = (),
    empty: str,
    share: bool = False,
    scale: Scale = "plain",
) -> Estimate:
    """Mean of `values` (m,) over rows, with its interval over the queries `query` (m,).

    `share` says that the values lie between 0 and 1; of others `scale` is the interval's.
    """
    sizes = np.bincount(query)
    used = sizes > 0
    sums = np.stack([sum_by(query, values, len(sizes))[used], sizes[used]]).T
    (estimate,) = estimates_from(
        leave_out(sums, shares_of_last),
        n=len(values),
        unit=unit,
        level=resample.level,
        left_out=left_out,
        empty=empty,
        scales=["share" if share else scale],
    )
    return estimate


def mean_within(
    values: Floats,
    query: Ints,
    within: Range,
    *,
    unit: str,
    resample: ResampleSpec,
    left_out: Sequence[LeftOut] = (),
    empty: str,
) -> Estimate:
    """Mean of `values` (m,), all of them `within` a range, as a share of the way from its least to its greatest.

    So the interval stays inside the range, and holds the truth as often as it says where most values lie at one end.
    Raises ParameterError where the range has no width.
    """
    low, high = within
    if low >= high:
        raise ParameterError("The least value of a range must be below its greatest.")
    share = mean_estimate(
        (values - low) / (high - low),
        query,
        unit=unit,
        resample=resample,
        left_out=left_out,
        empty=empty,
        share=True,
    )
    return share.stretched(high - low).shifted(low)

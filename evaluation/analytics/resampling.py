"""Bootstrap over queries, in memory and time that hardly grow with the number of judgments.

Every statistic of this package is a function of sums over queries: the items of one query share it and are
therefore dependent, so a query enters a resample with all of its items or not at all. A query is reduced to
the vector of what it adds to those sums. Queries with equal vectors are interchangeable; drawing queries
with replacement is then the same as drawing a multinomial number of each distinct vector. Both ways of
drawing used here are exact, and they differ only in cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from evaluation.analytics.counts import collapse
from evaluation.analytics.estimates import Estimate, LeftOut, ParameterError, undefined
from evaluation.analytics.tidy import Floats, Ints

CHUNK_BYTES = 48 * 2**20
MULTINOMIAL_COST = 8
"""A multinomial cell costs about as much as drawing this many units one by one (measured)."""
MAX_UNDEFINED_SHARE = 0.05
# Replicates closer together than this differ by rounding only.
SAME = 1e-12
"""With more replicates undefined than this, percentiles of the rest would describe another population."""
UNDEFINED_REPLICATES = "bootstrap replicates in which the figure is undefined"

Statistic = Callable[[Floats], Floats]
"""From sums (r, d) to figures (r, k), nan where undefined."""


@dataclass(frozen=True)
class ResampleSpec:
    """How intervals are made: random generator, number of replicates (0 for no interval), level."""

    rng: np.random.Generator
    replicates: int = 1000
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.replicates < 0:
            raise ParameterError("The number of replicates must not be negative.")
        if not 0 < self.level < 1:
            raise ParameterError("The level of an interval must lie between 0 and 1.")


@dataclass(frozen=True)
class Interval:
    """Limits, or None with the reason in a sentence, and how many replicates were undefined."""

    low: float | None
    high: float | None
    n_undefined: int = 0
    undefined: str = ""


@dataclass(frozen=True, eq=False)
class QuerySums:
    """Sums over queries: as observed (d,), in every replicate (r, d), and the number of queries."""

    observed: Floats
    replicates: Floats
    queries: int


def sum_by(codes: Ints, values: Floats, n: int) -> Floats:
    """Sums of `values` (m,) or (m, d) by `codes` (m,), shape (n,) or (n, d)."""
    if values.ndim == 1:
        return np.asarray(np.bincount(codes, weights=values, minlength=n), dtype=np.float64)
    columns = [np.bincount(codes, weights=column, minlength=n) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((n, 0))


def resample_weights(weights: Ints, *, rng: np.random.Generator, replicates: int) -> Iterator[Floats]:
    """How often each pattern is drawn, in chunks (c, p) of replicates that hold under 50 MB each.

    `weights` (p,) says how many units have each pattern; as many units are drawn as there are.
    """
    n, n_patterns = int(weights.sum()), len(weights)
    chunk = max(1, CHUNK_BYTES // (8 * max(n_patterns, 1)))
    # The constant stands for what one pass of the loop costs, however few units there are.
    by_pattern = MULTINOMIAL_COST * n_patterns <= n + 2000
    owner = None if by_pattern or n == n_patterns else np.repeat(np.arange(n_patterns), weights)
    for start in range(0, replicates, chunk):
        size = min(chunk, replicates - start)
        if by_pattern:
            yield rng.multinomial(n, weights / n, size=size).astype(np.float64)
            continue
        drawn = np.empty((size, n_patterns))
        for row in drawn:
            units = rng.integers(0, n, size=n)
            row[:] = np.bincount(units if owner is None else owner[units], minlength=n_patterns)
        yield drawn


def bootstrap_sums(vectors: Floats, *, rng: np.random.Generator, replicates: int) -> Floats:
    """Sums over resampled units, shape (replicates, d), from one vector per unit, shape (n_units, d)."""
    width = vectors.shape[1]
    if not replicates or not len(vectors):
        return np.zeros((0, width))
    patterns, weights, _ = collapse(vectors)
    chunks = [drawn @ patterns for drawn in resample_weights(weights, rng=rng, replicates=replicates)]
    return np.concatenate(chunks)


def query_sums(columns: Floats, query: Ints, resample: ResampleSpec) -> QuerySums:
    """Sums over the queries that occur in `query` (n,), of the rows of `columns` (n, d).

    With fewer than two queries there are no replicates: an interval of zero width would be a lie.
    """
    codes, n_queries = _dense(query)
    vectors = sum_by(codes, columns, n_queries)
    replicates = resample.replicates if n_queries > 1 else 0
    drawn = bootstrap_sums(vectors, rng=resample.rng, replicates=replicates)
    return QuerySums(vectors.sum(axis=0), drawn, n_queries)


def _dense(query: Ints) -> tuple[Ints, int]:
    """Codes from 0 without gaps, in the order of the codes given."""
    if not len(query):
        return query, 0
    used = np.bincount(query) > 0
    return (np.cumsum(used) - 1)[query], int(used.sum())


def percentile_interval(samples: Floats, level: float = 0.95) -> Interval:
    """Percentile interval of replicates (r,), undefined ones (nan, inf) ignored and counted.

    Undefined itself where there are fewer than two replicates, where more than 5 % of them are undefined, or
    where all of them are the same.
    """
    if len(samples) < 2:
        return Interval(None, None, undefined="An interval needs at least two units to resample.")
    finite = samples[np.isfinite(samples)]
    n_undefined = len(samples) - len(finite)
    if n_undefined > MAX_UNDEFINED_SHARE * len(samples):
        share = f"{n_undefined} of {len(samples)}"
        return Interval(None, None, n_undefined, f"The figure is undefined in {share} bootstrap replicates.")
    # A share of nothing or of everything: resampling can't show what was never seen, and a width of zero would lie.
    if np.ptp(finite) <= SAME:
        return Interval(None, None, n_undefined, "Every bootstrap replicate gives the same value.")
    tail = (1 - level) / 2
    low, high = np.quantile(finite, [tail, 1 - tail])
    return Interval(float(low), float(high), n_undefined)


def wilson_interval(share: float, units: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of `units` independent units (Wilson 1927)."""
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    centre = (share + z**2 / (2 * units)) / (1 + z**2 / units)
    half = z / (1 + z**2 / units) * np.sqrt(share * (1 - share) / units + z**2 / (4 * units**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def _nothing_or_everything(value: float, samples: Floats) -> bool:
    """Whether a share is 0 or 1 in the data, and therefore in every replicate."""
    return len(samples) > 1 and (abs(value) <= SAME or abs(value - 1) <= SAME)


def estimate_from(
    value: float,
    samples: Floats,
    *,
    n: int,
    unit: str,
    units: int,
    resampled: str = "queries",
    level: float = 0.95,
    left_out: Sequence[LeftOut] = (),
    share: bool = False,
) -> Estimate:
    """An estimate of a finite `value` with the percentile interval of its replicates (r,).

    `share` says that the figure is a mean of values between 0 and 1. Where all of them are 0, or all 1, resampling
    shows no width; then the interval is Wilson's, with the queries as the units. (For values that are not only 0 and
    1 it is if anything too wide: a mean of m gives n ones with a probability of at most m to the power of n.)
    """
    parts = tuple(left_out)
    if share and _nothing_or_everything(value, samples):
        low, high = wilson_interval(round(value), units, level)
        every = f"all {units} {resampled} give {round(value)}"
        return Estimate(float(value), low, high, n, unit, level, f"Wilson interval, as {every}", parts)
    interval = percentile_interval(samples, level)
    if interval.n_undefined:
        parts += (LeftOut(UNDEFINED_REPLICATES, interval.n_undefined),)
    method = (
        f"percentile bootstrap over {units} {resampled}, {len(samples)} replicates" if len(samples) else ""
    )
    return Estimate(
        float(value), interval.low, interval.high, n, unit, level, method, parts, interval.undefined
    )


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
    shares: Sequence[bool] | None = None,
) -> tuple[Estimate, ...]:
    """The figures of `statistic` on sums of `columns` (m, d), each with its interval over queries.

    `empty` is the sentence for a figure that is undefined on the data itself, `shares` says which of the figures are
    shares (see `estimate_from`), none of them by default.
    """
    sums = query_sums(columns, query, resample)
    values = statistic(sums.observed[None, :])[0]
    samples = statistic(sums.replicates)
    return tuple(
        estimate_from(
            value,
            drawn,
            n=n,
            unit=unit,
            units=sums.queries,
            level=resample.level,
            left_out=left_out,
            share=share,
        )
        if np.isfinite(value)
        else undefined(empty, n=n, unit=unit, level=resample.level, left_out=left_out)
        for value, drawn, share in zip(values, samples.T, shares or [False] * len(values), strict=True)
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
) -> Estimate:
    """Mean of `values` (m,) over rows, with its interval over the queries `query` (m,).

    `share` says that the values lie between 0 and 1 (see `estimate_from`).
    """
    columns = np.stack([values, np.ones(len(values))], axis=1)
    (estimate,) = query_estimates(
        columns,
        query,
        shares_of_last,
        n=len(values),
        unit=unit,
        resample=resample,
        left_out=left_out,
        empty=empty,
        shares=[share],
    )
    return estimate

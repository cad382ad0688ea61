"""One figure in two studies that share queries: its difference over the queries that both have.

A query is hard or easy in both studies alike, so it is left out of both at once: what it adds to the two figures
cancels out of their difference (the jackknife of Efron and Tibshirani 1993, chapter 11, with both studies' judgments of
a query as one unit). Any figure that is a function of sums over queries can be compared: means, shares, alpha,
Pearson's r.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present, undefined
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.jackknife import Jackknife, Scale, Statistic, error_of
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import SHARE, Range, divide, estimate_from, shares_of_last, sum_by
from analytics.statistics.core.tidy import Bools, Floats, Ints

QUERIES = "queries"
ONLY_ONE = "queries with this figure on one side alone"
NOTHING_MATCHED = "No query has this figure in both studies."
UNDEFINED_IN_ONE = "On the queries that both studies have, the figure is undefined in one of them."
UNDEFINED_WITHOUT_ONE = "Without one of the queries the figure is undefined, so there is no test."


@dataclass(frozen=True, eq=False)
class QuerySums:
    """A figure as a function of sums over queries.

    `columns` (m, d) are what is summed and `query` (m,) the query of each row, a code or, for a query that is not to
    be counted, -1; `statistic` makes the figure (r, 1) of sums (r, d), nan where undefined. `unit` names the rows in
    the plural. A figure on the "share" scale lies within `within`. `counts` (m, k), where given, is how often each
    label or value was given, by which intervals of uneven labels get their note; `distances` as in `noted`.
    """

    columns: Floats
    query: Ints
    statistic: Statistic
    unit: str
    scale: Scale = "plain"
    within: Range = SHARE
    counts: Ints | None = None
    distances: bool = False

    def __post_init__(self) -> None:
        if self.columns.ndim != 2 or self.query.shape != (len(self.columns),):
            raise TidyDataError("A figure needs one query for each row of what is summed.")
        if self.counts is not None and len(self.counts) != len(self.columns):
            raise TidyDataError("A figure needs the counts of each row of what is summed.")


@dataclass(frozen=True)
class Matched:
    """A figure of two studies over the `queries` that both have, and the second less the first.

    `test` is of no difference; None where there is none, for the reason `untested`.
    """

    first: Estimate
    second: Estimate
    difference: Estimate
    queries: int
    test: Tested | None
    untested: str = ""


def mean_sums(values: Floats, query: Ints, *, unit: str, within: Range | None = None) -> QuerySums:
    """The mean of `values` (m,) over rows; `within` are the least and the greatest that there can be, if any."""
    columns = np.stack([values, np.ones(len(values))], axis=1)
    if within is None:
        return QuerySums(columns, query, shares_of_last, unit)
    return QuerySums(columns, query, shares_of_last, unit, "share", within)


def pearson_sums(x: Floats, y: Floats, query: Ints, *, unit: str) -> QuerySums:
    """Pearson's r of x (m,) and y (m,), as a function of sums; undefined where one of them does not vary."""
    # Centred, the squares do not cancel where values lie far from zero.
    u, v = (each - each.mean() if len(each) else each for each in (x, y))
    columns = np.stack([np.ones(len(u)), u, v, u * u, v * v, u * v], axis=1)
    scales = tuple(float((each**2).sum()) for each in (u, v))

    def statistic(sums: Floats) -> Floats:
        n, su, sv, suu, svv, suv = sums.T
        across = n * suv - su * sv
        spread = [n * suu - su**2, n * svv - sv**2]
        # What rounding leaves of a constant is no variation.
        varied = [part > 1e-9 * n * scale for part, scale in zip(spread, scales, strict=True)]
        both = np.where(varied[0] & varied[1], np.sqrt(np.maximum(spread[0] * spread[1], 0.0)), 0.0)
        return np.clip(divide(across, both), -1, 1)[:, None]

    return QuerySums(columns, query, statistic, unit, "coefficient")


def matched_difference(
    first: QuerySums, second: QuerySums, *, tests: Randomization, level: float = 0.95
) -> Matched:
    """The figure in both studies over the queries that both have, and its difference, second less first.

    Codes of `query` mean the same in both. Each query is left out of both figures at once; the interval of the
    difference is a t interval with the number of queries less one degrees of freedom; that of shares, and of means
    within a range, is taken of Fisher's z of the difference as a part of the range, so that it stays inside.

    The test flips the signs of the queries' parts of the difference, which add up to it: where every query has as many
    values, those of a mean are the queries' own differences; in general they are the jackknife's pseudo-values. Queries
    of one study alone are left out and counted.
    """
    codes = [np.unique(each.query[each.query >= 0]) for each in (first, second)]
    shared = np.intersect1d(codes[0], codes[1], assume_unique=True)
    n = len(shared)
    left_out = present({ONLY_ONE: len(codes[0]) + len(codes[1]) - 2 * n})
    if not n:
        of_rows = [undefined(NOTHING_MATCHED, unit=each.unit, level=level) for each in (first, second)]
        gap = undefined(NOTHING_MATCHED, unit=QUERIES, level=level, left_out=left_out)
        return Matched(of_rows[0], of_rows[1], gap, 0, None, NOTHING_MATCHED)
    used = [np.isin(each.query, shared) for each in (first, second)]
    values, without = [], []
    for each, mask in zip((first, second), used, strict=True):
        sums = sum_by(np.searchsorted(shared, each.query[mask]), each.columns[mask], n)
        total = sums.sum(axis=0)
        values.append(float(each.statistic(total[None, :])[0, 0]))
        without.append(each.statistic(total - sums)[:, 0] if n > 1 else np.full(1, np.nan))
    estimates = [
        _of_one(each, mask, value, left, n, level)
        for each, mask, value, left in zip((first, second), used, values, without, strict=True)
    ]
    change, changed = values[1] - values[0], without[1] - without[0]
    width = _width(first, second)
    difference = _difference(change, changed, width, estimates, n, left_out, level)
    parts = _parts(change, changed)
    if not np.isfinite(parts).all():
        reason = difference.undefined if difference.value is None else UNDEFINED_WITHOUT_ONE
        return Matched(estimates[0], estimates[1], difference, n, None, reason)
    test = sign_flip(parts, shared, tests).two_sided
    return Matched(estimates[0], estimates[1], difference, n, test)


def _of_one(
    figure: QuerySums, used: Bools, value: float, without: Floats, queries: int, level: float
) -> Estimate:
    """One study's figure over the matched queries, with its own interval."""
    n = int(np.count_nonzero(used))
    if not np.isfinite(value):
        return undefined(UNDEFINED_IN_ONE, n=n, unit=figure.unit, level=level)
    low, high = figure.within if figure.scale == "share" else (0.0, 1.0)
    width = high - low
    error = float(error_of((without - value)[:, None])[0]) / width if queries > 1 else float("nan")
    inside = (value - low) / width
    found = Jackknife(np.array([inside]), np.array([error]), queries, queries)
    estimate = estimate_from(inside, error, found, n=n, unit=figure.unit, level=level, scale=figure.scale)
    estimate = estimate.stretched(width).shifted(low)
    if figure.counts is None:
        return estimate
    return noted(estimate, figure.counts[used].sum(axis=0), queries, distances=figure.distances)


def _width(first: QuerySums, second: QuerySums) -> float | None:
    """The largest difference that there can be; None where it has no limit, or none that an interval needs."""
    if not first.scale == second.scale == "share":
        return None
    return max(first.within[1] - second.within[0], second.within[1] - first.within[0])


def _difference(
    change: float,
    changed: Floats,
    width: float | None,
    estimates: list[Estimate],
    queries: int,
    left_out: tuple[LeftOut, ...],
    level: float,
) -> Estimate:
    if not np.isfinite(change):
        return undefined(UNDEFINED_IN_ONE, n=queries, unit=QUERIES, level=level, left_out=left_out)
    by = width or 1.0
    error = float(error_of((changed - change)[:, None])[0]) / by if queries > 1 else float("nan")
    found = Jackknife(np.array([change / by]), np.array([error]), queries, queries)
    estimate = estimate_from(
        change / by,
        error,
        found,
        n=queries,
        unit=QUERIES,
        level=level,
        left_out=left_out,
        scale="plain" if width is None else "coefficient",
    ).stretched(by)
    note = next((each.note for each in estimates if each.note), "")
    return replace(estimate, note=note) if estimate.low is not None else estimate


def _parts(change: float, changed: Floats) -> Floats:
    """The part (n,) of each query in the difference, by its value without the query (n,); they add up to it."""
    n = len(changed)
    if n == 1:
        return np.array([change])
    return np.asarray(change / n - (n - 1) / n * (changed - changed.mean()))

"""Agreement with two intervals: over queries alone, and over queries and raters.

Over queries, the raters are those of the study and the queries a sample. Over both, other raters could have been drawn
too: the variances over queries and over raters are added, less that over single judgments, which is in both (Cameron,
Gelbach and Miller 2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present, undefined
from analytics.statistics.core.jackknife import Jackknife, Scale, error_of
from analytics.statistics.core.resampling import ResampleSpec, divide, estimate_from, sum_by
from analytics.statistics.core.tidy import MISSING, Floats, Ints

FEW_VOTES = "items with fewer than two judgments"
LEAST_RATERS = 5
FEW_RATERS = "An interval over raters needs at least five of them."
NO_AGREEMENT = "No item has two judgments, or all of them have one label."


@dataclass(frozen=True)
class TwoWays:
    """One figure with its interval `over_queries`, and with that `over_both`, queries and raters."""

    over_queries: Estimate
    over_both: Estimate


@dataclass(frozen=True)
class TwoWayAgreement:
    """The chance that two raters agree, and Krippendorff's alpha of labels without an order, of so many `raters`."""

    pairwise: TwoWays
    alpha: TwoWays
    raters: int


def two_way_agreement(
    label: Ints, item: Ints, rater: Ints, query: Ints, n_labels: int, *, resample: ResampleSpec
) -> TwoWayAgreement:
    """Both figures of labels (n,), MISSING without one, by `rater` (n,) on `item` (n,) of `query` (n,).

    A rater judges an item once. The figures are functions of sums over items; without a rater an item has its other
    labels, and none counts that has fewer than two. Raises TidyDataError where the shapes differ.
    """
    if not label.shape == item.shape == rater.shape == query.shape:
        raise TidyDataError("Agreement over raters needs an item, a rater and a query for every label.")
    known = label != MISSING
    label, rater, query = label[known], _codes(rater[known]), _codes(query[known])
    code = _codes(item[known])
    n_items = int(code.max(initial=-1)) + 1
    counts = sum_by(code * n_labels + label, np.ones(len(label)), n_items * n_labels).reshape(-1, n_labels)
    without = counts[code]
    without[np.arange(len(label)), label] -= 1
    sums = _sums(counts)
    change = sums[code] - _sums(without)
    of_item = np.zeros(n_items, dtype=np.int64)
    of_item[code] = query
    # What is left of the sums without one query, rater or judgments of one rater on one query each.
    parts = (
        _grouped(sums, of_item),
        _grouped(change, rater),
        _grouped(change, _codes(query * (int(rater.max(initial=0)) + 1) + rater)),
    )
    total, raters = sums.sum(axis=0), len(parts[1])
    left_out = present({FEW_VOTES: n_items - int(total[0])})

    def both(figure: Callable[[Floats], Floats], scale: Scale) -> TwoWays:
        return _two_ways(figure, scale, total, parts, left_out, resample)

    return TwoWayAgreement(both(_pairwise, "share"), both(_alpha, "coefficient"), raters)


def _sums(counts: Floats) -> Floats:
    """Of each item (n, k): 1, its share of agreeing pairs, its agreeing pairs by n - 1, and its labels; 0 below two."""
    n = counts.sum(axis=1)
    pairs = (counts * (counts - 1)).sum(axis=1)
    used = n > 1
    share = np.where(used, divide(pairs, n * (n - 1)), 0.0)
    table = [used.astype(np.float64), share, np.where(used, divide(pairs, n - 1), 0.0)]
    return np.column_stack([*table, counts * used[:, None]])


def _pairwise(sums: Floats) -> Floats:
    return divide(sums[:, 1], sums[:, 0])


def _alpha(sums: Floats) -> Floats:
    labels = sums[:, 3:]
    n = labels.sum(axis=1)
    observed = 1 - divide(sums[:, 2], n)
    expected = 1 - divide((labels * (labels - 1)).sum(axis=1), n * (n - 1))
    return 1 - divide(observed, expected)


def _two_ways(
    figure: Callable[[Floats], Floats],
    scale: Scale,
    total: Floats,
    parts: tuple[Floats, ...],
    left_out: tuple[LeftOut, ...],
    resample: ResampleSpec,
) -> TwoWays:
    value = float(figure(total[None])[0])
    n, queries, raters = int(total[0]), len(parts[0]), len(parts[1])
    if not np.isfinite(value):
        nothing = undefined(NO_AGREEMENT, n=n, level=resample.level, left_out=left_out)
        return TwoWays(nothing, nothing)
    of_queries, of_raters, of_both = (
        float(error_of((figure(total - part) - value)[:, None])[0]) if len(part) > 1 else float("nan")
        for part in parts
    )

    def estimate(error: float, groups: int, method: str) -> Estimate:
        found = Jackknife(np.array([value]), np.array([error]), groups, groups)
        made = estimate_from(
            value, error, found, n=n, unit="items", level=resample.level, left_out=left_out, scale=scale
        )
        return replace(made, method=method or made.method)

    over_queries = estimate(of_queries, queries, "")
    if raters < LEAST_RATERS or over_queries.low is None:
        reason = over_queries.undefined or FEW_RATERS
        return TwoWays(over_queries, replace(over_queries, low=None, high=None, method="", undefined=reason))
    variance = max(of_queries**2 + of_raters**2 - of_both**2, of_queries**2, of_raters**2)
    method = f"jackknife over {queries:,} queries and {raters:,} raters"
    return TwoWays(over_queries, estimate(float(np.sqrt(variance)), min(queries, raters), method))


def _codes(values: Ints) -> Ints:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _grouped(rows: Floats, group: Ints) -> Floats:
    return sum_by(group, rows, int(group.max(initial=-1)) + 1)

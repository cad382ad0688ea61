"""Krippendorff's alpha with an interval over queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from analytics.statistics.core.counts import collapse
from analytics.statistics.core.estimates import Estimate, ParameterError, TidyDataError, present, undefined
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.jackknife import leave_out_cells
from analytics.statistics.core.narrow import column_sums, row_sums
from analytics.statistics.core.resampling import ResampleSpec, divide, estimate_from
from analytics.statistics.core.tidy import Floats, Ints

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
# The package lays out a table of values by values for each row: of a million rows and seven values 1.6 GB.
MOST_ROWS = 100_000
UNPAIRED = "{unit} with fewer than two values"
ALL_THE_SAME = "All values are the same, so agreement cannot be distinguished from lack of variation."


def krippendorff_alpha(
    counts: Ints,
    query: Ints,
    *,
    level: Level,
    resample: ResampleSpec,
    values: Sequence[float] | None = None,
    unit: str = "items",
) -> Estimate:
    """Alpha of value counts (n, k), the columns standing for `values` in ascending order (default 0..k-1).

    A row is what raters agree about, an item or a part of one, named `unit` in the plural. Missing values are simply
    not counted. The point value is that of the `krippendorff` package, of more than `MOST_ROWS` rows that of its
    formula on the patterns of counts; the interval is over queries, `query` (n,) being that of each row, since what is
    about one query is dependent. Undefined where no row has two values, or all values are the same. Raises
    ParameterError for an unknown level and for values that don't ascend, TidyDataError where `query` has another
    length.
    """
    import krippendorff

    domain = np.arange(counts.shape[1], dtype=float) if values is None else np.asarray(values, dtype=float)
    if level not in LEVELS:
        raise ParameterError(f"There is no alpha for the level of measurement {level}.")
    if domain.shape != (counts.shape[1],) or np.any(np.diff(domain) <= 0):
        raise ParameterError("Alpha needs one value per column of counts, in ascending order.")
    if query.shape != (len(counts),):
        raise TidyDataError("Alpha needs one query for each row of counts.")
    pairable = row_sums(counts) >= 2
    used = counts[pairable].astype(np.int64)
    left_out = present({UNPAIRED.format(unit=unit): int(np.count_nonzero(~pairable))})
    if reason := _why_undefined(used):
        return undefined(reason, n=len(used), unit=unit, level=resample.level, left_out=left_out)
    patterns, times, cell = collapse(used)
    if len(used) <= MOST_ROWS:
        value = krippendorff.alpha(value_counts=used, level_of_measurement=level, value_domain=domain)
    else:
        (value,) = alpha_by_weights(patterns, times[None, :].astype(np.float64), level, domain)
    found = leave_out_cells(
        query[pairable],
        cell,
        len(patterns),
        lambda weights: alpha_by_weights(patterns, weights, level, domain)[:, None],
    )
    estimate = estimate_from(
        value,
        found.error[0],
        found,
        n=len(used),
        unit=unit,
        level=resample.level,
        left_out=left_out,
        scale="coefficient",
    )
    return noted(estimate, column_sums(used), found.queries, distances=level == "interval")


def agreement_by_chance(counts: Ints) -> float | None:
    """Share of pairs of values that would be equal if values were paired at random, 1 less alpha's nominal expected
    disagreement: counts (n, k) as for `krippendorff_alpha`. None where no row has two values.

    Where one value is far more common than others it is near 1, and alpha may be low although raters mostly agree.
    """
    totals = column_sums(counts[row_sums(counts) >= 2]).astype(np.float64)
    n = totals.sum()
    return float((totals * (totals - 1)).sum() / (n * (n - 1))) if n else None


def alpha_by_weights(patterns: Ints, weights: Floats, level: Level, domain: Floats) -> Floats:
    """Alpha of each row of `weights` (r, p), which says how often each count pattern (p, k) occurs.

    Beside the sums of `alpha_sums`, as ordinal distances go by the weighted totals: sums that serve any weights are of
    values by values for each pattern, 8 GB of 100,000 patterns of 100 values.

    nan where a row has no variation. Every metric used here is the squared distance of scores: of the
    values themselves, or of their mid-ranks among the values that occur; the nominal one counts differing pairs.
    """
    per_item = patterns.sum(axis=1)
    pairs_weight = weights / (per_item - 1)
    totals = weights @ patterns
    n = totals.sum(axis=1)
    if level == "nominal":
        observed = pairs_weight @ (per_item**2 - (patterns**2).sum(axis=1))
        expected = n**2 - (totals**2).sum(axis=1)
    else:
        ranks = np.cumsum(totals, axis=1) - totals / 2
        scores = ranks if level == "ordinal" else np.broadcast_to(domain, totals.shape)
        # Centred scores keep the difference of squares from cancelling when values lie far from zero.
        scores = scores - divide((totals * scores).sum(axis=1), n)[:, None]
        squares, sums = scores**2 @ patterns.T, scores @ patterns.T
        observed = 2 * (pairs_weight * (per_item * squares - sums**2)).sum(axis=1)
        expected = 2 * n * (totals * scores**2).sum(axis=1)
    # Weights on one value only leave rounding noise where the expected disagreement is zero.
    expected = np.where((totals > 0).sum(axis=1) > 1, expected, 0.0)
    return alpha_of(observed, expected, n)


def alpha_of(observed: Floats, expected: Floats, n: Floats) -> Floats:
    """Alpha of `n` pairable values with these sums of differences over pairs of them: `observed` within items, each
    item's by one less than its number of values, and `expected` over all; nan where nothing is expected to differ."""
    return np.asarray(1 - divide((n - 1) * observed, expected))


def _why_undefined(used: Ints) -> str:
    if not len(used):
        return "No item has two values to compare."
    if np.count_nonzero(column_sums(used)) < 2:
        return ALL_THE_SAME
    return ""

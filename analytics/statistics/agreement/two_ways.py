"""Agreement with two intervals: over queries alone, and over queries and raters.

Over queries, the raters are those of the study and the queries a sample. Over both, other raters could have been drawn
too: the variances over queries and over raters are added, less that over what one rater says of one query, which is in
both (Cameron, Gelbach and Miller 2011). The interval over queries is the one that the figure has everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from analytics.statistics.agreement.alpha import UNPAIRED, Level, krippendorff_alpha
from analytics.statistics.agreement.alpha_sums import alpha_sums
from analytics.statistics.agreement.two_votes import two_votes_within
from analytics.statistics.core.counts import collapse, count_matrix
from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.jackknife import CHUNK_BYTES, Jackknife, Scale, Statistic, leave_out_rows
from analytics.statistics.core.resampling import ResampleSpec, divide, estimate_from
from analytics.statistics.core.tidy import MISSING, Floats, Ints, distinct
from analytics.statistics.core.values import Values, point_columns
from analytics.statistics.rankings.concordance import concordance, sums_with_others
from analytics.statistics.rankings.ranks import Ranks, blocks

FEW_VOTES = "{unit} with fewer than two judgments"
LEAST_RATERS = 5
FEW_RATERS = "An interval over raters needs at least five of them."
Columns: TypeAlias = Callable[[Floats], Floats]
"""From counts of values (n, k) of units to what is summed over them (n, d): 0 for a unit with fewer than two."""


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


@dataclass(frozen=True, eq=False)
class _Counted:
    """Counts (u, k) of the values of units; of each value (n,) the row of its unit, its column, rater and query."""

    counts: Ints
    unit: Ints
    column: Ints
    rater: Ints
    query: Ints

    @property
    def query_of_unit(self) -> Ints:
        found = np.zeros(len(self.counts), dtype=np.int64)
        found[self.unit] = self.query
        return found


def two_way_agreement(
    label: Ints,
    item: Ints,
    rater: Ints,
    query: Ints,
    n_labels: int,
    *,
    resample: ResampleSpec,
    unit: str = "items",
) -> TwoWayAgreement:
    """Both figures of labels (n,), MISSING without one, by `rater` (n,) on `item` (n,) of `query` (n,).

    A rater judges an item, or whatever `unit` names in the plural, once. The figures are functions of sums over items;
    without a rater an item has its other labels, and none counts that has fewer than two. Raises TidyDataError where
    the shapes differ.
    """
    if not label.shape == item.shape == rater.shape == query.shape:
        raise TidyDataError("Agreement over raters needs an item, a rater and a query for every label.")
    known = label != MISSING
    given = _counted(item[known], label[known], rater[known], query[known], n_labels)
    level = resample.level
    votes = two_votes_within(given.counts, given.query_of_unit, resample=resample, tie=None).with_ties
    few = present({FEW_VOTES.format(unit=unit): votes.n_left_out})
    shown = replace(votes, unit=unit, left_out=few)
    return TwoWayAgreement(
        _of_counts(shown, given, _vote_columns, _mean, "share", level),
        _alpha(given, "nominal", None, resample, unit),
        len(distinct(given.rater).values),
    )


def two_way_alpha(
    values: Values,
    *,
    level: Level,
    resample: ResampleSpec,
    points: Sequence[float] | None = None,
    unit: str = "items",
) -> TwoWays:
    """Krippendorff's alpha of what was rated, as `alpha_of_values` has it, with both intervals.

    Without a rater each unit has its other values, and none counts that has fewer than two.
    """
    code, table, left_out = point_columns(values.value, level=level, points=points)
    on = code >= 0
    given = _counted(values.unit[on], code[on], values.rater[on], values.query[on], len(table))
    found = _alpha(given, level, table, resample, unit)
    # A unit whose only value lies between the points has none that counts, either.
    few = present({UNPAIRED.format(unit=unit): values.n_units - found.over_queries.n})
    return TwoWays(
        *(replace(each, left_out=few + left_out) for each in (found.over_queries, found.over_both))
    )


def two_way_tau(ranks: Ranks, *, resample: ResampleSpec) -> TwoWays:
    """The mean tau-b between two raters of an item, averaged over items, as `concordance` has it.

    Without a rater an item has the pairs of its others. Kendall's W has no such interval: it depends on the number of
    raters, which leaving one out changes.
    """
    shown = concordance(ranks, resample=resample).tau
    columns: list[tuple[Ints, Ints, Floats, Floats]] = []
    for block in blocks(ranks)[0]:
        of_rater, n_of_rater = sums_with_others(block.rank)
        # Every pair is met from both of its sides.
        total, n = of_rater.sum(axis=1) / 2, n_of_rater.sum(axis=1) / 2
        whole = _means(total, n)
        without = _means(total[:, None] - of_rater, n[:, None] - n_of_rater)
        columns.append((block.query, block.rater, whole, whole[:, None] - without))
    if not columns:
        return TwoWays(shown, shown)
    query = np.concatenate([each[0] for each in columns])
    sums = np.concatenate([each[2] for each in columns])
    rater = np.concatenate([each[1].ravel() for each in columns])
    query_of = np.concatenate([np.repeat(each[0], each[1].shape[1]) for each in columns])
    change = np.concatenate([each[3].reshape(-1, 2) for each in columns])
    rows = (np.arange(len(sums)), np.arange(len(change)))
    return _two_ways(shown, _mean, "plain", (query, rater, query_of), rows, (sums, change), resample.level)


def _means(total: Floats, n: Floats) -> Floats:
    """A mean and 1, or 0 and 0 where it is of nothing (..., 2)."""
    mean = np.where(n > 0, divide(total, np.asarray(n, dtype=np.float64)), 0.0)
    return np.stack([mean, (n > 0).astype(np.float64)], axis=-1)


def _counted(unit: Ints, column: Ints, rater: Ints, query: Ints, width: int) -> _Counted:
    code = distinct(unit).code
    counts = count_matrix(code, column, int(code.max(initial=-1)) + 1, width)
    return _Counted(counts, code, column.astype(np.int64), rater, query)


def _alpha(
    given: _Counted, level: Level, table: Sequence[float] | None, resample: ResampleSpec, unit: str
) -> TwoWays:
    query = given.query_of_unit
    shown = krippendorff_alpha(given.counts, query, level=level, resample=resample, values=table, unit=unit)
    none = np.zeros(0, dtype=np.int64)
    statistic = alpha_sums(given.counts[:0], none, level=level, values=table).statistic

    def columns(counts: Floats) -> Floats:
        several = counts.sum(axis=1) > 1
        kept = counts[several]
        sums = alpha_sums(kept, np.zeros(len(kept), dtype=np.int64), level=level, values=table).columns
        laid_out = np.zeros((len(counts), sums.shape[1]))
        laid_out[several] = sums
        return laid_out

    return _of_counts(shown, given, columns, statistic, "coefficient", resample.level)


def _vote_columns(counts: Floats) -> Floats:
    n = counts.sum(axis=1)
    return _means((counts * (counts - 1)).sum(axis=1), np.where(n > 1, n * (n - 1), 0.0))


def _mean(sums: Floats) -> Floats:
    return divide(sums[:, :1], sums[:, 1:])


def _of_counts(
    shown: Estimate, given: _Counted, columns: Columns, statistic: Statistic, scale: Scale, level: float
) -> TwoWays:
    """The change by each value depends on the counts of its unit and on its column: few of these differ."""
    if shown.low is None:
        return TwoWays(shown, shown)
    width = given.counts.shape[1]
    patterns, _, of_unit = collapse(given.counts)
    met = distinct(of_unit[given.unit] * width + given.column)
    whole = _in_chunks(columns, patterns, np.arange(len(patterns)), None)
    pattern, column = np.divmod(met.values, width)
    change = whole[pattern] - _in_chunks(columns, patterns, pattern, column)
    groups = (given.query_of_unit, given.rater, given.query)
    return _two_ways(shown, statistic, scale, groups, (of_unit, met.code), (whole, change), level)


def _in_chunks(columns: Columns, patterns: Ints, at: Ints, less: Ints | None) -> Floats:
    """The columns of patterns (p, k), those `at` (m,), with one value `less` (m,) each."""
    size = max(1, CHUNK_BYTES // (8 * patterns.shape[1]))
    found = []
    for start in range(0, len(at), size):
        rows = patterns[at[start : start + size]].astype(np.float64)
        if less is not None:
            rows[np.arange(len(rows)), less[start : start + size]] -= 1
        found.append(columns(rows))
    return np.concatenate(found)


def _two_ways(
    shown: Estimate,
    statistic: Statistic,
    scale: Scale,
    groups: tuple[Ints, Ints, Ints],
    rows: tuple[Ints, Ints],
    tables: tuple[Floats, Floats],
    level: float,
) -> TwoWays:
    """`groups` are the query of each unit, and the rater and the query of each judgment.

    `rows` are those of `tables` that a unit, and a judgment, takes away from the sums.
    """
    if shown.value is None or shown.low is None:
        return TwoWays(shown, shown)
    query, rater, query_of = (distinct(each).code.astype(np.int64) for each in groups)
    n_raters = int(rater.max()) + 1
    if n_raters < LEAST_RATERS:
        return TwoWays(shown, replace(shown, low=None, high=None, method="", note="", undefined=FEW_RATERS))
    total = np.bincount(rows[0], minlength=len(tables[0])) @ tables[0]
    of_query = leave_out_rows(query, rows[0], tables[0], total, statistic)
    of_rater = leave_out_rows(rater, rows[1], tables[1], total, statistic)
    both = distinct(query_of * n_raters + rater).code
    of_both = leave_out_rows(both, rows[1], tables[1], total, statistic)
    one, two, shared = (float(found.error[0]) ** 2 for found in (of_query, of_rater, of_both))
    error = np.sqrt(max(one + two - shared, one, two))
    fewer = min(of_query.groups, n_raters)
    made = estimate_from(
        shown.value,
        float(error),
        Jackknife(np.array([shown.value]), np.array([error]), fewer, fewer),
        n=shown.n,
        unit=shown.unit,
        level=level,
        left_out=shown.left_out,
        scale=scale,
    )
    method = f"jackknife over {of_query.groups:,} queries and {n_raters:,} raters"
    return TwoWays(
        shown, replace(made, method=method if made.low is not None else "", note=made.note or shown.note)
    )

"""Intraclass correlations of ratings: of one rater and of the mean of several, by a one-way and a two-way model.

Source: Shrout and Fleiss (1979), whose names they bear; AGENT-CQ reports them of its jury (section 3.1, Table 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, present, undefined
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.resampling import ResampleSpec, divide, query_estimates
from analytics.statistics.core.tidy import Bools, Floats, Ints, distinct
from analytics.statistics.core.values import Values

UNPAIRED = "{unit} with fewer than two ratings"
NOT_BY_ALL = "{unit} that not all raters rated"
NO_VARIATION = "All ratings are the same, or there is one unit only."
NO_COEFFICIENT = (
    "Its parts of the variance give no correlation between \N{MINUS SIGN}1 and 1: there are too few {unit}."
)
NO_MEAN = "One rater's correlation is so far below zero that the mean of several has none."
LEAST_MEAN = -1.0
SMALLEST = 1e-9


@dataclass(frozen=True)
class Reliability:
    """An intraclass correlation of one rater, and of the mean of `raters` of them."""

    one: Estimate
    mean: Estimate
    raters: float


@dataclass(frozen=True)
class IntraclassCorrelations:
    """`one_way` is ICC(1): whoever rated, of all differences between ratings.

    `agreement` is ICC(2), raters being a sample of many, and `consistency` ICC(3), which takes no notice of raters
    whose ratings are higher or lower throughout; both are of the units that all raters rated.
    """

    one_way: Reliability
    agreement: Reliability
    consistency: Reliability


def intraclass_correlations(
    values: Values, *, resample: ResampleSpec, unit: str = "items"
) -> IntraclassCorrelations:
    """ICC(1), ICC(2) and ICC(3) of ratings, `unit` being the name of what was rated in the plural.

    The one-way model takes every unit of two or more ratings, with their average number where it differs (Shrout and
    Fleiss give it for equal numbers; this is the usual estimate for others). The interval of one rater is over queries;
    that of a mean follows from it by the formula of Spearman and Brown. Undefined with a reason where nothing varies,
    and where ICC(2), a ratio of estimated variances some of which may be negative, is no correlation.
    """
    import pandas as pd

    # Shifted by their mean, which changes no correlation: sums of squares lose no digits.
    value = values.value - (values.value.mean() if len(values.value) else 0.0)
    codes, first, unit_of = distinct(values.unit)
    query = values.query[first]
    k = np.bincount(unit_of, minlength=len(codes))
    raters, _, rater = distinct(values.rater)
    total = np.bincount(unit_of, weights=value, minlength=len(codes)).astype(np.float64)
    squares = np.bincount(unit_of, weights=value**2, minlength=len(codes)).astype(np.float64)
    several, crossed = k > 1, (k == len(raters)) & (len(raters) > 1)
    given, _ = pd.factorize(values.value)

    def with_note(found: Estimate, used: Bools) -> Estimate:
        totals = np.bincount(given[used[unit_of]], minlength=int(given.max(initial=0)) + 1)
        return noted(found, totals, len(np.unique(query[used])), distances=True)

    def left_out(used: Bools, reason: str) -> tuple[LeftOut, ...]:
        return present({reason.format(unit=unit): int(np.count_nonzero(~used))})

    [one_way] = query_estimates(
        _one_way_columns(total[several], squares[several], k[several].astype(np.float64)),
        query[several],
        _one_way,
        n=int(np.count_nonzero(several)),
        unit=unit,
        resample=resample,
        left_out=left_out(several, UNPAIRED),
        empty=NO_VARIATION,
        scales=["coefficient"],
    )
    mean_k = _mean_number(k[several])
    if not crossed.any():
        reason = f"None of the {unit} was rated by all {len(raters):,} raters."
        none = undefined(reason, unit=unit, level=resample.level, left_out=left_out(crossed, NOT_BY_ALL))
        two_way: tuple[Estimate, ...] = (none, none)
    else:
        # Of these alone there is a value in every cell: a table of all units would be as wide as the crowd.
        used = crossed[unit_of]
        rows = np.zeros((int(np.count_nonzero(crossed)), len(raters)))
        rows[np.cumsum(crossed)[unit_of[used]] - 1, rater[used]] = value[used]
        two_way = query_estimates(
            np.column_stack([rows, rows.sum(axis=1) ** 2, squares[crossed], np.ones(len(rows))]),
            query[crossed],
            _two_way,
            n=len(rows),
            unit=unit,
            resample=resample,
            left_out=left_out(crossed, NOT_BY_ALL),
            empty=NO_VARIATION,
            scales=["coefficient"] * 2,
        )
    agreement, consistency = (with_note(each, crossed) for each in two_way)
    if agreement.value is None and consistency.value is not None:
        agreement = replace(agreement, undefined=NO_COEFFICIENT.format(unit=unit))
    return IntraclassCorrelations(
        _with_mean(with_note(one_way, several), mean_k),
        _with_mean(agreement, float(len(raters))),
        _with_mean(consistency, float(len(raters))),
    )


def _one_way_columns(total: Floats, squares: Floats, k: Floats) -> Floats:
    """By unit: 1, its ratings, their number squared, their sum, its square over their number, and their squares."""
    return np.column_stack([np.ones(len(k)), k, k**2, total, total**2 / np.maximum(k, 1), squares])


def _one_way(sums: Floats) -> Floats:
    n, ratings, k_squared, total, between, squares = sums.T
    number = divide(ratings - divide(k_squared, ratings), n - 1)
    mean_between = divide(between - divide(total**2, ratings), n - 1)
    mean_within = divide(squares - between, ratings - n)
    return divide(mean_between - mean_within, mean_between + (number - 1) * mean_within)[:, None]


def _two_way(sums: Floats) -> Floats:
    """ICC(2) and ICC(3) from sums by rater, of units' sums squared, of squares, and the number of units."""
    by_rater, rows, squares, n = sums[:, :-3], sums[:, -3], sums[:, -2], sums[:, -1]
    k = by_rater.shape[1]
    total = divide(by_rater.sum(axis=1) ** 2, n * k)
    between = rows / k - total
    of_raters = divide((by_rater**2).sum(axis=1), n) - total
    rest = squares - total - between - of_raters
    unit_ms, rater_ms = divide(between, n - 1), of_raters / (k - 1)
    rest_ms = divide(rest, (n - 1) * (k - 1))
    consistency = divide(unit_ms - rest_ms, unit_ms + (k - 1) * rest_ms)
    spread = unit_ms + (k - 1) * rest_ms + divide(k * (rater_ms - rest_ms), n)
    agreement = divide(unit_ms - rest_ms, spread)
    return np.column_stack([np.where(np.abs(agreement) <= 1 + SMALLEST, agreement, np.nan), consistency])


def _mean_number(k: Ints) -> float:
    """The number of ratings of a unit that the one-way model goes by: their average, less where they differ."""
    if len(k) < 2:
        return float(k.sum())
    return float((k.sum() - (k**2).sum() / k.sum()) / (len(k) - 1))


def _with_mean(one: Estimate, raters: float) -> Reliability:
    """The correlation of one rater and, by the formula of Spearman and Brown, of the mean of so many."""
    value = None if one.value is None else _stepped_up(one.value, raters)
    if value is None:
        reason = one.undefined if one.value is None else NO_MEAN
        mean = replace(one, value=None, low=None, high=None, method="", note="", undefined=reason)
        return Reliability(one, mean, raters)
    low, high = (None if each is None else _stepped_up(each, raters) for each in (one.low, one.high))
    # It has no least value, and below -1 it says nothing more: the interval ends there.
    low = LEAST_MEAN if low is None and one.low is not None else low
    return Reliability(
        one, replace(one, value=max(value, LEAST_MEAN), low=low and max(low, LEAST_MEAN), high=high), raters
    )


def _stepped_up(one: float, raters: float) -> float | None:
    """None where the mean of so many has no correlation: that of one rater is at its least."""
    below = 1 + (raters - 1) * one
    return raters * one / below if below > SMALLEST else None

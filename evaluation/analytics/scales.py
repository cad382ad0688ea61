"""Ratings on a scale: means, distributions, shares, and differences between groups of systems.

Every rating weighs the same, so a mean is that of all ratings and not of the units' means: it is what published
studies report (LFQA aspects), and the two are equal where every unit has as many ratings. `n` counts
ratings; beside it stand the numbers of units (rated parts) and queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from evaluation.analytics.estimates import (
    Estimate,
    LeftOut,
    ParameterError,
    TidyDataError,
    present,
    undefined,
)
from evaluation.analytics.resampling import (
    ResampleSpec,
    mean_estimate,
    query_estimates,
    shares_of_last,
    sum_by,
)
from evaluation.analytics.tidy import Floats, Ints, split
from evaluation.analytics.values import OFF_POINTS, Values, point_codes

NO_RATINGS = "There are no ratings."
ONE_GROUP_ONLY = "queries that only one of the two groups has"


@dataclass(frozen=True)
class MeanValue:
    """Mean of all ratings with its interval over queries, their standard deviation (None below two), and numbers."""

    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int


@dataclass(frozen=True)
class Distribution:
    """How often each of the points was given: counts, and shares of the ratings on points with intervals."""

    points: tuple[float, ...]
    counts: tuple[int, ...]
    shares: tuple[Estimate, ...]
    n_units: int
    n_queries: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class PairedDifference:
    """Mean over queries of the second group's mean less the first's, and the paired t-test of it.

    `first` and `second` are the means over the queries that both have. `statistic`, `degrees_of_freedom` and
    `p_value` are None where the test is undefined; `test_undefined` then says why.
    """

    difference: Estimate
    first: float | None
    second: float | None
    statistic: float | None
    degrees_of_freedom: int | None
    p_value: float | None
    test_undefined: str = ""


def mean_value(
    values: Values, *, resample: ResampleSpec, share: bool = False, unit: str = "ratings"
) -> MeanValue:
    """Mean of all ratings; `share` says that they lie between 0 and 1."""
    n = len(values)
    mean = mean_estimate(
        values.value, values.query, unit=unit, resample=resample, empty=f"There are no {unit}.", share=share
    )
    deviation = float(values.value.std(ddof=1)) if n > 1 else None
    return MeanValue(mean, deviation, values.n_units, values.n_queries)


def means_by_group(
    values: Values,
    groups: Ints,
    n_groups: int,
    *,
    resample: ResampleSpec,
    share: bool = False,
    unit: str = "ratings",
) -> tuple[MeanValue, ...]:
    """`mean_value` for each code of `groups` (n,), 0 to n_groups - 1; a negative code is in no group.

    The groups may be `values.system`, `values.part`, or any other factor coded for each row.
    """
    return tuple(
        mean_value(part, resample=resample, share=share, unit=unit)
        for part in by_group(values, groups, n_groups)
    )


def distribution(
    values: Values, points: Sequence[float], *, resample: ResampleSpec, unit: str = "ratings"
) -> Distribution:
    """Counts and shares of each of `points`; values between them are left out, and counted."""
    code = point_codes(values.value, points)
    on_points = code >= 0
    given = np.eye(len(points))[code[on_points]]
    left_out = present({OFF_POINTS: int(np.count_nonzero(~on_points))})
    shares = query_estimates(
        np.column_stack([given, np.ones(len(given))]),
        values.query[on_points],
        shares_of_last,
        n=len(given),
        unit=unit,
        resample=resample,
        left_out=left_out,
        empty=f"There are no {unit}.",
        scales=["share"] * len(points),
    )
    counts = tuple(int(n) for n in given.sum(axis=0))
    named = tuple(float(point) for point in points)
    return Distribution(named, counts, shares, values.n_units, values.n_queries, left_out)


def distributions_by_group(
    values: Values,
    points: Sequence[float],
    groups: Ints,
    n_groups: int,
    *,
    resample: ResampleSpec,
    unit: str = "ratings",
) -> tuple[Distribution, ...]:
    """`distribution` for each code of `groups` (n,), as in `means_by_group`."""
    return tuple(
        distribution(part, points, resample=resample, unit=unit)
        for part in by_group(values, groups, n_groups)
    )


def share_of(
    values: Values, wanted: Sequence[float], *, resample: ResampleSpec, unit: str = "ratings"
) -> Estimate:
    """Share of the ratings that are one of `wanted`, over all ratings."""
    if not len(wanted):
        raise ParameterError("A share needs at least one value to count.")
    is_wanted = point_codes(values.value, sorted(set(wanted))) >= 0
    return mean_estimate(
        is_wanted.astype(np.float64),
        values.query,
        unit=unit,
        resample=resample,
        empty=f"There are no {unit}.",
        share=True,
    )


def share_between(
    values: Values, low: float, high: float, *, resample: ResampleSpec, unit: str = "ratings"
) -> Estimate:
    """Share of the ratings from `low` to `high`, both included, over all ratings."""
    inside = (values.value >= low) & (values.value <= high)
    return mean_estimate(
        inside.astype(np.float64),
        values.query,
        unit=unit,
        resample=resample,
        empty=f"There are no {unit}.",
        share=True,
    )


def paired_difference(
    values: Values, groups: Ints, *, first: int, second: int, level: float = 0.95
) -> PairedDifference:
    """The mean of group `second` less that of group `first`, paired by query; `groups` (n,) codes the rows.

    A query's mean is that of all its ratings in the group, and every query that has both weighs the same. Interval
    and test are those of the two-sided paired t-test.
    """
    if first == second:
        raise ParameterError("Two different groups are needed for a difference.")
    _check_groups(values, groups)
    one, other = (_query_means(values, groups == code) for code in (first, second))
    shared, at_one, at_other = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    left_out = present({ONE_GROUP_ONLY: len(one[0]) + len(other[0]) - 2 * len(shared)})
    return _paired_test(one[1][at_one], other[1][at_other], left_out, level)


def by_group(values: Values, groups: Ints, n_groups: int) -> list[Values]:
    """The rows of each code of `groups` (n,); those of a negative code are in none."""
    _check_groups(values, groups)
    return [values.take(index) for index in split(groups, n_groups)]


def _check_groups(values: Values, groups: Ints) -> None:
    if np.shape(groups) != (len(values),):
        raise TidyDataError("Groups need one code for each row.")


def _query_means(values: Values, used: np.ndarray) -> tuple[Ints, Floats]:
    queries, code, sizes = np.unique(values.query[used], return_inverse=True, return_counts=True)
    return queries, sum_by(code, values.value[used], len(queries)) / np.maximum(sizes, 1)


def _paired_test(one: Floats, other: Floats, left_out: tuple[LeftOut, ...], level: float) -> PairedDifference:
    n = len(one)
    if not n:
        reason = "The two groups share no query."
        nothing = undefined(reason, unit="queries", level=level, left_out=left_out)
        return PairedDifference(nothing, None, None, None, None, None, reason)
    differences = other - one
    means = float(one.mean()), float(other.mean())
    if n < 2 or np.ptp(differences) < 1e-12:  # equal means may differ in their last bit
        reason = (
            "A paired test needs at least two shared queries."
            if n < 2
            else "The difference is the same on every shared query, so it has no variance to test against."
        )
        flat = Estimate(float(differences.mean()), None, None, n, "queries", level, "", left_out, reason)
        return PairedDifference(flat, *means, None, None, None, reason)
    result = scipy.stats.ttest_rel(other, one)
    low, high = result.confidence_interval(level)
    estimate = Estimate(
        float(differences.mean()), float(low), float(high), n, "queries", level, "paired t-test", left_out
    )
    return PairedDifference(estimate, *means, float(result.statistic), n - 1, float(result.pvalue))

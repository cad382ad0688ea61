"""Ratings on a scale: means, distributions, shares, and which groups are the best and the worst.

Every rating weighs the same, so a mean is that of all ratings and not of the units' means: it is what published
studies report (LFQA aspects), and the two are equal where every unit has as many ratings. `n` counts
ratings; beside it stand the numbers of units (rated parts) and queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import (
    Estimate,
    LeftOut,
    ParameterError,
    TidyDataError,
    present,
)
from analytics.statistics.core.jackknife import leave_out
from analytics.statistics.core.narrow import column_sums, row_sums
from analytics.statistics.core.randomization import Randomization, SignFlip, Tested, sign_flip
from analytics.statistics.core.resampling import (
    Range,
    ResampleSpec,
    divide,
    estimates_from,
    mean_estimate,
    mean_within,
    shares_of_last,
    sum_by,
)
from analytics.statistics.core.tidy import Bools, Floats, Ints, split
from analytics.statistics.core.values import OFF_POINTS, Values, n_distinct, point_codes


@dataclass(frozen=True)
class MeanValue:
    """Mean of all ratings with its interval over queries, their standard deviation (None below two), and numbers."""

    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int


@dataclass(frozen=True)
class Distribution:
    """Distribution over the points: counts, and shares of the ratings on points with intervals."""

    points: tuple[float, ...]
    counts: tuple[int, ...]
    shares: tuple[Estimate, ...]
    n_units: int
    n_queries: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class Extreme:
    """Code of the group with the highest or the lowest mean, and the test that it is above, or below, every other."""

    group: int
    test: Tested


def mean_value(
    values: Values, *, resample: ResampleSpec, within: Range | None = None, unit: str = "ratings"
) -> MeanValue:
    """Mean of all ratings; `within` are the ends of their scale, (0, 1) for shares, None where it has none."""
    return _mean_value(values.value, values.query, values.unit, resample, within, unit)


def means_by_group(
    values: Values,
    groups: Ints,
    n_groups: int,
    *,
    resample: ResampleSpec,
    within: Range | None = None,
    unit: str = "ratings",
) -> tuple[MeanValue, ...]:
    """`mean_value` for each code of `groups` (n,), 0 to n_groups - 1; a negative code is in no group.

    The groups may be `values.system`, `values.part`, or any other factor coded for each row.
    """
    _check_groups(values, groups)
    return tuple(
        _mean_value(values.value[rows], values.query[rows], values.unit[rows], resample, within, unit)
        for rows in split(groups, n_groups)
    )


def distribution(
    values: Values, points: Sequence[float], *, resample: ResampleSpec, unit: str = "ratings"
) -> Distribution:
    """Counts and shares of each of `points`; values between them are left out, and counted."""
    code = point_codes(values.value, points)
    return _distribution(code, values.query, values.unit, points, resample, unit)


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
    _check_groups(values, groups)
    code = point_codes(values.value, points)
    return tuple(
        _distribution(code[rows], values.query[rows], values.unit[rows], points, resample, unit)
        for rows in split(groups, n_groups)
    )


def best_and_worst(
    values: Values, groups: Ints, contenders: Sequence[int], tests: Randomization
) -> tuple[Extreme, Extreme]:
    """The groups with the highest and lowest mean of all ratings, and tests that they are above, or below, every other.

    `contenders` are codes of `groups` (n,). Two groups are compared by the sign-flip test of the queries' differences
    of means, over the queries that both have. The p-value is the largest of the two-sided ones against each other
    group, 1 where a difference goes the other way: that others could have come first needs no further correction (rank
    verification: Gutmann and Maymin 1987; Hung and Fithian 2019, section 1). Of two groups the two tests are one. n is
    the smallest number of queries that the group shares with another; `least` is the smallest p-value that whichever
    group came first could have had. Raises ParameterError for fewer than two contenders or one without ratings,
    TidyDataError where the shapes differ.
    """
    _check_groups(values, groups)
    if len(contenders) < 2:
        raise ParameterError("A group can be the best or the worst only if there are several.")
    used = {code: groups == code for code in contenders}
    if not all(rows.any() for rows in used.values()):
        raise ParameterError("A group without ratings is neither the best nor the worst.")
    n_queries = int(values.query.max()) + 1
    by_query = {code: _query_means(values, rows, n_queries) for code, rows in used.items()}
    against: dict[int, list[tuple[int, SignFlip]]] = {code: [] for code in contenders}
    for one, other in combinations(contenders, 2):
        differences = by_query[one] - by_query[other]
        shared = np.flatnonzero(np.isfinite(differences))
        test = sign_flip(differences[shared], shared, tests.of(one, other))
        against[one].append((test.side, test))
        against[other].append((-test.side, test))
    least = min(max(test.two_sided.least for _, test in each) for each in against.values())
    means = {code: float(values.value[rows].mean()) for code, rows in used.items()}
    # Of equals the best is the first and the worst the last, so that they are two.
    best, worst = max(contenders, key=means.__getitem__), min(reversed(contenders), key=means.__getitem__)
    return Extreme(best, _largest(against[best], 1, least)), Extreme(
        worst, _largest(against[worst], -1, least)
    )


def _largest(against: Sequence[tuple[int, SignFlip]], side: int, least: float) -> Tested:
    """Of the tests against each other group, each with the side on which the group lies."""
    p_values = [test.p_value if lies == side else 1.0 for lies, test in against]
    largest = int(np.argmax(p_values))
    method = against[largest][1].method
    if len(against) > 1:
        method = f"largest of {len(against)} two-sided: {method}"
    return Tested(p_values[largest], min(test.n for _, test in against), method, least)


def _mean_value(
    value: Floats, query: Ints, rated: Ints, resample: ResampleSpec, within: Range | None, unit: str
) -> MeanValue:
    """Of the ratings (n,) of some queries and of some of what was `rated`."""
    empty = f"There are no {unit}."
    if within is None:
        mean = mean_estimate(value, query, unit=unit, resample=resample, empty=empty)
    else:
        mean = mean_within(value, query, within, unit=unit, resample=resample, empty=empty)
    deviation = float(value.std(ddof=1)) if len(value) > 1 else None
    return MeanValue(mean, deviation, n_distinct(rated), n_distinct(query))


def _distribution(
    code: Ints, query: Ints, rated: Ints, points: Sequence[float], resample: ResampleSpec, unit: str
) -> Distribution:
    """Of ratings whose points have these codes (n,), -1 between them."""
    by_query = count_matrix(query, code, int(query.max(initial=-1)) + 1, len(points))
    given = row_sums(by_query)
    left_out = present({OFF_POINTS: int(np.count_nonzero(code < 0))})
    shares = estimates_from(
        leave_out(np.vstack([by_query.T, given])[:, given > 0].T, shares_of_last),
        n=int(given.sum()),
        unit=unit,
        level=resample.level,
        left_out=left_out,
        empty=f"There are no {unit}.",
        scales=["share"] * len(points),
    )
    counts = tuple(int(n) for n in column_sums(by_query))
    named = tuple(float(point) for point in points)
    return Distribution(named, counts, shares, n_distinct(rated), n_distinct(query), left_out)


def _check_groups(values: Values, groups: Ints) -> None:
    if np.shape(groups) != (len(values),):
        raise TidyDataError("Groups need one code for each row.")


def _query_means(values: Values, used: Bools, n_queries: int) -> Floats:
    """The mean of the `used` rows (n,) of each query, (n_queries,); nan where it has none."""
    query = values.query[used]
    sizes = np.bincount(query, minlength=n_queries)
    return divide(sum_by(query, values.value[used], n_queries), sizes.astype(np.float64))

"""Ratings on a scale: means, distributions, shares, and which group is above every other.

Every rating weighs the same, so a mean is that of all ratings and not of the units' means: it is what published
studies report (LFQA aspects), and the two are equal where every unit has as many ratings. `n` counts
ratings; beside it stand the numbers of units (rated parts) and queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
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


def above_every_other(
    values: Values, groups: Ints, contenders: Sequence[int], tests: Randomization
) -> tuple[Tested, ...]:
    """Test, of each of the `contenders`, codes of `groups` (n,), that its mean is higher than every other.

    Two groups are compared by the sign-flip test of the queries' differences of means, over the queries that both have.
    All must hold, so that the p-value is the largest of the one-sided ones (an intersection-union test), and n the
    least number of queries that two groups share. Raises ParameterError for fewer than two contenders, TidyDataError
    where the shapes differ.
    """
    _check_groups(values, groups)
    if len(contenders) < 2:
        raise ParameterError("A group can be above every other only if there are several.")
    n_queries = int(values.query.max(initial=-1)) + 1
    means = {code: _query_means(values, groups == code, n_queries) for code in contenders}
    found = {code: Tested(0.0, len(values), "", 0.0) for code in contenders}
    fewest, least = dict.fromkeys(contenders, values.n_queries), dict.fromkeys(contenders, 0.0)
    for one, other in combinations(contenders, 2):
        differences = means[one] - means[other]
        shared = np.flatnonzero(np.isfinite(differences))
        test = sign_flip(differences[shared], shared, tests.of(one, other))
        for code, side in ((one, 1), (other, -1)):
            p = test.one_sided(side) if len(shared) else 1.0
            method = f"largest of {len(contenders) - 1} one-sided: {test.method}"
            found[code] = max(found[code], Tested(p, test.n, method, 0.0), key=lambda each: each.p_value)
            fewest[code], least[code] = min(fewest[code], test.n), max(least[code], test.least)
    return tuple(replace(found[code], n=fewest[code], least=least[code]) for code in contenders)


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

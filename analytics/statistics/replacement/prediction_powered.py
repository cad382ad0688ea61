"""Means of people's values that a judge's values make more precise, without the judge's bias: prediction-powered means.

People gave values to some queries, which are a simple random part of those that the judge gave values to. The judge's
mean over the other queries counts with a weight, and what it is off by on people's is taken away again (Angelopoulos,
Duchi and Zrnic 2023, PPI++). The weight is tuned on the same values, between 0 (people alone) and 1: a judge that says
nothing of people's values gets a weight near 0 and does little harm.

The mean and its interval are of the population that the queries were drawn from, as everywhere in a report, and not of
the judged queries alone, of which a part is known: that interval would be narrower.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError, TidyDataError, undefined
from analytics.statistics.core.jackknife import SAME, SCALES, Scale, t_interval
from analytics.statistics.core.resampling import (
    AT_THE_END,
    NO_VARIATION,
    Range,
    ResampleSpec,
    mean_estimate,
    mean_within,
    sum_by,
)
from analytics.statistics.core.tidy import Bools, Floats, Ints

# Below so many labelled queries weight and variances are too uncertain for an interval (docs/statistics.md).
LEAST_LABELLED = 30
QUERIES = "queries"
NOTHING = "People have judged none of these queries completely."
FEW = "It needs at least {least} queries with people's judgments; there are {n:,}."
NO_OTHERS = "People have judged all of the queries, so that there is nothing for a judge to add."
NO_JUDGE = "The judge has judged none of these queries."
OUTSIDE = "People's mean, moved by what the judge says of the other queries, leaves the range of values."


@dataclass(frozen=True)
class Spread:
    """Variances over queries of people's values and of the judge's, and the covariance of the two."""

    people: float
    judge: float
    both: float


@dataclass(frozen=True)
class PredictionPowered:
    """People's mean alone, over `labelled` queries, and the one with the judge's values on all `queries`.

    `unjudged` queries had no value of the judge's and got its mean. `weight` is that of the judge, None where nothing
    was combined. `errors` are the variances of the mean that come from people's queries and from the others. `worth`
    is the number of labelled queries from which people alone would have the same standard error.
    """

    people: Estimate
    combined: Estimate
    weight: float | None
    labelled: int
    queries: int
    unjudged: int
    errors: tuple[float, float] | None = None
    worth: float | None = None
    spread: Spread | None = None


@dataclass(frozen=True, eq=False)
class QueryValues:
    """One row per query, arrays (q,) by ascending `query`: people's mean and the judge's, nan without one."""

    query: Ints
    people: Floats
    judge: Floats

    def __sub__(self, other: QueryValues) -> QueryValues:
        """The differences on the queries that both have."""
        query, at, there = np.intersect1d(self.query, other.query, assume_unique=True, return_indices=True)
        return QueryValues(query, self.people[at] - other.people[there], self.judge[at] - other.judge[there])

    def of_people(self, sampled: Bools) -> QueryValues:
        """The same without what people said of queries outside `sampled` (q,)."""
        return replace(self, people=np.where(sampled, self.people, np.nan))


def query_values(people: Floats, judge: Floats, query: Ints) -> QueryValues:
    """Means over the units (n,) of each query, of people's values only where they gave one to each of its units.

    A query of which people have judged the easier part would be no value of that query. A judge may be any function of
    the query, and so the mean of what it gave. Raises TidyDataError where the shapes differ.
    """
    if not people.shape == judge.shape == query.shape:
        raise TidyDataError("People and the judge need one value for each unit.")
    used, code = np.unique(query, return_inverse=True)
    units = np.bincount(code, minlength=len(used))
    found = []
    for values, whole in ((people, True), (judge, False)):
        known = np.isfinite(values)
        n = np.bincount(code[known], minlength=len(used))
        enough = (n == units) if whole else n > 0
        total = sum_by(code[known], values[known], len(used))
        found.append(np.where(enough, total / np.maximum(n, 1), np.nan))
    return QueryValues(used, *found)


def prediction_powered_mean(
    values: QueryValues,
    *,
    within: Range | None,
    resample: ResampleSpec,
    weight: float | None = None,
) -> PredictionPowered:
    """The mean of people's values with the help of the judge's; values lie `within` a range, None for differences.

    Queries with a value of people's must be a simple random part of all. Where the judge gave a query nothing its
    value is the judge's mean: a judge may be any function of the query. A `weight` that is given is not tuned.

    The interval is a t interval, of the logit within a range, with Welch's degrees of freedom. Its variance is the one
    of the paper with n - 2 in place of n under people's part, as for a regression's residuals, since the weight was
    tuned on the same queries. With a weight of 0 value and interval are those of people alone. Raises ParameterError
    for a weight that is not between 0 and 1.
    """
    if weight is not None and not 0 <= weight <= 1:
        raise ParameterError("The weight of a judge lies between 0 and 1.")
    known, judged = np.isfinite(values.people), np.isfinite(values.judge)
    ours, n, n_all = values.people[known], int(known.sum()), len(known)
    alone = _alone(ours, within, resample)

    def without(reason: str) -> PredictionPowered:
        return PredictionPowered(
            alone, undefined(reason, n=n, unit=QUERIES, level=resample.level), None, n, n_all, n_unjudged
        )

    n_unjudged = int(np.count_nonzero(~judged))
    if n < LEAST_LABELLED:
        return without(FEW.format(least=LEAST_LABELLED, n=n) if n else NOTHING)
    if not judged.any():
        return without(NO_JUDGE)
    if n_all - n < 2:
        return without(NO_OTHERS)
    judge = np.where(judged, values.judge, values.judge[judged].mean())
    own, others = judge[known], judge[~known]
    spread = Spread(float(ours.var(ddof=1)), float(judge.var(ddof=1)), float(np.cov(ours, own)[0, 1]))
    used = tuned_weight(spread, n, n_all) if weight is None else weight
    if used == 0:
        combined = replace(alone, n=n_all)
        return PredictionPowered(
            alone, combined, 0.0, n, n_all, n_unjudged, (spread.people / n, 0.0), float(n), spread
        )
    value = float(ours.mean() + used * (others.mean() - own.mean()))
    lost = 1 if weight is not None else 2
    off = ours - used * own
    errors = (
        float(((off - off.mean()) ** 2).sum() / (n - lost) / n),
        float(used**2 * others.var(ddof=1) / len(others)),
    )
    freedom = _welch(errors, (n - lost, len(others) - 1))
    combined = _combined(value, errors, freedom, within, resample.level, n, n_all)
    variance = sum(errors)
    worth = spread.people / variance if variance > SAME * max(spread.people, SAME) else None
    return PredictionPowered(alone, combined, used, n, n_all, n_unjudged, errors, worth, spread)


def tuned_weight(spread: Spread, labelled: int, queries: int) -> float:
    """The weight of the judge with which the variance is least (PPI++, section 6), held between 0 and 1.

    As in the paper's code the covariance is divided by n and the judge's variance is over all queries.
    """
    if spread.judge <= SAME or labelled >= queries:
        return 0.0
    both = spread.both * (labelled - 1) / labelled
    return float(np.clip(both / ((1 + labelled / (queries - labelled)) * spread.judge), 0.0, 1.0))


def labels_needed(
    spread: Spread, half_width: float, *, queries: int | None, level: float = 0.95
) -> int | None:
    """The fewest labelled queries, from LEAST_LABELLED on, whose interval reaches at most `half_width` to either side.

    By people alone without `queries`; otherwise with a judge that judges so many in all, of which people's are a part.
    None where no part of them is enough: what the judge leaves uncertain, because its queries are no more than these,
    or what people's own values leave uncertain even on all of them, is wider. Raises ParameterError for a half width
    that is not above 0.
    """
    import scipy

    if not half_width > 0:
        raise ParameterError("A half width is above 0.")
    if queries is None:
        z = float(scipy.special.ndtri((1 + level) / 2))
        n = max(LEAST_LABELLED, int(np.ceil(spread.people * (z / half_width) ** 2)))
        while _t(n - 1, level) * np.sqrt(spread.people / n) > half_width:
            n += 1
        return n
    tried = np.arange(LEAST_LABELLED, queries + 1)
    reached = np.flatnonzero(half_widths(spread, tried, queries, level=level) <= half_width)
    return int(tried[reached[0]]) if len(reached) else None


def half_widths(spread: Spread, labelled: Ints, queries: int, *, level: float = 0.95) -> Floats:
    """Half widths (k,) of intervals from so many labelled queries (k,) of `queries` that a judge judges."""
    return np.asarray(_t(labelled - 2, level) * np.sqrt(_variances(spread, labelled, queries)))


def labels_worth(spread: Spread, labelled: int, queries: int) -> float | None:
    """The number of labelled queries from which people alone would have the standard error that `labelled` ones have
    with a judge of `queries`; None where people's values do not vary."""
    [variance] = _variances(spread, np.array([labelled]), queries)
    return float(spread.people / variance) if variance > SAME * max(spread.people, SAME) else None


def _variances(spread: Spread, labelled: Ints, queries: int) -> Floats:
    others = queries - labelled
    if spread.judge > SAME:
        weight = np.clip(spread.both / spread.judge * others / queries, 0.0, 1.0)
    else:
        weight = np.zeros(len(labelled))
    off = np.maximum(spread.people - 2 * weight * spread.both + weight**2 * spread.judge, 0.0)
    return np.asarray(off / labelled + weight**2 * spread.judge / np.maximum(others, 1))


def _alone(ours: Floats, within: Range | None, resample: ResampleSpec) -> Estimate:
    rows = np.arange(len(ours))
    if within is None:
        return mean_estimate(ours, rows, unit=QUERIES, resample=resample, empty=NOTHING)
    return mean_within(ours, rows, within, unit=QUERIES, resample=resample, empty=NOTHING)


def _combined(
    value: float,
    errors: tuple[float, float],
    freedom: float,
    within: Range | None,
    level: float,
    labelled: int,
    queries: int,
) -> Estimate:
    low, high = (0.0, 1.0) if within is None else within
    scale: Scale = "plain" if within is None else "share"
    share, error = (value - low) / (high - low), float(np.sqrt(sum(errors))) / (high - low)
    if within is not None and not -SAME <= share <= 1 + SAME:
        return undefined(OUTSIDE, n=queries, unit=QUERIES, level=level)
    at_end = within is not None and not SAME < share < 1 - SAME
    if error <= SAME or at_end:
        reason = NO_VARIATION if error <= SAME else AT_THE_END
        return Estimate(value, None, None, queries, QUERIES, level, undefined=reason)
    limits = t_interval(share, error, freedom + 1, scale, level)
    method = f"t interval{SCALES[scale]}, prediction-powered over {labelled:,} of {queries:,} queries"
    found = Estimate(share, *limits, queries, QUERIES, level, method)
    return found.stretched(high - low).shifted(low)


def _welch(errors: tuple[float, float], freedom: tuple[int, int]) -> float:
    """Degrees of freedom of a sum of two estimated variances (Welch 1947)."""
    parts = sum(error**2 / each for error, each in zip(errors, freedom, strict=True))
    return sum(errors) ** 2 / parts if parts > 0 else float(freedom[0])


def _t(freedom: int | Ints, level: float) -> Floats:
    import scipy

    return np.asarray(scipy.special.stdtrit(freedom, (1 + level) / 2))

"""The mean of an aspect, and the mean and spread of a score, at each level of the overall rating.

Source: the LFQA paper, Appendix B, Figure 7 (average scores of each aspect by acceptability), and Figure 5 (the
distribution of metrics by acceptability).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError, present
from analytics.statistics.core.resampling import Range, ResampleSpec, mean_estimate, mean_within
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.core.values import SAME_POINT, point_codes
from analytics.statistics.raters.times import quartiles

MEASURE = "measure"


@dataclass(frozen=True)
class LevelMean:
    """The mean of an aspect's ratings by who gave `level` overall."""

    level: float
    mean: Estimate


@dataclass(frozen=True)
class LevelSpread:
    """Mean and spread, both in the score's own unit, of the units whose overall rating is nearest to `level`.

    `standard_deviation` is over units (n - 1; None below two), `quartiles` are the first, the median and the third,
    interpolated linearly (empty without units).
    """

    level: float
    mean: Estimate
    standard_deviation: float | None
    quartiles: tuple[float, ...]


def means_by_level(
    aspect: Floats,
    overall: Floats,
    query: Ints,
    *,
    points: Sequence[float],
    within: Range,
    resample: ResampleSpec,
    unit: str = "ratings",
) -> tuple[LevelMean, ...]:
    """The mean of `aspect` (n,), whose scale's ends are `within`, at each of the `points` of `overall` (n,).

    Both are of the same rows, one rater's ratings of one thing; a missing aspect is nan and left out. What was given
    between the points is of none of them. Intervals are over `query` (n,); a level that nobody gave is undefined.
    """
    code = point_codes(overall, points)
    known = np.isfinite(aspect)
    return tuple(
        LevelMean(
            float(level),
            mean_within(
                aspect[known & (code == at)],
                query[known & (code == at)],
                within,
                unit=unit,
                resample=resample,
                empty="Nobody gave this level.",
            ),
        )
        for at, level in enumerate(points)
    )


def nearest_levels(mean: Floats, points: Sequence[float]) -> Ints:
    """Index in `points`, which ascend, of the one that is nearest to each mean (n,); the higher one halfway."""
    table = np.asarray(points, dtype=np.float64)
    halves = (table[1:] + table[:-1]) / 2
    return np.asarray(np.searchsorted(halves - SAME_POINT, mean, side="right"), dtype=np.int64)


def measure_by_level(
    measure: Floats,
    mean: Floats,
    query: Ints,
    *,
    points: Sequence[float],
    within: Range | None,
    resample: ResampleSpec,
    unit: str,
    score: str = MEASURE,
) -> tuple[LevelSpread, ...]:
    """Mean and spread of `measure` (n,) at each level to which the raters' `mean` (n,) of the same units is nearest.

    `measure` and `within`, its ends if it has some, are in its own unit, `mean` in that of `points`, which ascend.
    Source: the LFQA paper, Figure 5 (metrics' scores by acceptability). There a unit stands at its raters' mean; here
    at the scale's nearest point, so that there is enough at each for a mean. Units, named `unit` in the plural, that
    lack the measure (nan) are left out and counted; `score` is what they lack, such as a judge's rating. Intervals are
    over `query` (n,). Raises ParameterError for arrays of different lengths.
    """
    if not len(measure) == len(mean) == len(query):
        raise ParameterError("The measure, the means and the queries must be of the same units.")
    code, known = nearest_levels(mean, points), np.isfinite(measure)

    def mean_of(here: Bools) -> Estimate:
        values, queries = measure[known & here], query[known & here]
        left_out = present({f"{unit} without this {score}": int((~known & here).sum())})
        empty = f"No {unit} with this {score} are at this level."
        if within is None:
            return mean_estimate(
                values, queries, unit=unit, resample=resample, left_out=left_out, empty=empty
            )
        return mean_within(
            values, queries, within, unit=unit, resample=resample, left_out=left_out, empty=empty
        )

    def at_level(level: float, here: Bools) -> LevelSpread:
        values = measure[known & here]
        spread = float(values.std(ddof=1)) if len(values) > 1 else None
        return LevelSpread(float(level), mean_of(here), spread, quartiles(values))

    return tuple(at_level(level, code == at) for at, level in enumerate(points))

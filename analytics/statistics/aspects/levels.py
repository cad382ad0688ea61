"""The mean of an aspect among the ratings that gave each overall level.

Source: the LFQA paper, Appendix B, Figure 7 (average scores of each aspect by acceptability).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import Range, ResampleSpec, mean_within
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import point_codes


@dataclass(frozen=True)
class LevelMean:
    """The mean of an aspect's ratings by who gave `level` overall."""

    level: float
    mean: Estimate


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

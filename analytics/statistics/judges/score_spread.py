"""The spread of scores: mean, standard deviation, quartiles, and the shares that lie in each of some bands.

CondAmbigQA reports means with their standard deviations (its Table 2), shows the distributions (Figures 2 to 4 and 6)
and reads scores by bands of quality: below .20 irrelevant or wrong, to .35 partly relevant, to .50 right but short of
detail, above it good (section 5.4). The paper leaves open where a score on a border belongs: here to the higher band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError
from analytics.statistics.core.resampling import (
    Range,
    ResampleSpec,
    mean_estimate,
    mean_within,
    query_estimates,
    shares_of_last,
)
from analytics.statistics.core.tidy import Floats, Ints

QUARTILES = (0.25, 0.5, 0.75)
# Scores closer to a border than this differ from it by rounding only.
SAME_SCORE = 1e-9


@dataclass(frozen=True)
class ScoreSpread:
    """`standard_deviation` is None below two scores; `bands` are one more than the borders between them."""

    mean: Estimate
    standard_deviation: float | None
    quartiles: tuple[float, float, float]
    bands: tuple[Estimate, ...]


def score_spread(
    scores: Floats,
    query: Ints,
    *,
    borders: Sequence[float] = (),
    within: Range | None = None,
    resample: ResampleSpec,
    unit: str,
) -> ScoreSpread:
    """Of `scores` (n,), at least one, with intervals over `query` (n,); `within` are the ends of the scale, if any.

    Quartiles are interpolated linearly. Raises ParameterError without scores, and where borders don't ascend.
    """
    if not len(scores):
        raise ParameterError("The spread of scores needs a score.")
    if any(one >= other for one, other in pairwise(borders)):
        raise ParameterError("The borders of bands must be given in ascending order.")
    empty = "There are no scores."
    if within is None:
        mean = mean_estimate(scores, query, unit=unit, resample=resample, empty=empty)
    else:
        mean = mean_within(scores, query, within, unit=unit, resample=resample, empty=empty)
    low, middle, high = np.quantile(scores, QUARTILES).tolist()
    return ScoreSpread(
        mean=mean,
        standard_deviation=float(scores.std(ddof=1)) if len(scores) > 1 else None,
        quartiles=(low, middle, high),
        bands=_bands(scores, query, borders, resample, unit) if borders else (),
    )


def _bands(
    scores: Floats, query: Ints, borders: Sequence[float], resample: ResampleSpec, unit: str
) -> tuple[Estimate, ...]:
    band = np.searchsorted(np.asarray(borders) - SAME_SCORE, scores, side="right")
    n = len(borders) + 1
    return query_estimates(
        np.column_stack([np.eye(n)[band], np.ones(len(scores))]),
        query,
        shares_of_last,
        n=len(scores),
        unit=unit,
        resample=resample,
        empty="There are no scores.",
        scales=["share"] * n,
    )

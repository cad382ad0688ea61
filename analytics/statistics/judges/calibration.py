"""The calibration of a judge that gives probabilities: does a probability of 0.8 come true in eight of ten?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError
from analytics.statistics.core.resampling import SHARE, ResampleSpec, mean_within
from analytics.statistics.core.tidy import Floats, Ints

BINS = 10
NOTHING = "There are no items with a probability of the judge and a preference of people."


@dataclass(frozen=True)
class ReliabilityBin:
    """Items whose probabilities lie from `low` to below `high` (the last one's up to 1): their mean probability, and
    people's mean score of the second response."""

    low: float
    high: float
    predicted: float
    observed: Estimate


@dataclass(frozen=True)
class Calibration:
    """The Brier score (Brier 1950), 0 is perfect; what always predicting people's mean would score (`base`); the mean
    distance of predicted and observed over items (expected calibration error); and the bins with items."""

    brier: Estimate
    base: float | None
    error: float | None
    bins: tuple[ReliabilityBin, ...]


def calibration(predicted: Floats, observed: Floats, query: Ints, *, resample: ResampleSpec) -> Calibration:
    """Of the judge's probabilities (n,) that the second response is better, and people's mean scores of it (n,), a tie
    one half; nan where there is none. Raises TidyDataError where the shapes differ or a probability is none.
    """
    if not predicted.shape == observed.shape == query.shape:
        raise TidyDataError("Each probability needs people's score and a query.")
    used = np.isfinite(predicted) & np.isfinite(observed)
    p, y, of = predicted[used], observed[used], query[used]
    if len(p) and not (p.min() >= 0 and p.max() <= 1):
        raise TidyDataError("A probability lies from 0 to 1.")
    brier = mean_within((p - y) ** 2, of, SHARE, unit="items", resample=resample, empty=NOTHING)
    if not len(p):
        return Calibration(brier, None, None, ())
    place = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    bins, distance = [], 0.0
    for each in np.unique(place):
        rows = place == each
        found = mean_within(y[rows], of[rows], SHARE, unit="items", resample=resample, empty=NOTHING)
        bins.append(ReliabilityBin(each / BINS, (each + 1) / BINS, float(p[rows].mean()), found))
        distance += rows.sum() * abs(float(p[rows].mean()) - float(y[rows].mean()))
    return Calibration(brier, float(((y - y.mean()) ** 2).mean()), distance / len(p), tuple(bins))

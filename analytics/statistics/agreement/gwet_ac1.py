"""Gwet's AC1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.chance_corrected import chance_corrected
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints


@dataclass(frozen=True)
class GwetAC1:
    """AC1, and the two shares that it is made of: of pairs of raters that agree, and that would agree by chance.

    Both are None where it is undefined.
    """

    ac1: Estimate
    agreement: float | None
    by_chance: float | None


def gwet_ac1(counts: Ints, query: Ints, *, resample: ResampleSpec, unit: str = "items") -> GwetAC1:
    """AC1 (Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement", British
    Journal of Mathematical and Statistical Psychology 61, section 3) of label counts (n, k) as for `chance_corrected`:
    agreement by chance is the sum of p (1 - p) over labels, divided by k - 1, p being a label's share.
    """

    def by_chance(label: Floats) -> Floats:
        return np.asarray((label * (1 - label)).sum(axis=1) / (counts.shape[1] - 1))

    return GwetAC1(*chance_corrected(counts, query, by_chance, name="AC1", resample=resample, unit=unit))

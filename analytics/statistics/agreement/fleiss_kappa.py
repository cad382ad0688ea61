"""Fleiss' kappa."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.chance_corrected import chance_corrected
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints


@dataclass(frozen=True)
class FleissKappa:
    """Fleiss' kappa, and the shares of pairs of raters that agree, and that would agree by chance.

    Both are None where it is undefined.
    """

    kappa: Estimate
    agreement: float | None
    by_chance: float | None


def fleiss_kappa(counts: Ints, query: Ints, *, resample: ResampleSpec, unit: str = "items") -> FleissKappa:
    """Kappa of many raters (Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin
    76) of label counts (n, k) as for `chance_corrected`, where rows may have different numbers of labels: agreement by
    chance is the sum of p squared over labels, p being a label's share.
    """

    def by_chance(label: Floats) -> Floats:
        return np.asarray((label**2).sum(axis=1))

    kappa, observed, chance = chance_corrected(
        counts, query, by_chance, name="Fleiss' kappa", resample=resample, unit=unit
    )
    paired = counts.sum(axis=1) >= 2
    kappa = noted(kappa, counts[paired].sum(axis=0), len(np.unique(query[paired])))
    return FleissKappa(kappa, observed, chance)

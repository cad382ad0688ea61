"""Coefficients of agreement beyond chance: of each its record, and its formula for agreement by chance.

A formula takes the shares p (r, k) of the labels in r resamples, as `chance_corrected` averages them, and gives (r,).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from analytics.statistics.agreement.chance_corrected import chance_corrected
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints


class Coefficient:
    """A record whose first field is the coefficient, under a name of its own, and whose others are the shares of pairs
    of raters that agree, and that would agree by chance; both are None where no row has two labels."""

    agreement: float | None
    by_chance: float | None

    @property
    def estimate(self) -> Estimate:
        return cast(Estimate, next(iter(vars(self).values())))


@dataclass(frozen=True)
class GwetAC1(Coefficient):
    """AC1, and the two shares that it is made of: of pairs of raters that agree, and that would agree by chance."""

    ac1: Estimate
    agreement: float | None
    by_chance: float | None


def gwet_ac1(counts: Ints, query: Ints, *, resample: ResampleSpec, unit: str = "items") -> GwetAC1:
    """AC1 (Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement", British
    Journal of Mathematical and Statistical Psychology 61, section 3) of label counts (n, k) as for `chance_corrected`:
    agreement by chance is the sum of p (1 - p) over labels, divided by k - 1, p being a label's share.
    """

    def by_chance(p: Floats) -> Floats:
        return np.asarray((p * (1 - p)).sum(axis=1) / (p.shape[1] - 1))

    return GwetAC1(*chance_corrected(counts, query, by_chance, name="AC1", resample=resample, unit=unit))


@dataclass(frozen=True)
class FleissKappa(Coefficient):
    """Fleiss' kappa, and the shares of pairs of raters that agree, and that would agree by chance."""

    kappa: Estimate
    agreement: float | None
    by_chance: float | None


def fleiss_kappa(counts: Ints, query: Ints, *, resample: ResampleSpec, unit: str = "items") -> FleissKappa:
    """Kappa of many raters (Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin
    76) of label counts (n, k) as for `chance_corrected`, where rows may have different numbers of labels: agreement by
    chance is the sum of p squared over labels, p being a label's share.
    """

    def by_chance(p: Floats) -> Floats:
        return np.asarray((p**2).sum(axis=1))

    found = chance_corrected(
        counts, query, by_chance, name="Fleiss' kappa", resample=resample, unit=unit, notes=True
    )
    return FleissKappa(*found)


# By their names in the tables of docs/statistics.md: benchmarks and tests go through all of them.
COEFFICIENTS: Mapping[str, Callable[..., Coefficient]] = {"AC1": gwet_ac1, "Fleiss' kappa": fleiss_kappa}

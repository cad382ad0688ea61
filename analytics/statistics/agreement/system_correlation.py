"""The correlation of two raters', or two groups', mean ratings of the systems.

Source: SummEval (Fabbri et al. 2021, section 5.2 and Table 4): Kendall's tau between the mean scores of the systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analytics.statistics.core.estimates import Estimate, present, undefined
from analytics.statistics.core.resampling import divide, sum_by
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import UnitMeans, Values, unit_means
from analytics.statistics.leaderboards.correlation import LEAST_SYSTEMS, coefficients_of

FEW_SYSTEMS = "A correlation over systems needs at least three that both rated."
ALL_TIED = "One of the two gives all systems the same mean."
NO_INTERVAL = (
    "Resampled queries add noise to both sides, so an interval of this correlation would lie too low."
)
NO_PAIR = "No two raters rated three systems both, with means that differ."
PAIRS_UNDEFINED = "pairs of raters with fewer than three systems in common, or all of them tied"


@dataclass(frozen=True)
class SystemCorrelation:
    """Kendall's tau-b, Spearman's rho and Pearson's r over systems; n counts systems."""

    kendall: Estimate
    spearman: Estimate
    pearson: Estimate


@dataclass(frozen=True)
class CorrelatedRaters:
    """Two raters (codes), `one` below `other`, and how their means of the systems correlate."""

    one: int
    other: int
    correlation: SystemCorrelation


@dataclass(frozen=True)
class PairedRaters:
    """The mean over pairs of raters of each coefficient (n counts pairs), and the pairs themselves."""

    kendall: Estimate
    spearman: Estimate
    pearson: Estimate
    pairs: tuple[CorrelatedRaters, ...]


def system_correlation(one: Values, other: Values) -> SystemCorrelation:
    """The correlation over systems of two groups' means, on the units that both rated.

    A system's mean is that of its units' means over raters, so that what many rated weighs no more. Rows without a
    system take no part. There is no interval (docs/statistics.md says why). Undefined below three systems, and where
    one group gives all of them the same mean.
    """
    mine, theirs = (unit_means(values.where(values.system >= 0)) for values in (one, other))
    _, at_mine, at_theirs = np.intersect1d(mine.unit, theirs.unit, assume_unique=True, return_indices=True)
    return _of_means(*_system_means(mine, theirs, at_mine, at_theirs))


def paired_raters(values: Values, raters: Sequence[int]) -> PairedRaters:
    """The same of every two of these `raters` (codes), each on the units that both rated, and the mean over pairs.

    Pairs of which a coefficient is undefined are left out of the mean.
    """
    alone = {
        rater: unit_means(values.where((values.rater == rater) & (values.system >= 0)))
        for rater in sorted(raters)
    }
    pairs = []
    for one, other in combinations(alone, 2):
        _, at_one, at_other = np.intersect1d(
            alone[one].unit, alone[other].unit, assume_unique=True, return_indices=True
        )
        means = _system_means(alone[one], alone[other], at_one, at_other)
        pairs.append(CorrelatedRaters(one, other, _of_means(*means)))
    found = [pair.correlation for pair in pairs]
    return PairedRaters(
        _mean_of([each.kendall for each in found]),
        _mean_of([each.spearman for each in found]),
        _mean_of([each.pearson for each in found]),
        tuple(pairs),
    )


def _system_means(one: UnitMeans, other: UnitMeans, at_one: Ints, at_other: Ints) -> tuple[Floats, Floats]:
    """Both means (s,) of the systems in the shared units, each at the same place."""
    _, code = np.unique(one.system[at_one], return_inverse=True)
    n = int(code.max(initial=-1)) + 1
    units = np.bincount(code, minlength=n).astype(np.float64)
    return (
        divide(sum_by(code, one.mean[at_one], n), units),
        divide(sum_by(code, other.mean[at_other], n), units),
    )


def _of_means(one: Floats, other: Floats) -> SystemCorrelation:
    n = len(one)
    reason = FEW_SYSTEMS if n < LEAST_SYSTEMS else ALL_TIED if min(np.ptp(one), np.ptp(other)) < 1e-12 else ""
    if reason:
        return SystemCorrelation(*[undefined(reason, n=n, unit="systems")] * 3)
    found = coefficients_of(one, other)
    pearson, spearman, kendall = (
        Estimate(value, None, None, n, "systems", undefined=NO_INTERVAL) for value in found
    )
    return SystemCorrelation(kendall, spearman, pearson)


def _mean_of(found: Sequence[Estimate]) -> Estimate:
    known = [each.value for each in found if each.value is not None]
    left_out = present({PAIRS_UNDEFINED: len(found) - len(known)})
    if not known:
        return undefined(NO_PAIR, unit="pairs of raters", left_out=left_out)
    return Estimate(
        float(np.mean(known)),
        None,
        None,
        len(known),
        "pairs of raters",
        left_out=left_out,
        undefined=NO_INTERVAL,
    )

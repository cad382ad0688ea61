"""The correlation of two leaderboards of the same systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, undefined
from analytics.statistics.core.tidy import Floats

LEAST_SYSTEMS = 3
FEW_SYSTEMS = "A correlation of leaderboards needs at least three systems that are in both."
NO_VARIATION = "All systems have the same rate in one of the leaderboards."
NO_INTERVAL = (
    "Chance in either leaderboard lowers their correlation, so an interval over queries would lie too low."
)


@dataclass(frozen=True)
class LeaderboardCorrelation:
    """Pearson's r, Spearman's rho and Kendall's tau-b over systems."""

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


def leaderboard_correlation(one: Floats, other: Floats) -> LeaderboardCorrelation:
    """The correlation of two leaderboards' rates (s,) of the same systems, nan where one has no rate.

    HREF, sections 4.2, 4.3 and 5.2 and Table 6, which have Spearman's and Pearson's of development and evaluation set,
    of two temperatures, and of prompts. Systems without a rate in one of the two are left out. There is no interval:
    resampled queries add noise to both leaderboards, by which the correlations of replicates lie below that of
    the data. Raises TidyDataError where the shapes differ.
    """
    if one.shape != other.shape or one.ndim != 1:
        raise TidyDataError("Two leaderboards are compared by the rates of the same systems.")
    both = np.isfinite(one) & np.isfinite(other)
    x, y = one[both], other[both]
    reason = (
        FEW_SYSTEMS if len(x) < LEAST_SYSTEMS else NO_VARIATION if min(np.ptp(x), np.ptp(y)) < 1e-12 else ""
    )
    if reason:
        return LeaderboardCorrelation(*[undefined(reason, n=len(x), unit="systems")] * 3)
    return LeaderboardCorrelation(
        *(
            Estimate(value, None, None, len(x), "systems", undefined=NO_INTERVAL)
            for value in coefficients_of(x, y)
        )
    )


def coefficients_of(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Pearson's r, Spearman's rho and Kendall's tau-b of finite rates (s,), neither all alike."""
    import scipy

    # Rates that differ by rounding only are tied.
    x, y = np.round(x, 12), np.round(y, 12)
    ranks = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    pearson, spearman, kendall = (
        min(1.0, max(-1.0, float(value)))
        for value in (
            np.corrcoef(x, y)[0, 1],
            np.corrcoef(*ranks)[0, 1],
            scipy.stats.kendalltau(x, y).statistic,
        )
    )
    return pearson, spearman, kendall

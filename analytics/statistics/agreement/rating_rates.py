"""Rates of equal ratings of a thing: by all of its raters, by more than half, and by two of them.

Source: the LFQA paper, Appendix B, Table 3 (aspect-wise agreement rate), which does not define its rate; these are the
two that "total agreement" and a majority vote, as the appendix has them of preferences, come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.agreement.percentage import mean_by_chance
from analytics.statistics.core.estimates import Estimate, present
from analytics.statistics.core.narrow import row_sums
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate, wilson_interval
from analytics.statistics.core.tidy import Floats
from analytics.statistics.core.values import Values, value_counts

FEW_RATINGS = "{unit} with fewer than two ratings"
# Two of three ratings agree with a chance of 0, 1/3 or 1. As long as no 1 is among few chances, they seem to vary less
# than they do, and t intervals lie below the true value ("Few queries" in docs/statistics.md). With four ratings or
# more there are chances between, and t intervals hold.
COARSE = 3
WILSON = (
    "Wilson interval with the {queries} queries as its units, as all ratings of none of the {unit} are alike"
)


@dataclass(frozen=True)
class RatesByChance:
    """The same rates, had every rating been drawn from all ratings together."""

    all_same: float
    majority: float
    two_raters: float


@dataclass(frozen=True)
class RatingRates:
    """Shares of what was rated: by all alike, by more than half alike; and the chance that two of its raters agree.

    `by_chance` is None where nothing has two ratings.
    """

    all_same: Estimate
    majority: Estimate
    two_raters: Estimate
    by_chance: RatesByChance | None


def rating_rates(
    values: Values, *, points: Sequence[float], resample: ResampleSpec, unit: str = "items"
) -> RatingRates:
    """Of what two or more rated, `unit` being its name in the plural; ratings between `points` are left out.

    A majority is more than half of a thing's ratings. Each thing weighs the same; intervals are over queries. That of
    two raters is Wilson's with the queries as its units, where nothing has more than three ratings and nothing is rated
    alike by all: no mean of values between 0 and 1 varies more than a share of the same size.
    """
    table = value_counts(values, level="nominal", points=points)
    n = row_sums(table.counts)
    used = n > 1
    counts, n = table.counts[used], n[used]
    most = counts.max(axis=1, initial=0)
    alike = row_sums(counts * (counts - 1)) / np.maximum(n * (n - 1), 1)
    left_out = (
        *present({FEW_RATINGS.format(unit=unit): int(np.count_nonzero(~used))}),
        *table.left_out,
    )
    all_same, majority, two_raters = (
        mean_estimate(
            np.asarray(each, dtype=np.float64),
            table.query[used],
            unit=unit,
            resample=resample,
            left_out=left_out,
            empty=f"None of the {unit} has two ratings to compare.",
            share=True,
        )
        for each in (most == n, 2 * most > n, alike)
    )
    if two_raters.low is not None and n.max() <= COARSE and not np.any(most == n):
        two_raters = _by_wilson(two_raters, len(np.unique(table.query[used])), unit)
    chance = mean_by_chance(counts, _rates_by_chance)
    return RatingRates(all_same, majority, two_raters, RatesByChance(*chance) if chance else None)


def _rates_by_chance(chances: Floats, n: int) -> tuple[float, float, float]:
    """Of `n` ratings drawn by the points' `chances` (k,): the chance that all, more than half, and two are alike."""
    import scipy

    majority = scipy.stats.binom.sf(n // 2, n, chances)
    return float((chances**n).sum()), float(majority.sum()), float((chances**2).sum())


def _by_wilson(share: Estimate, queries: int, unit: str) -> Estimate:
    assert share.value is not None
    low, high = wilson_interval(share.value, queries, share.level)
    return replace(share, low=low, high=high, method=WILSON.format(queries=queries, unit=unit))

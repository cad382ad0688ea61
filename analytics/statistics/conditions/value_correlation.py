"""Correlation of two groups' ratings of an attribute's values, within each response (ContextEval, section 6.1).

The paper correlates people's ratings with the autorater's "for each query". That may be read in two ways, and both are
reported: over all values of all responses together (`ratings_vs_people.compare_means`), to which it adds how good a
response is for anybody, and here over the values of one response at a time, averaged over responses.
"""

from __future__ import annotations

import numpy as np

from analytics.statistics.core.estimates import Estimate, present
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_within, sum_by
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import Values, unit_means
from analytics.statistics.rankings.ranks import mid_ranks

COEFFICIENT = (-1.0, 1.0)
UNIT = "responses"
ONE_VALUE = "responses with fewer than two values that both groups rated"
NO_VARIATION = "responses whose values all have the same rating by one of the groups"


def correlation_within_items(people: Values, judge: Values, *, resample: ResampleSpec) -> Estimate:
    """Mean over items of Spearman's rho (mid-ranks) between the two groups' mean ratings of an item's parts.

    Parts are matched by their unit codes. Items with fewer than two shared parts, and those on which one of the groups
    gives all parts the same, have no correlation: they are left out and counted. The interval is over queries.
    """
    one, other = unit_means(people), unit_means(judge)
    _, at_one, at_other = np.intersect1d(one.unit, other.unit, assume_unique=True, return_indices=True)
    items, first, code = np.unique(one.item[at_one], return_index=True, return_inverse=True)
    n = np.bincount(code, minlength=len(items))
    rho = _rho(one.mean[at_one], other.mean[at_other], code, n)
    varied = np.isfinite(rho)
    return mean_within(
        rho[varied],
        one.query[at_one][first][varied],
        COEFFICIENT,
        unit=UNIT,
        resample=resample,
        left_out=present(
            {ONE_VALUE: int(np.count_nonzero(n < 2)), NO_VARIATION: int(np.count_nonzero(~varied & (n > 1)))}
        ),
        empty="There is no response on which both groups tell values apart.",
    )


def _rho(x: Floats, y: Floats, code: Ints, n: Ints) -> Floats:
    """Spearman's rho by `code` (m,); nan where one of the two does not vary."""
    deviations = []
    for values in (x, y):
        # Means of the same ratings in another order may differ in their last bits, which must not break a tie.
        ranks = mid_ranks(np.round(values, 9), code)
        deviations.append(ranks - (n[code] + 1) / 2)
    across, own_x, own_y = (
        sum_by(code, product, len(n))
        for product in (deviations[0] * deviations[1], deviations[0] ** 2, deviations[1] ** 2)
    )
    return np.clip(divide(across, np.sqrt(own_x * own_y)), *COEFFICIENT)

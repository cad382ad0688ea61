"""Shares of follow-up questions that a majority says yes of (ContextEval, section 3.3 and Figure 2)."""

from __future__ import annotations

import numpy as np

from analytics.statistics.core.estimates import Estimate, present
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.values import Values, unit_means

UNIT = "follow-up questions"
EVEN = "follow-up questions of which as many say yes as no"
# Means of the same answers in another order may differ in their last bits.
ROUNDING = 1e-9


def yes_majorities(values: Values, *, resample: ResampleSpec) -> Estimate:
    """Share of units of which more than half of the answers (1 or 0) are yes; the interval is over queries.

    The paper has three raters, and so always a majority; with an even number a unit may have none, and is left out.
    """
    means = unit_means(values)
    even = np.abs(means.mean - 0.5) <= ROUNDING
    return mean_estimate(
        (means.mean[~even] > 0.5).astype(np.float64),
        means.query[~even],
        unit=UNIT,
        resample=resample,
        left_out=present({EVEN: int(np.count_nonzero(even))}),
        empty="No follow-up question has a majority.",
        share=True,
    )

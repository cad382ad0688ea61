"""Standardised sizes of differences: Cohen's d of paired measures, and Cohen's h of a share beside one half."""

from __future__ import annotations

from dataclasses import replace
from math import asin, pi, sqrt

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, undefined
from analytics.statistics.core.resampling import sums_by_query
from analytics.statistics.core.tidy import Floats, Ints, countable

QUERIES = "queries"
TOO_FEW = "An effect size needs at least two queries."
SAME = "The difference is the same on every query, so there is no spread to measure it by."
LEAST_SPREAD = 1e-12


def paired_effect(differences: Floats, query: Ints, *, level: float = 0.95) -> Estimate:
    """Cohen's d of paired measures (d_z): the mean of queries' differences over their standard deviation (n - 1).

    differences (m,) and query (m,), a code for each: a query's difference is the mean of its rows, so that each query
    weighs the same. The unit is the standard deviation. The interval holds the noncentralities of Student's t that
    leave the observed t possible (Steiger and Fouladi 1997), which is exact where differences are normal. d has no
    correction for few queries. Undefined of fewer than two queries, and where the differences do not vary. Raises
    TidyDataError where the shapes differ.
    """
    import scipy

    if differences.shape != query.shape or differences.ndim != 1:
        raise TidyDataError("An effect size needs a query for each difference.")
    codes = countable(query)
    sums = sums_by_query(np.stack([differences, np.ones(len(codes))], axis=1), codes)
    means, n = sums[:, 0] / sums[:, 1], len(sums)
    if n < 2:
        return undefined(TOO_FEW, n=n, unit=QUERIES, level=level)
    mean, spread = float(means.mean()), float(means.std(ddof=1))
    if spread <= LEAST_SPREAD * max(abs(mean), 1.0):
        return undefined(SAME, n=n, unit=QUERIES, level=level)
    effect, root = mean / spread, sqrt(n)
    # The function bears no large t of the other sign, and t of -x is the mirror of t of x.
    limits = [
        float(scipy.special.nctdtrinc(n - 1, (1 + side * level) / 2, abs(effect) * root)) / root
        for side in (1, -1)
    ]
    low, high = limits if effect >= 0 else (-limits[1], -limits[0])
    return Estimate(effect, low, high, n, QUERIES, level, "noncentral t of the differences of queries")


def share_effect(share: Estimate) -> Estimate:
    """Cohen's h of a share beside one half, 2 arcsin(sqrt(p)) - pi / 2, from -pi / 2 to pi / 2 (Cohen 1988, chapter 6).

    It grows with the share, so its limits are those of the share; what is undefined of the share is undefined of it.
    """

    def of(p: float | None) -> float | None:
        return None if p is None else 2 * asin(sqrt(min(max(p, 0.0), 1.0))) - pi / 2

    return replace(share, value=of(share.value), low=of(share.low), high=of(share.high))

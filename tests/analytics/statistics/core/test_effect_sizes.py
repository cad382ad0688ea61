"""Standardised sizes of differences."""

from math import pi, sqrt

import numpy as np
import pytest
from scipy.stats import nct

from analytics.statistics.core.effect_sizes import paired_effect, share_effect
from analytics.statistics.core.estimates import Estimate


def test_d_is_the_mean_over_the_standard_deviation_of_queries():
    values = np.array([1.0, 3.0, 2.0, 0.0, 4.0])
    found = paired_effect(values, np.array([0, 0, 1, 5, 7]))
    means = np.array([2.0, 2.0, 0.0, 4.0])
    assert found.value == pytest.approx(means.mean() / means.std(ddof=1))
    assert (found.n, found.unit) == (4, "queries")


@pytest.mark.parametrize("shift", [-1.3, -0.2, 0.0, 0.4, 6.0])
def test_limits_leave_the_observed_t_at_the_tails(shift):
    values = np.random.default_rng(3).standard_normal(25) + shift
    found = paired_effect(values, np.arange(25), level=0.9)
    t = found.value * sqrt(25)
    assert nct.sf(t, 24, found.low * sqrt(25)) == pytest.approx(0.05, abs=1e-6)
    assert nct.cdf(t, 24, found.high * sqrt(25)) == pytest.approx(0.05, abs=1e-6)
    back = paired_effect(-values, np.arange(25), level=0.9)
    assert (back.value, back.low, back.high) == pytest.approx((-found.value, -found.high, -found.low))


def test_nothing_to_measure_by_is_said():
    assert "at least two queries" in paired_effect(np.array([1.0, 2.0]), np.array([4, 4])).undefined
    assert "same on every query" in paired_effect(np.full(3, 0.5), np.arange(3)).undefined


def test_h_of_a_share():
    """Cohen 1988, table 6.2.2: arcsin transformation of .75 is 2.094, of .50 is 1.571."""
    found = share_effect(Estimate(0.75, 0.5, 1.0, 8, "items"))
    assert found.value == pytest.approx(2.094 - 1.571, abs=1e-3)
    assert (found.low, found.high) == pytest.approx((0.0, pi / 2))

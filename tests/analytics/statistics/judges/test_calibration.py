"""Calibration of probabilities by hand, against scikit-learn's definitions, and at its ends."""

import numpy as np
import pytest

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.judges.calibration import calibration
from tests.analytics.statistics.build import spec


def found(p, y):
    p, y = np.asarray(p, dtype=float), np.asarray(y, dtype=float)
    return calibration(p, y, np.arange(len(p)), resample=spec())


def test_by_hand():
    """Of Brier (1950): the mean squared distance of forecast and outcome."""
    got = found([0.9, 0.8, 0.1, 0.5], [1, 0, 0, 0.5])
    assert got.brier.value == pytest.approx((0.01 + 0.64 + 0.01 + 0) / 4)
    assert got.base == pytest.approx(np.var([1, 0, 0, 0.5]))
    assert got.error == pytest.approx((0.1 + 0.8 + 0.1 + 0) / 4)
    assert [(each.low, each.high) for each in got.bins] == [(0.1, 0.2), (0.5, 0.6), (0.8, 0.9), (0.9, 1.0)]


def test_bin_by_bin():
    rng = np.random.default_rng(1)
    p, y = rng.random(300), rng.integers(0, 2, 300)
    got, total = found(p, y), 0.0
    for each in got.bins:
        rows = [at for at, value in enumerate(p) if each.low <= value < each.high]
        assert each.predicted == pytest.approx(np.mean(p[rows]))
        assert each.observed.value == pytest.approx(np.mean(y[rows]))
        total += len(rows) * abs(np.mean(p[rows]) - np.mean(y[rows]))
    assert got.error == pytest.approx(total / 300)


def test_what_is_certain_and_right_is_perfect():
    got = found([0, 1, 1, 0], [0, 1, 1, 0])
    assert (got.brier.value, got.error) == (0, 0)
    assert [(each.low, each.high) for each in got.bins] == [(0.0, 0.1), (0.9, 1.0)]


def test_items_that_one_of_both_lacks_are_left_aside():
    got = found([0.5, np.nan, 0.7], [1, 1, np.nan])
    assert got.brier.n == 1
    nothing = found([np.nan], [1])
    assert (nothing.brier.value, nothing.base, nothing.bins) == (None, None, ())


def test_only_probabilities_have_one():
    with pytest.raises(TidyDataError, match="from 0 to 1"):
        found([1.5], [1])
    with pytest.raises(TidyDataError, match="a query"):
        calibration(np.zeros(2), np.zeros(1), np.zeros(2, dtype=int), resample=spec())

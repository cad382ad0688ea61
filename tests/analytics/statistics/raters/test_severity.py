"""Severity of raters against a slow twin, and what it does not depend on."""

import numpy as np
import pytest

from analytics.statistics.core.values import Values
from analytics.statistics.raters.severity import severities
from tests.analytics.statistics.build import spec


def some(seed, n_units=30, raters=4):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, (n_units, raters)).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    return table


def values_of(table):
    unit, rater = np.nonzero(np.isfinite(table))
    zero = np.zeros(len(unit), dtype=int)
    return Values(unit, unit // 2, zero - 1, zero, unit, rater, table[unit, rater])


def found_in(table):
    return severities(values_of(table), unit="items", resample=spec())


@pytest.mark.parametrize("seed", range(3))
def test_rating_by_rating(seed):
    table = some(seed)
    for each in found_in(table):
        own = table[:, each.rater]
        gaps = []
        for row, value in zip(table, own, strict=True):
            others = [v for at, v in enumerate(row) if at != each.rater and np.isfinite(v)]
            if np.isfinite(value) and others:
                gaps.append(value - np.mean(others))
        assert each.difference.value == pytest.approx(np.mean(gaps))
        assert each.difference.n == len(gaps)
        assert sum(part.n for part in each.difference.left_out) == np.isfinite(own).sum() - len(gaps)


def test_who_rates_harder_texts_is_not_severe():
    """Three raters, the last of whom only sees texts that all rate one lower."""
    table = np.array([[4.0, 4, np.nan]] * 10 + [[2.0, np.nan, 2]] * 10)
    assert [each.difference.value for each in found_in(table)] == [0, 0, 0]


def test_a_lenient_rater_is_above_the_others_and_the_others_below():
    table = np.array([[3.0, 3, 4]] * 8)
    assert [each.difference.value for each in found_in(table)] == pytest.approx([-0.5, -0.5, 1])


def test_alone_there_is_nothing_to_compare():
    [only] = found_in(np.array([[3.0], [4.0]]))
    assert only.difference.value is None
    assert only.difference.undefined == "Nobody else rated what this rater rated."

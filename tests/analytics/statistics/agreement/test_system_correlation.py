"""Correlations over systems: by hand, against plain loops, and where there is none."""

from itertools import combinations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.system_correlation import (
    ALL_TIED,
    FEW_SYSTEMS,
    NO_INTERVAL,
    NO_PAIR,
    PAIRS_UNDEFINED,
    paired_raters,
    system_correlation,
)
from analytics.statistics.core.estimates import LeftOut
from tests.analytics.statistics.rating_arrays import make_values, random_rows

POINTS = (1, 2, 3, 4, 5)


def test_by_hand() -> None:
    # Means of four systems 1, 2, 3, 4 and 1, 3, 2, 4: five pairs agree and one does not.
    one = make_values([(0, part, 0, value) for part, value in enumerate((1, 2, 3, 4))])
    other = make_values([(0, part, 0, value) for part, value in enumerate((1, 3, 2, 4))])
    found = system_correlation(one, other)
    assert found.kendall.value == pytest.approx(4 / 6)
    assert found.spearman.value == found.pearson.value == pytest.approx(0.8)
    assert (found.kendall.n, found.kendall.unit, found.kendall.undefined) == (4, "systems", NO_INTERVAL)
    # Two systems with the same mean: tau-b = (5 - 0) / sqrt(5 * 6).
    tied = make_values([(0, part, 0, value) for part, value in enumerate((1, 2, 2, 4))])
    assert system_correlation(one, tied).kendall.value == pytest.approx(5 / np.sqrt(30))


def test_units_of_one_side_only_take_no_part() -> None:
    one = make_values([(0, part, 0, part) for part in range(3)] + [(1, 0, 0, 9)])
    other = make_values([(0, part, 0, part) for part in range(3)])
    assert system_correlation(one, other).kendall.value == pytest.approx(1)


def means_by_loop(rows, raters):
    """{system: its units' means over raters, averaged}, by unit."""
    units = {}
    for item, part, rater, value in rows:
        if rater in raters:
            units.setdefault((item, part), []).append(value)
    return {unit: np.mean(values) for unit, values in units.items()}


def coefficients_by_loop(one, other):
    shared = one.keys() & other.keys()
    systems = sorted({part for _, part in shared})
    x, y = (
        [np.mean([of[unit] for unit in sorted(shared) if unit[1] == system]) for system in systems]
        for of in (one, other)
    )
    if len(systems) < 3 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    signs = [
        (np.sign(round(x[i] - x[j], 9)), np.sign(round(y[i] - y[j], 9)))
        for i, j in combinations(range(len(systems)), 2)
    ]
    tau = sum(a * b for a, b in signs) / np.sqrt(
        sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs)
    )
    return tau, scipy.stats.pearsonr(x, y).statistic


@given(st.integers(0, 2**16), st.integers(1, 12), st.integers(3, 6))
def test_against_a_loop(seed, n_items, n_parts) -> None:
    rows = random_rows(np.random.default_rng(seed), POINTS, n_items, n_parts)
    # Units are numbered alike for both, as frames number them.
    mine, theirs = ([row for row in rows if (row[2] < 2) is first] for first in (True, False))
    full = make_values(rows)
    found = system_correlation(full.where(full.rater < 2), full.where(full.rater >= 2))
    expected = coefficients_by_loop(means_by_loop(mine, {0, 1}), means_by_loop(theirs, {2, 3}))
    if expected is None:
        assert found.kendall.value is None
        return
    assert (found.kendall.value, found.pearson.value) == pytest.approx(expected)
    turned = system_correlation(full.where(full.rater >= 2), full.where(full.rater < 2))
    assert turned.kendall.value == pytest.approx(found.kendall.value)
    assert -1 <= found.spearman.value <= 1


@given(st.integers(0, 2**16), st.integers(1, 8))
def test_pairs_of_raters_against_a_loop(seed, n_items) -> None:
    rows = random_rows(np.random.default_rng(seed), POINTS, n_items, 4)
    found = paired_raters(make_values(rows), range(4))
    expected = [
        coefficients_by_loop(means_by_loop(rows, {one}), means_by_loop(rows, {other}))
        for one, other in combinations(range(4), 2)
    ]
    known = [each[0] for each in expected if each is not None]
    assert [(pair.one, pair.other) for pair in found.pairs] == list(combinations(range(4), 2))
    assert found.kendall.n == len(known)
    assert found.kendall.value == (pytest.approx(np.mean(known)) if known else None)
    assert found.kendall.n + found.kendall.n_left_out == 6


def test_undefined_says_why() -> None:
    two = make_values([(0, part, 0, part) for part in range(2)])
    assert system_correlation(two, two).kendall.undefined == FEW_SYSTEMS
    tied = make_values([(0, part, 0, 3) for part in range(4)])
    other = make_values([(0, part, 0, part) for part in range(4)])
    assert system_correlation(tied, other).pearson.undefined == ALL_TIED
    assert system_correlation(tied, make_values([])).spearman.undefined == FEW_SYSTEMS
    found = paired_raters(make_values([(0, part, rater, 3) for part in range(4) for rater in (0, 1)]), (0, 1))
    assert found.kendall.undefined == NO_PAIR
    assert found.kendall.left_out == (LeftOut(PAIRS_UNDEFINED, 1),)

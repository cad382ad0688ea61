import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.associations import ordered
from analytics.statistics.associations.ordered import NO_VARIATION, TOO_MANY_VALUES, ordered_association
from analytics.statistics.core.estimates import TidyDataError
from tests.analytics.statistics.build import spec


def associated(x, y, query=None):
    x, y = np.array(x), np.array(y)
    return ordered_association(x, y, np.arange(len(x)) if query is None else query, resample=spec())


def test_published_example():
    # Agresti, Categorical Data Analysis (2002), section 2.4.3: job satisfaction by income of 96 people; 1,331 pairs are
    # concordant and 849 discordant, so that gamma is .221.
    table = [[1, 3, 10, 6], [2, 3, 10, 7], [1, 6, 14, 12], [0, 1, 9, 11]]
    x, y = zip(*[(i, j) for i in range(4) for j in range(4) for _ in range(table[i][j])], strict=True)
    found = associated(x, y)
    counts = np.array(table)
    untied = [96**2 - (counts.sum(axis=axis) ** 2).sum() for axis in (0, 1)]
    assert found.tau.value == pytest.approx(2 * (1331 - 849) / np.sqrt(untied[0] * untied[1]))
    assert found.tau.low < found.tau.value < found.tau.high


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_against_scipy(seed, points):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, points, 40)
    y = np.where(rng.random(40) < 0.5, x, rng.integers(0, points, 40))
    found = associated(x, y)
    if np.ptp(x) and np.ptp(y):
        assert found.tau.value == pytest.approx(scipy.stats.kendalltau(x, y).statistic)
        assert found.rho.value == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
        turned = associated(points - 1 - x, y)
        assert turned.tau.value == pytest.approx(-found.tau.value)
        assert turned.rho.value == pytest.approx(-found.rho.value)


def test_a_loop_over_pairs():
    rng = np.random.default_rng(8)
    x, y = rng.integers(0, 4, (2, 30))
    signs = [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i in range(30) for j in range(i)]
    untied = [sum(each[i] != each[j] for i in range(30) for j in range(i)) for each in (x, y)]
    assert associated(x, y).tau.value == pytest.approx(sum(signs) / np.sqrt(untied[0] * untied[1]))


def test_the_rows_of_a_query_do_not_narrow_the_interval():
    rng = np.random.default_rng(9)
    x = rng.integers(0, 5, 40)
    y = np.clip(x + rng.integers(-1, 2, 40), 0, 4)
    once = associated(x, y)
    twice = associated(np.repeat(x, 2), np.repeat(y, 2), np.repeat(np.arange(40), 2))
    assert twice.rho.value == pytest.approx(once.rho.value)
    assert twice.tau.high - twice.tau.low == pytest.approx(once.tau.high - once.tau.low, rel=0.02)


def test_many_values_have_no_interval(monkeypatch):
    monkeypatch.setattr(ordered, "MOST_CELLS", 30)
    rng = np.random.default_rng(10)
    x, y = rng.integers(0, 6, (2, 50))
    found = associated(x, y)
    assert found.tau.value == pytest.approx(scipy.stats.kendalltau(x, y).statistic)
    assert (found.tau.low, found.rho.undefined) == (None, TOO_MANY_VALUES)


def test_undefined_says_why():
    assert associated([1, 1, 1], [0, 1, 2]).tau.undefined == NO_VARIATION
    empty = np.zeros(0, dtype=int)
    assert "No ratings" in associated(empty, empty).rho.undefined
    with pytest.raises(TidyDataError, match="every row"):
        associated([1, 2], [1, 2], np.zeros(3, dtype=int))

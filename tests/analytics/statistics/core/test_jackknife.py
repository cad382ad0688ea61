import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core import jackknife
from analytics.statistics.core.jackknife import error_of, leave_out, leave_out_cells, t_interval
from analytics.statistics.core.resampling import shares_of_last


def mean_of_cells(weights):
    return (weights @ np.arange(weights.shape[1]) / weights.sum(axis=1))[:, None]


def test_the_error_of_a_mean_is_the_textbooks() -> None:
    values = np.random.default_rng(1).normal(size=40)
    found = leave_out(np.column_stack([values, np.ones(40)]), shares_of_last)
    assert found.value[0] == pytest.approx(values.mean())
    assert found.error[0] == pytest.approx(values.std(ddof=1) / np.sqrt(40))


def test_the_published_correlation() -> None:
    # Efron, The Jackknife, the Bootstrap and Other Resampling Plans (1982): admission tests and grades at fifteen law
    # schools; r = .776, and its jackknife error .142.
    test = [576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594]
    grade = [3.39, 3.30, 2.81, 3.03, 3.44, 3.07, 3.00, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96]
    x, y = np.array(test) - 600.0, np.array(grade) - 3

    def correlation(sums):
        n, of_x, of_y, xx, yy, xy = sums.T
        shared = xy - of_x * of_y / n
        return (shared / np.sqrt((xx - of_x**2 / n) * (yy - of_y**2 / n)))[:, None]

    found = leave_out(np.column_stack([np.ones(15), x, y, x * x, y * y, x * y]), correlation)
    assert found.value[0] == pytest.approx(0.776, abs=5e-4)
    assert found.error[0] == pytest.approx(0.1425, abs=5e-5)


def test_against_leaving_out_each_query_by_hand(monkeypatch) -> None:
    # Queries of unequal size, in chunks of three.
    monkeypatch.setattr(jackknife, "CHUNK_BYTES", 8 * 2 * 3)
    rng = np.random.default_rng(2)
    vectors = np.column_stack([rng.integers(0, 5, 20), rng.integers(5, 9, 20)]).astype(float)
    without = [np.delete(vectors, row, axis=0).sum(axis=0) for row in range(20)]
    ratios = np.array([one / all_of for one, all_of in without])
    expected = np.sqrt(19 / 20 * ((ratios - ratios.mean()) ** 2).sum())
    assert leave_out(vectors, shares_of_last).error[0] == pytest.approx(expected)
    assert error_of(ratios[:, None])[0] == pytest.approx(expected)


def test_cells_are_left_out_by_query() -> None:
    query, cell = np.array([7, 7, 7, 9, 9, 4]), np.array([0, 0, 1, 1, 2, 3])
    found = leave_out_cells(query, cell, 4, mean_of_cells)
    without = [np.mean(cell[query != left]) for left in (4, 7, 9)]
    assert found.value[0] == pytest.approx(cell.mean())
    assert found.error[0] == pytest.approx(np.sqrt(2 / 3 * ((without - np.mean(without)) ** 2).sum()))
    assert (found.queries, found.groups) == (3, 3)


def test_many_queries_are_left_out_in_groups_whatever_their_order(monkeypatch) -> None:
    monkeypatch.setattr(jackknife, "MAX_GROUPS", 250)
    rng = np.random.default_rng(3)
    cell, order = rng.integers(0, 5, 6000), rng.permutation(6000)
    query = np.repeat(np.arange(2000), 3)
    there = leave_out_cells(query, cell, 5, mean_of_cells)
    back = leave_out_cells(1999 - query[order], cell[order], 5, mean_of_cells)
    assert (there.queries, there.groups) == (2000, 250)
    assert there.method == "jackknife over 2,000 queries in 250 groups"
    assert there.error[0] == pytest.approx(np.std(cell) / np.sqrt(6000), rel=0.15)
    assert back.error[0] == pytest.approx(there.error[0], rel=1e-9)


def test_a_figure_that_is_undefined_without_one_query_has_no_error() -> None:
    found = leave_out(np.array([[1.0, 1.0], [0.0, 0.0]]), shares_of_last)
    assert found.value[0] == 1
    assert np.isnan(found.error[0])


def test_the_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(4).normal(size=12)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert t_interval(values.mean(), stats.sem(values), 12, "plain", 0.9) == pytest.approx(tuple(expected))


@given(st.floats(0.001, 0.999), st.floats(0.0, 2.0), st.integers(2, 50))
def test_intervals_stay_within_their_scale_and_around_their_value(value, error, groups) -> None:
    low, high = t_interval(value, error, groups, "share", 0.95)
    assert 0 <= low <= value <= high <= 1
    low, high = t_interval(2 * value - 1, error, groups, "coefficient", 0.95)
    assert -1 <= low <= 2 * value - 1 <= high <= 1


@given(st.floats(0.05, 0.95), st.floats(0.001, 0.1))
def test_a_share_and_what_remains_have_mirrored_intervals(value, error) -> None:
    low, high = t_interval(value, error, 20, "share", 0.95)
    assert t_interval(1 - value, error, 20, "share", 0.95) == pytest.approx((1 - high, 1 - low))

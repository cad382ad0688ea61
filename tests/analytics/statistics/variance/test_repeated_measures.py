import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.multitest import multipletests

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.variance.repeated_measures import (
    INCOMPLETE,
    greenhouse_geisser,
    repeated_measures,
)

# Field, Discovering Statistics (2013), section 14.7: seconds of eight people with four things to eat.
SECONDS = [
    [8, 7, 1, 6],
    [9, 5, 2, 5],
    [6, 2, 3, 8],
    [5, 3, 1, 9],
    [8, 4, 5, 8],
    [7, 5, 6, 7],
    [10, 2, 7, 2],
    [12, 6, 8, 1],
]


def analysed(table, **options):
    """None where a query lacks a system."""
    cells = [
        (value, system, query)
        for query, row in enumerate(table)
        for system, value in enumerate(row)
        if value is not None
    ]
    value, system, query = (np.array(column) for column in zip(*cells, strict=True))
    return repeated_measures(value.astype(float), system, query, **options)


def test_the_published_table():
    found = analysed(SECONDS)
    assert (found.n, found.df_systems, found.df_error) == (8, 3, 21)
    assert found.f == pytest.approx(3.79, abs=0.005)
    assert found.p_uncorrected == pytest.approx(0.026, abs=5e-4)
    assert found.epsilon == pytest.approx(0.533, abs=5e-4)
    assert found.p_value == pytest.approx(0.063, abs=5e-4)


def test_against_statsmodels_with_several_ratings_of_a_query():
    rng = np.random.default_rng(6)
    query, system, rating = (each.ravel() for each in np.indices((20, 4, 3)))
    value = rng.normal(size=20)[query] + 0.4 * system + rng.normal(size=len(query)) + 0.1 * rating
    found = repeated_measures(value, system, query)
    frame = pd.DataFrame({"value": value, "system": system, "query": query})
    [row] = AnovaRM(frame, "value", "query", ["system"], aggregate_func="mean").fit().anova_table.to_numpy()
    assert (found.f, found.df_systems, found.df_error, found.p_uncorrected) == pytest.approx(
        (row[0], row[1], row[2], row[3])
    )


def test_pairs_are_paired_t_tests_after_holm():
    found = analysed(SECONDS, level=0.9)
    table = np.array(SECONDS, dtype=float)
    pairs = [(each.system_1, each.system_2) for each in found.pairs]
    tests = [scipy.stats.ttest_rel(table[:, two], table[:, one]) for one, two in pairs]
    assert [each.p_value for each in found.pairs] == pytest.approx([test.pvalue for test in tests])
    limits = [test.confidence_interval(0.9) for test in tests]
    assert [(each.low, each.high) for each in found.pairs] == [
        pytest.approx((limit.low, limit.high)) for limit in limits
    ]
    corrected = multipletests([test.pvalue for test in tests], method="holm")[1]
    assert [each.p_corrected for each in found.pairs] == pytest.approx(corrected.tolist())
    gaps = [table[:, two] - table[:, one] for one, two in pairs]
    assert [each.effect.value for each in found.pairs] == pytest.approx(
        [gap.mean() / gap.std(ddof=1) for gap in gaps]
    )


def test_epsilon_by_differences():
    # Twin: from the covariance of k - 1 orthonormal contrasts.
    rng = np.random.default_rng(7)
    table = rng.normal(size=(15, 4)) @ rng.normal(size=(4, 4))
    contrasts = scipy.linalg.helmert(4)
    values = np.linalg.eigvalsh(contrasts @ np.cov(table.T) @ contrasts.T)
    assert greenhouse_geisser(table) == pytest.approx(values.sum() ** 2 / (3 * (values**2).sum()))
    assert greenhouse_geisser(table[:, :2]) == pytest.approx(1)


@given(st.integers(0, 10_000))
def test_levels_of_queries_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(7, 3))
    found = analysed(table.tolist())
    other = analysed((table + 10 * rng.normal(size=(7, 1))).tolist())
    assert other.f == pytest.approx(found.f, rel=1e-6)
    assert 1 / 2 <= found.epsilon <= 1


def test_incomplete_queries_are_counted():
    found = analysed([[1, 2, 4], [2, None, 1], [1, 3, 3], [None, None, 2], [2, 2, 5]])
    assert (found.n, found.left_out) == (3, (LeftOut(INCOMPLETE, 2),))
    assert found.means == pytest.approx((4 / 3, 7 / 3, 4))


def test_undefined_says_why():
    assert "two systems" in analysed([[1], [2]]).undefined
    assert "two queries" in analysed([[1, 2], [1, None]]).undefined
    constant = analysed([[1, 2], [3, 4], [0, 1]])
    assert "same on every query" in constant.undefined
    assert constant.pairs[0].undefined == "The difference is the same on every query."
    assert repeated_measures(np.zeros(0), np.zeros(0, dtype=int), np.zeros(0, dtype=int)).undefined
    with pytest.raises(TidyDataError, match="each value"):
        repeated_measures(np.zeros(2), np.zeros(2, dtype=int), np.zeros(1, dtype=int))

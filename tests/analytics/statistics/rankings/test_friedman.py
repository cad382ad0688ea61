import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core.estimates import LeftOut, ParameterError
from analytics.statistics.rankings.concordance import kendalls_w
from analytics.statistics.rankings.friedman import NOT_EVERY_SYSTEM, friedman, friedman_statistic
from tests.analytics.statistics.rating_arrays import make_ranks, random_rankings

# Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets" (2006), Table 6: the ranks of four variants
# of C4.5 on 14 data sets by their accuracy.
DEMSAR = (
    "4 3 2 1", "1 2 3 4", "4 1 2 3", "4 1 3 2", "4 2 3 1", "1 2.5 4 2.5", "3 2 4 1",
    "2.5 2.5 4 1", "4 3 2 1", "2.5 2.5 2.5 2.5", "4 2.5 1 2.5", "3 2 4 1", "4 1 2 3", "3 1 4 2",
)  # fmt: skip
# Its Table 5 (a): critical values of the two-tailed Nemenyi test at 0.05 for 2 to 10 classifiers.
CRITICAL = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def test_the_papers_example() -> None:
    rankings = [[[float(rank) for rank in row.split()]] for row in DEMSAR]
    found = friedman(make_ranks(rankings))
    assert [round(mean, 3) for mean in found.mean_ranks] == [3.143, 2.000, 2.893, 1.964]
    # The paper does not correct for ties: three pairs and one four, of 14 rankings of four.
    assert found.statistic * (1 - (3 * 6 + 60) / (14 * 60)) == pytest.approx(9.28, abs=0.005)
    assert found.degrees_of_freedom == 3
    assert round(found.critical_difference, 2) == 1.25
    assert round(friedman(make_ranks(rankings), level=0.9).critical_difference, 2) == 1.12
    # "Even the difference between the best and the worst is smaller", though not at 0.10.
    assert 0.05 < min(pair.p_value for pair in found.pairs) < 0.10


def test_differences_are_of_mean_ranks() -> None:
    rankings = [[[float(rank) for rank in row.split()]] for row in DEMSAR]
    table = np.array([of_block[0] for of_block in rankings])
    for pair in friedman(make_ranks(rankings)).pairs:
        difference = table[:, pair.system_2] - table[:, pair.system_1]
        assert pair.difference == pytest.approx(difference.mean())


def test_the_critical_values_as_printed() -> None:
    for k, printed in enumerate(CRITICAL, 2):
        rankings = [[np.random.default_rng(seed).permutation(k) + 1.0] for seed in range(14)]
        found = friedman(make_ranks(rankings))
        assert found.critical_difference == pytest.approx(printed * np.sqrt(k * (k + 1) / (6 * 14)), rel=4e-4)


@given(st.integers(0, 2**16), st.integers(3, 5), st.integers(2, 6))
def test_against_scipy(seed, k, levels) -> None:
    rankings = random_rankings(np.random.default_rng(seed), 6, 2, k, levels)
    table = np.array([ranking for of_item in rankings for ranking in of_item])
    found = friedman(make_ranks(rankings))
    assert found.n == 12
    if np.ptp(table, axis=1).max() == 0:
        assert "nothing to test" in found.undefined
        return
    expected = stats.friedmanchisquare(*table.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.w == pytest.approx(float(kendalls_w(table)))
    assert found.mean_ranks == pytest.approx(table.mean(axis=0))


def test_two_systems_of_one_mind() -> None:
    found = friedman(make_ranks([[[1, 2]] * 2] * 5))
    assert (found.statistic, found.w, found.mean_ranks) == (10, 1, (1, 2))
    (pair,) = found.pairs
    assert (pair.system_1, pair.system_2, pair.difference) == (0, 1, 1)
    # With two systems the studentized range is a normal deviate times the root of two.
    assert pair.p_value == pytest.approx(2 * stats.norm.sf(np.sqrt(10)))


def test_rankings_without_every_system_are_left_out() -> None:
    found = friedman(make_ranks([[[1, 2, 3], [2, 1, 3]], [[1, 2, 0]], [[1, 3, 2]]]))
    assert (found.n, found.systems) == (3, (0, 1, 2))
    assert found.left_out == (LeftOut(NOT_EVERY_SYSTEM, 1),)
    assert found.statistic == pytest.approx(friedman_statistic(np.array([[1, 2, 3], [2, 1, 3], [1, 3, 2.0]])))


def test_over_queries_each_counts_once() -> None:
    # Query 0 is ranked four times and always alike, the others once.
    rankings = [[[1, 2, 3]] * 4, [[2, 1, 3]], [[3, 2, 1]]]
    over_judgments, over_queries = (friedman(make_ranks(rankings), unit=u) for u in ("judgments", "queries"))
    assert (over_judgments.n, over_queries.n) == (6, 3)
    assert over_queries.mean_ranks == pytest.approx((2, 5 / 3, 7 / 3))
    # Within a query, systems are ranked by their mean ranks: 1.5, 1.5 and 3 make two equals.
    tied = friedman(make_ranks([[[1, 2, 3], [2, 1, 3]], [[1, 2, 3]]]), unit="queries")
    assert tied.mean_ranks == pytest.approx((1.25, 1.75, 3))


@pytest.mark.parametrize(
    ("rankings", "reason"),
    [
        ([], "two systems"),
        ([[[1, 2]]], "two rankings"),
        ([[[1, 2, 0]], [[0, 1, 2]]], "two rankings"),
        ([[[1.5, 1.5]], [[1.5, 1.5]]], "nothing to test"),
    ],
)
def test_undefined_says_why(rankings, reason) -> None:
    found = friedman(make_ranks(rankings))
    assert reason in found.undefined
    assert (found.statistic, found.p_value, found.critical_difference, found.pairs) == (None, None, None, ())


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="over judgments or over queries"):
        friedman(make_ranks([[[1, 2]]]), unit="items")

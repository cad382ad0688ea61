import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import Estimate, TidyDataError, undefined
from analytics.statistics.leaderboards.correlation import (
    FEW_SYSTEMS,
    NO_INTERVAL,
    NO_VARIATION,
    leaderboard_correlation,
)
from analytics.statistics.leaderboards.leaderboard import interval_ranks, leaderboard, places
from analytics.statistics.leaderboards.scores import splits_of, system_scores
from analytics.statistics.preferences.win_rates import item_scores, win_rates_against, win_rates_overall
from tests.analytics.statistics.build import make_items, make_judgments, spec

SYSTEMS = ("a", "b", "c", "base")


def study(seed=1, queries=30, baseline=True):
    """Every query has an item of each system against the baseline, or of each two systems."""
    rng = np.random.default_rng(seed)
    pairs = [(name, "base") for name in "abc"] if baseline else [("a", "b"), ("a", "c"), ("b", "c")]
    rows = [(f"q{q}", tuple(sorted(pair))) for q in range(queries) for pair in pairs]
    items = make_items([query for query, _ in rows], systems=[pair for _, pair in rows])
    labels = [rng.integers(0, 3, rng.integers(0, 4)).tolist() for _ in rows]
    return items, make_judgments(labels)


def scores_of(items, judgments, baseline=""):
    return system_scores(items, item_scores(judgments, len(items)), baseline)


def estimate(value, low, high):
    return Estimate(value, low, high, 10, "items")


@pytest.mark.parametrize("baseline", [True, False])
def test_rates_are_those_of_win_rates(baseline):
    items, judgments = study(baseline=baseline)
    found = {
        each.system: each.rate
        for each in leaderboard(scores_of(items, judgments, "base" if baseline else ""), resample=spec())
    }
    rates = (
        win_rates_against(items, judgments, "base", resample=spec())
        if baseline
        else win_rates_overall(items, judgments, resample=spec())
    )
    expected = {rate.system: rate.rate for rate in rates}
    assert found.keys() == expected.keys()
    for system, rate in found.items():
        assert (rate.value, rate.low, rate.high) == pytest.approx(
            (expected[system].value, expected[system].low, expected[system].high)
        )
        assert rate.n == expected[system].n


def test_a_rank_is_one_more_than_the_intervals_that_lie_above():
    rates = [
        estimate(0.9, 0.8, 0.95),
        estimate(0.7, 0.6, 0.82),
        estimate(0.5, 0.4, 0.59),
        estimate(0.5, 0.1, 0.9),
    ]
    assert interval_ranks(rates) == (1, 1, 3, 1)
    assert places(rates) == (1, 2, 3, 3)
    # Without an interval there is nothing to tell from.
    bare = [
        Estimate(0.9, None, None, 1, "items", undefined="one query"),
        undefined("none"),
        estimate(0.2, 0.1, 0.3),
    ]
    assert interval_ranks(bare) == (None, None, 1)
    assert places(bare) == (1, None, 2)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.3)), min_size=1, max_size=8))
def test_a_rank_is_never_behind_the_place(given_rates):
    rates = [estimate(value, value - half, value + half) for value, half in given_rates]
    for rank, place in zip(interval_ranks(rates), places(rates), strict=True):
        assert 1 <= rank <= place


def test_best_first_and_an_undefined_one_last():
    items = make_items(["q1", "q1", "q2", "q2"], systems=[("a", "base"), ("b", "base")] * 2)
    found = leaderboard(scores_of(items, make_judgments([[1], [], [2], []]), "base"), resample=spec())
    assert [(each.system, each.place, each.rank) for each in found] == [("a", 1, 1), ("b", None, None)]
    assert (found[0].rate.value, found[1].rate.left_out[0].n) == (0.25, 2)


def test_scores_by_query_leave_out_queries_that_compare_nobody():
    items = make_items(["q1", "q1", "q2"], systems=[("a", "base"), ("b", "base"), ("a", "base")])
    scores = scores_of(items, make_judgments([[0, 1], [2], [0]]), "base")
    assert scores.by_query()[:, :2].tolist() == [[0.5, 0.5]]
    assert scores.rates()[:2].tolist() == [0.75, 0.5]
    with pytest.raises(TidyDataError):
        system_scores(items, np.zeros((2, 2)))


def test_splits_are_told_where_there_are_several():
    items = make_items(["q1", "q2", "q2"])
    assert splits_of(items) == ()
    both = make_items(["q1", "q2", "q2"])
    object.__setattr__(both, "splits", ("dev", "private"))
    assert [(name, mask.tolist()) for name, mask in splits_of(both)] == [
        ("private", [False, True, True]),
        ("dev", [True, False, False]),
    ]
    object.__setattr__(both, "splits", ("dev", ""))
    assert splits_of(both) == ()


@given(st.integers(0, 10_000), st.integers(3, 12))
def test_correlations_are_scipys(seed, systems):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 6, (2, systems)) / 6
    found = leaderboard_correlation(np.append(one, np.nan), np.append(other, 0.5))
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        assert found.pearson.undefined == NO_VARIATION
        return
    assert found.pearson.value == pytest.approx(scipy.stats.pearsonr(one, other).statistic, abs=1e-9)
    assert found.spearman.value == pytest.approx(scipy.stats.spearmanr(one, other).statistic, abs=1e-9)
    assert found.kendall.value == pytest.approx(scipy.stats.kendalltau(one, other).statistic, abs=1e-9)
    assert (found.kendall.n, found.kendall.low, found.kendall.undefined) == (systems, None, NO_INTERVAL)


def test_few_systems():
    assert (
        leaderboard_correlation(np.array([0.1, 0.2]), np.array([0.1, 0.2])).spearman.undefined == FEW_SYSTEMS
    )
    with pytest.raises(TidyDataError):
        leaderboard_correlation(np.zeros(3), np.zeros(4))

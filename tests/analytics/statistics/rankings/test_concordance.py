from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core.estimates import LeftOut
from analytics.statistics.rankings.concordance import (
    ALL_TIED,
    NO_ORDER,
    NO_TAU,
    ONLY_JUDGE,
    ONLY_PEOPLE,
    OTHER_RESPONSES,
    concordance,
    kendalls_w,
    tau_b,
    tau_with,
    tau_with_others,
    tie_terms,
)
from analytics.statistics.rankings.ranks import FEW_RATERS
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_ranks, random_rankings, slow_mid_ranks


def slow_w(rankings) -> float | None:
    """From the definition: variance of the rank sums over the greatest that rankings with these ties can have."""
    m, k = len(rankings), len(rankings[0])
    sums = [sum(ranking[j] for ranking in rankings) for j in range(k)]
    mean = sum(sums) / k
    s = sum((each - mean) ** 2 for each in sums)
    ties = sum(r.count(rank) ** 3 - r.count(rank) for r in rankings for rank in set(r))
    most = m * m * (k**3 - k) - m * ties
    return 12 * s / most if most else None


def slow_tau(one, other) -> float | None:
    pairs = list(combinations(range(len(one)), 2))
    agree = sum((one[i] - one[j]) * (other[i] - other[j]) > 0 for i, j in pairs)
    differ = sum((one[i] - one[j]) * (other[i] - other[j]) < 0 for i, j in pairs)
    free = [sum(each[i] != each[j] for i, j in pairs) for each in (one, other)]
    return (agree - differ) / (free[0] * free[1]) ** 0.5 if min(free) else None


def test_w_by_hand() -> None:
    # Four raters, three responses: rank sums 5, 8, 11, so S = 18, and W = 12 * 18 / (16 * 24).
    rankings = np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 3, 2.0]])
    assert kendalls_w(rankings) == pytest.approx(216 / 384)
    # Three raters, four responses, ties: sums 3.5, 8.5, 7, 11, S = 29.5; T = (8 - 2) twice = 12.
    tied = np.array([[1, 2.5, 2.5, 4], [1, 3, 2, 4], [1.5, 3, 2.5 - 1, 4]])
    assert tie_terms(tied).tolist() == [6, 0, 6]
    assert kendalls_w(tied) == pytest.approx(
        12 * float(((tied.sum(axis=0) - 7.5) ** 2).sum()) / (9 * 60 - 3 * 12)
    )


# Three people's ratings of twenty others' anxiety, an example of the R packages irr and DescTools.
ANXIETY = [
    [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
    [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
    [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
]


def test_published_w() -> None:
    # Siegel, Nonparametric Statistics (1956), chapter 9: three executives rank six applicants; W = .16.
    ranked = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1.0]])
    assert kendalls_w(ranked) == pytest.approx(0.16, abs=5e-3)
    # Corrected for ties, as DescTools's KendallW prints it.
    tied = np.array([slow_mid_ranks(each) for each in ANXIETY])
    assert kendalls_w(tied) == pytest.approx(0.5396569, abs=5e-8)


def test_published_tau() -> None:
    # Hollander and Wolfe (1973), page 187, an example of R's cor.test, too: lightness and quality of nine lots of tuna.
    lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    quality = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    assert tau_b(np.array(lightness), np.array(quality)) == pytest.approx(0.4444444, abs=5e-8)
    # With ties, from the documentation of scipy's kendalltau.
    one, other = np.array([12.0, 2, 1, 12, 2]), np.array([1.0, 4, 7, 1, 0])
    assert tau_b(one, other) == pytest.approx(-0.47140452079103173)


def test_w_is_the_mean_rank_correlation_moved_to_the_unit_interval() -> None:
    # Without ties, the mean of Spearman's rho over all pairs of raters is (m W - 1) / (m - 1).
    rankings = [np.random.default_rng(k).permutation(6) + 1.0 for k in range(5)]
    rhos = [stats.spearmanr(one, other).statistic for one, other in combinations(rankings, 2)]
    w = float(kendalls_w(np.array(rankings)))
    assert np.mean(rhos) == pytest.approx((5 * w - 1) / 4)


@given(st.integers(0, 2**16), st.integers(1, 6), st.integers(2, 5), st.integers(2, 4))
def test_against_the_definitions(seed, levels, k, m) -> None:
    rankings = random_rankings(np.random.default_rng(seed), 5, m, k, levels)
    found = concordance(make_ranks(rankings), resample=spec(0))
    ws = [w for w in map(slow_w, rankings) if w is not None]
    taus = [
        [t for t in (slow_tau(*pair) for pair in combinations(of, 2)) if t is not None] for of in rankings
    ]
    means = [float(np.mean(of_item)) for of_item in taus if of_item]
    assert (found.w.n, found.tau.n) == (len(ws), len(means))
    assert found.w.left_out == ((LeftOut(ALL_TIED, 5 - len(ws)),) if len(ws) < 5 else ())
    assert found.tau.left_out == ((LeftOut(NO_TAU, 5 - len(means)),) if len(means) < 5 else ())
    assert found.n_judgments == m * len(ws)
    if ws:
        assert found.w.value == pytest.approx(np.mean(ws))
        assert -1e-12 <= found.w.value <= 1 + 1e-12
    if means:
        assert found.tau.value == pytest.approx(np.mean(means))


@given(st.integers(0, 2**16), st.integers(2, 6))
def test_tau_against_scipy(seed, levels) -> None:
    rng = np.random.default_rng(seed)
    one, other = (slow_mid_ranks(rng.integers(0, levels, 5).tolist()) for _ in range(2))
    expected = stats.kendalltau(one, other).statistic
    assert float(tau_b(np.array(one), np.array(other))) == pytest.approx(expected, nan_ok=True)


@given(st.integers(0, 2**16), st.permutations(range(3)), st.permutations(range(4)))
def test_what_concordance_does_not_depend_on(seed, raters, responses) -> None:
    rankings = random_rankings(np.random.default_rng(seed), 4, 3, 4, 5)
    one = concordance(make_ranks(rankings), resample=spec(0))
    turned = [[[of[rater][response] for response in responses] for rater in raters] for of in rankings]
    other = concordance(make_ranks(turned), resample=spec(0))
    assert (other.w.value, other.tau.value) == pytest.approx((one.w.value, one.tau.value))
    doubled = concordance(make_ranks(rankings * 2), resample=spec(0))
    assert (doubled.w.value, doubled.tau.value) == pytest.approx((one.w.value, one.tau.value))


def test_raters_of_one_mind() -> None:
    found = concordance(make_ranks([[[1, 2, 3]] * 3, [[2, 1]] * 2]), resample=spec())
    assert (found.w.value, found.tau.value) == (1, 1)
    assert "Wilson" in found.w.method
    assert found.w.low < 1
    assert [(each.n_responses, each.w.value, each.w.n) for each in found.by_size] == [(2, 1, 1), (3, 1, 1)]
    opposed = concordance(make_ranks([[[1, 2, 3], [3, 2, 1]]]), resample=spec())
    assert (opposed.w.value, opposed.tau.value) == (0, -1)


def test_intervals_are_over_queries() -> None:
    rankings = random_rankings(np.random.default_rng(5), 60, 3, 4, 99)
    found = concordance(make_ranks(rankings, query=[k // 2 for k in range(60)]), resample=spec())
    assert "30 queries" in found.w.method
    assert found.w.low < found.w.value < found.w.high
    assert found.chance_w == pytest.approx(1 / 3)
    assert found.w.low < found.chance_w < found.w.high  # these raters ranked at random
    assert abs(found.tau.value) < 0.2


def test_no_items_to_compare_are_undefined() -> None:
    found = concordance(make_ranks([[[1, 2]], [[1.5, 1.5], [1.5, 1.5]]]), resample=spec())
    assert "two raters" in found.w.undefined
    assert found.w.left_out == (LeftOut(FEW_RATERS, 1), LeftOut(ALL_TIED, 1))
    assert (found.by_size, found.n_judgments, found.chance_w) == ((), 0, None)


def test_a_judge_against_peoples_mean_ranks() -> None:
    people = make_ranks(
        [
            [[1, 2, 3], [2, 1, 3]],  # the means of the first two are equal
            [[1, 2, 3]],
            [[1, 2, 0]],
            [[1, 2], [2, 1]],  # equal throughout
            [[1, 2]],
            [[1, 2, 3], [1, 2, 0]],  # not all people ranked the same
            [],
            [[1, 2, 0]],  # as many as the judge, but others
        ]
    )
    judge = make_ranks(
        [[[1, 2, 3]], [[3, 2, 1]], [[1, 2, 3]], [[1, 2]], [], [[1, 2, 3]], [[1, 2]], [[1, 0, 2]]]
    )
    found = tau_with(people, judge, resample=spec())
    assert found.value == pytest.approx((2 / np.sqrt(2 * 3) - 1) / 2)
    assert found.n == 2
    assert {part.reason: part.n for part in found.left_out} == {
        ONLY_PEOPLE: 1,
        ONLY_JUDGE: 1,
        OTHER_RESPONSES: 3,
        NO_ORDER: 1,
    }
    assert "both groups" in tau_with(people, make_ranks([]), resample=spec()).undefined


@given(st.integers(0, 2**16), st.integers(2, 6))
def test_a_judge_against_people_one_by_one(seed, levels) -> None:
    rng = np.random.default_rng(seed)
    people = random_rankings(rng, 4, 3, 3, levels) + random_rankings(rng, 4, 2, 4, levels)
    judge = random_rankings(rng, 4, 1, 3, levels) + random_rankings(rng, 4, 1, 4, levels)
    order = rng.permutation(8)
    people, judge = ([of[k] for k in order] for of in (people, judge))
    found = tau_with(make_ranks(people), make_ranks(judge), resample=spec(0))
    means = [np.round(np.mean(of_item, axis=0), 9).tolist() for of_item in people]
    taus = [slow_tau(mean, of_judge[0]) for mean, of_judge in zip(means, judge, strict=True)]
    defined = [tau for tau in taus if tau is not None]
    assert found.n == len(defined)
    assert found.value == (pytest.approx(np.mean(defined)) if defined else None)
    swapped = tau_with(make_ranks(judge), make_ranks(people), resample=spec(0))
    assert swapped.value == (pytest.approx(found.value) if defined else None)


@given(st.integers(0, 2**16), st.integers(1, 6), st.integers(1, 4), st.integers(2, 4), st.integers(1, 5))
def test_each_ranking_beside_the_others_of_its_item(seed, n_items, n_raters, k, levels) -> None:
    rankings = random_rankings(np.random.default_rng(seed), n_items, n_raters, k, levels)
    wanted = []
    for of_item in rankings:
        for at, one in enumerate(of_item):
            taus = [slow_tau(one, other) for place, other in enumerate(of_item) if place != at]
            defined = [tau for tau in taus if tau is not None]
            wanted.append(np.mean(defined) if defined else np.nan)
    found = tau_with_others(make_ranks(rankings))
    assert found == pytest.approx(np.array(wanted, dtype=np.float64), nan_ok=True)

from itertools import combinations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.statistics.leaderboards.sample_sizes import DRAWS, p_against_n, paired_p_values
from tests.analytics.statistics.build import spec


@given(st.integers(0, 10_000), st.integers(3, 30), st.integers(2, 5))
def test_p_values_are_scipys(seed, n, systems):
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.0, 0.5, 1.0, np.nan], (n, systems), p=[0.3, 0.3, 0.3, 0.1])
    found = paired_p_values(scores)
    for p, (i, j) in zip(found, np.transpose(np.triu_indices(systems, 1)), strict=True):
        both = np.isfinite(scores[:, i]) & np.isfinite(scores[:, j])
        gap = scores[both, i] - scores[both, j]
        if len(gap) < 2:
            assert np.isnan(p)
        elif np.ptp(gap) == 0:
            assert p == (1 if gap[0] == 0 else 0)
        else:
            assert p == pytest.approx(
                scipy.stats.ttest_rel(scores[both, i], scores[both, j]).pvalue, abs=1e-9
            )


def test_more_queries_tell_more_pairs_apart():
    rng = np.random.default_rng(2)
    scores = (rng.random((1500, 6)) < np.linspace(0.35, 0.65, 6)).astype(float)
    found = p_against_n(scores, resample=spec())
    assert [point.n for point in found.points] == [10, 20, 50, 100, 200, 500, 1000, 1500]
    assert [point.draws for point in found.points] == [DRAWS] * 7 + [1]
    assert {point.pairs for point in found.points} == {15}
    means = [point.mean for point in found.points]
    assert means == sorted(means, reverse=True)
    for point in found.points:
        assert point.quantile_80 <= point.quantile_90
    last = found.points[-1]
    p = paired_p_values(scores)
    assert (last.mean, last.told_apart) == (pytest.approx(p.mean()), pytest.approx((p < 0.05).mean()))
    assert last.quantile_90 == pytest.approx(np.quantile(p, 0.9, method="inverted_cdf"))
    # Neighbours are 6 points apart, for which half a thousand queries are too few and a thousand enough.
    assert found.enough_80 <= found.enough_90
    assert (found.enough_80, found.systems, found.queries) == (1000, 6, 1500)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10_000), st.integers(10, 24), st.integers(3, 4), st.randoms())
def test_p_against_n_one_sample_and_one_pair_at_a_time(seed, n, systems, random):
    """The slow twin, of samples drawn by the same seed; the order of the systems is of no account."""
    scores = np.random.default_rng(seed).normal(np.linspace(0, 1, systems), size=(n, systems))
    found = p_against_n(scores, resample=spec())
    rng = spec().rng("p against n")
    for point, size in zip(found.points, sorted({size for size in (10, 20) if size < n} | {n}), strict=True):
        rows = [range(n)] if size == n else [rng.choice(n, size, replace=False) for _ in range(DRAWS)]
        p = [
            np.mean([scipy.stats.ttest_rel(scores[each, i], scores[each, j]).pvalue for each in rows])
            for i, j in combinations(range(systems), 2)
        ]
        assert (point.n, point.draws, point.pairs) == (size, len(rows), len(p))
        assert point.mean == pytest.approx(np.mean(p))
        # The least p that so large a share of pairs does not exceed.
        for share, quantile in ((0.8, point.quantile_80), (0.9, point.quantile_90)):
            least = min(each for each in p if sum(other <= each for other in p) >= share * len(p) - 1e-9)
            assert quantile == pytest.approx(least)
        assert point.told_apart == pytest.approx(sum(each < 0.05 for each in p) / len(p))
    last = found.points[-1]
    assert (found.enough_80 is not None) == (last.quantile_80 < 0.05)
    turned = p_against_n(scores[:, random.sample(range(systems), systems)], resample=spec())
    assert [point.mean for point in turned.points] == pytest.approx([point.mean for point in found.points])


def test_systems_that_are_alike_are_not_told_apart():
    rng = np.random.default_rng(3)
    found = p_against_n((rng.random((300, 5)) < 0.5).astype(float), resample=spec())
    assert (found.enough_80, found.enough_90) == (None, None)
    assert 0.3 < found.points[0].mean < 0.7


def test_the_same_seed_draws_the_same_and_others_are_near():
    scores = (np.random.default_rng(4).random((200, 4)) < np.linspace(0.2, 0.8, 4)).astype(float)
    assert p_against_n(scores, resample=spec()) == p_against_n(scores, resample=spec())
    one, other = p_against_n(scores, resample=spec()), p_against_n(scores, resample=spec(seed=8))
    assert one.points[0].mean == pytest.approx(other.points[0].mean, abs=0.05)


def test_too_little_to_draw_from():
    assert p_against_n(np.ones((9, 4)), resample=spec()) is None
    assert p_against_n(np.ones((30, 2)), resample=spec()) is None
    assert p_against_n(np.column_stack([np.ones((30, 2)), np.full(30, np.nan)]), resample=spec()) is None
    alike = p_against_n(np.ones((30, 3)), resample=spec())
    assert {point.mean for point in alike.points} == {1.0}

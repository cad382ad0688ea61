import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.rankings.scores_vs_ranks import ALL_EQUAL, NOTHING, ONE_RESPONSE, scores_vs_ranks
from tests.analytics.statistics.build import spec


def compared(scores, ranks):
    """Of tables by query and system, None where a query lacks one."""
    rows = [
        (scores[q][s], ranks[q][s], s, q)
        for q in range(len(scores))
        for s in range(len(scores[q]))
        if scores[q][s] is not None
    ]
    score, rank, system, query = (np.array(column) for column in zip(*rows, strict=True))
    return scores_vs_ranks(score.astype(float), rank.astype(float), system, query, resample=spec())


def test_the_same_and_the_opposite_order():
    ranks = [[1, 2, 3], [3, 1, 2], [2, 3, 1]]
    same = compared([[9, 5, 1], [2, 8, 4], [3, 1, 7]], ranks)
    assert (same.tau.value, same.linear.value, same.quadratic.value) == (1, 1, 1)
    opposite = compared(ranks, ranks)
    assert opposite.tau.value == -1
    assert opposite.quadratic.value == pytest.approx(-1)


@given(st.integers(0, 10_000))
def test_against_libraries_query_by_query(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(8, 4))
    ranks = np.argsort(np.argsort(rng.normal(size=(8, 4)), axis=1), axis=1) + 1
    found = compared(scores.tolist(), ranks.tolist())
    taus = [scipy.stats.kendalltau(-one, two).statistic for one, two in zip(scores, ranks, strict=True)]
    assert found.tau.value == pytest.approx(np.mean(taus))
    places = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(places.ravel(), ranks.ravel(), weights=weights)
        assert getattr(found, weights).value == pytest.approx(expected)
    means = scipy.stats.kendalltau(scores.mean(axis=0), -ranks.mean(axis=0)).statistic
    assert found.of_systems is None if np.isnan(means) else found.of_systems == pytest.approx(means)
    # Only the order of the scores within a query matters to tau and to kappa.
    stretched = compared((np.exp(scores) * 3).tolist(), ranks.tolist())
    assert stretched.tau.value == pytest.approx(found.tau.value)
    assert stretched.linear.value == pytest.approx(found.linear.value)


def test_what_can_not_be_compared_is_counted():
    found = compared([[5, None, None], [2, 2, 2], [1, 2, 3]], [[1, 0, 0], [1, 2, 3], [3, 2, 1]])
    assert (found.tau.value, found.tau.n) == (1, 1)
    assert found.tau.left_out == (LeftOut(ONE_RESPONSE, 1), LeftOut(ALL_EQUAL, 1))
    assert found.linear.n == 6


def test_undefined_says_why():
    found = compared([[5, None]], [[1, 0]])
    assert found.tau.undefined == found.linear.undefined == NOTHING
    assert found.of_systems is None
    with pytest.raises(TidyDataError, match="every row"):
        scores_vs_ranks(np.ones(2), np.ones(1), np.ones(2, int), np.ones(2, int), resample=spec())

"""nDCG: a published example, the same figure by scikit-learn, and what is undefined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.rankings.ndcg import mean_ndcg, ndcg

# Wikipedia, "Discounted cumulative gain": six documents as a system ranked them, two more that it did not find.
RANKED = ["d1", "d2", "d3", "d4", "d5", "d6"]
GRADES = {"d1": 3, "d2": 2, "d3": 3, "d4": 0, "d5": 1, "d6": 2, "d7": 3, "d8": 2}
SPEC = ResampleSpec(seed=1, replicates=200)


def test_the_published_example():
    assert ndcg(RANKED, GRADES, 6) == pytest.approx(6.861 / 8.740, abs=2e-4)


@given(grades=st.lists(st.integers(0, 3), min_size=2, max_size=8), k=st.integers(1, 10), data=st.data())
def test_it_is_scikit_learns(grades, k, data):
    order = data.draw(st.permutations(range(len(grades))))
    relevance = {str(document): float(grade) for document, grade in enumerate(grades)}
    found = ndcg([str(document) for document in order], relevance, k)
    if not any(grades):
        assert found is None
        return
    scores = np.zeros(len(grades))
    scores[list(order)] = np.arange(len(grades), 0, -1)
    assert found == pytest.approx(ndcg_score([grades], [scores], k=k))


def test_the_best_order_is_1_and_what_nobody_judged_gains_nothing():
    assert ndcg(["a", "b"], {"a": 2, "b": 1}, 5) == 1
    assert ndcg(["x", "a"], {"a": 1}, 1) == 0
    assert ndcg(["a", "a", "b"], {"a": 1, "b": 1}, 2) == 1
    assert ndcg([], {"a": 1}, 5) == 0
    assert ndcg(["b", "a"], {"a": 1, "b": -2}, 1) == 0
    assert ndcg(["a"], {"a": 0}, 1) is None
    with pytest.raises(ParameterError):
        ndcg(["a"], {"a": 1}, 0)


def test_the_mean_is_over_topics_that_have_something_relevant():
    relevance = {"t1": {"a": 1.0}, "t2": {"b": 1.0, "c": 1.0}, "t3": {"a": 0.0}}
    rankings = [("t1", ["a"]), ("t2", ["x", "b"]), ("t3", ["a"]), ("t4", ["a"])]
    found = mean_ndcg(rankings, relevance, 1, resample=SPEC)
    assert (found.value, found.n) == (0.5, 2)
    assert {each.reason: each.n for each in found.left_out} == {
        "topics without judgments of relevance": 1,
        "topics of which no document is relevant": 1,
    }
    none = mean_ndcg([("t4", ["a"])], relevance, 1, resample=SPEC)
    assert none.value is None
    assert "No topic" in none.undefined

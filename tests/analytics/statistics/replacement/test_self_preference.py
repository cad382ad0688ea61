import numpy as np
import pytest

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.replacement.difference import SharedScores
from analytics.statistics.replacement.self_preference import own_contrasts, own_scores

NONE = np.nan


def scores(people, judge, query):
    columns = (np.asarray(each, dtype=float) for each in (people, judge))
    return SharedScores(*columns, np.asarray(query), np.zeros(len(query), dtype=int))


def test_by_hand():
    """A judge that gives one point more to all, and two more to its own; the third query has none of its own."""
    both = scores([1, 2, 3, 3, 2, NONE, 2], [4, 3, 4, 6, 3, 1, 4], [7, 7, 7, 8, 8, 8, 9])
    own = np.array([True, False, False, True, False, False, False])
    people, judge, queries = own_contrasts(both, own)
    assert queries.tolist() == [7, 8, 9]
    np.testing.assert_allclose(people, [1 - 2.5, 3 - 2, NONE])
    np.testing.assert_allclose(judge - people, [2, 2, NONE])


def test_against_every_query_by_itself():
    rng = np.random.default_rng(1)
    both = scores(
        rng.random(80), np.where(rng.random(80) < 0.1, NONE, rng.random(80)), rng.integers(0, 9, 80)
    )
    own = rng.random(80) < 0.4
    people, judge, queries = own_contrasts(both, own)
    for at, query in enumerate(queries):
        rows = (both.query == query) & np.isfinite(both.judge)
        for found, column in ((people, both.people), (judge, both.judge)):
            assert found[at] == pytest.approx(column[rows & own].mean() - column[rows & ~own].mean())


def test_the_own_one_of_two_responses():
    first = np.array([1.0, 1.0, 0.5, 0.25])
    own = own_scores(first, np.array([True, False, True, False]), np.array([False, True, True, False]))
    np.testing.assert_array_equal(own, [1, 0, NONE, NONE])


def test_a_mark_for_each_unit():
    with pytest.raises(TidyDataError, match="own systems"):
        own_contrasts(scores([1], [1], [0]), np.array([True, False]))

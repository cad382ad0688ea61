import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@st.composite
def judged(draw):
    """Scores of 0 to 4 in four queries, some of them missing, and which of them are of the judge's own."""
    n = draw(st.integers(1, 25))
    points = st.one_of(st.just(NONE), st.integers(0, 4).map(float))
    people, judge = (draw(st.lists(points, min_size=n, max_size=n)) for _ in range(2))
    query = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return scores(people, judge, query), np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))


@given(judged(), st.integers(-3, 3))
def test_leniency_towards_all_changes_nothing(given_, by):
    both, own = given_
    people, judge, _ = own_contrasts(both, own)
    lenient = scores(both.people, both.judge + by, both.query)
    again, raised, _ = own_contrasts(lenient, own)
    np.testing.assert_allclose(again, people)
    np.testing.assert_allclose(raised, judge)
    assert np.array_equal(np.isnan(people), np.isnan(judge))
    assert all(-4 <= each <= 4 for column in (people, judge) for each in column[np.isfinite(column)])


@given(judged(), st.randoms(use_true_random=False))
def test_the_others_favour_is_the_opposite_in_any_order(given_, random):
    both, own = given_
    order = np.array(random.sample(range(len(own)), len(own)))
    mixed = scores(both.people[order], both.judge[order], both.query[order])
    people, judge, queries = own_contrasts(both, own)
    of_others = own_contrasts(mixed, ~own[order])
    np.testing.assert_allclose(of_others[0], -people)
    np.testing.assert_allclose(of_others[1], -judge)
    assert of_others[2].tolist() == queries.tolist()


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_the_own_one_has_the_same_score_on_either_side(rows):
    first, own_first, own_second = (np.array(column) for column in zip(*rows, strict=True))
    found = own_scores(first, own_first, own_second)
    np.testing.assert_allclose(own_scores(1 - first, own_second, own_first), found, atol=1e-12)
    assert np.array_equal(np.isnan(found), own_first == own_second)
    # What one system gains the other loses.
    np.testing.assert_allclose(own_scores(first, own_second, own_first), 1 - found, atol=1e-12)

"""The decision tree from aspects to an overall rating, held against scikit-learn row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from analytics.statistics.aspects.tree import NO_LEVELS, aspect_tree, weighted_r
from analytics.statistics.core.estimates import TidyDataError

POINTS = (0.0, 1.0, 2.0, 3.0)


def made(n_queries=50, per_query=6, seed=1):
    drawn = np.random.default_rng(seed)
    n = n_queries * per_query
    ratings = np.column_stack([drawn.integers(0, 4, n), drawn.integers(-1, 2, n)]).astype(float)
    overall = np.clip(
        ratings[:, 0] - (ratings[:, 1] != 0) + drawn.integers(-1, 2, n) * (drawn.random(n) < 0.2), 0, 3
    )
    return ratings, overall, np.repeat(np.arange(n_queries), per_query)


def test_it_is_the_tree_of_the_single_rows():
    ratings, overall, query = made()
    found = aspect_tree(ratings, overall, query, points=POINTS, seed=0)
    slow = DecisionTreeClassifier(max_depth=3, random_state=0).fit(ratings, overall)
    assert found.importances == pytest.approx(slow.feature_importances_)
    assert sum(found.importances) == pytest.approx(1)
    assert len(found.nodes) == slow.tree_.node_count
    assert [node.threshold for node in found.nodes if node.aspect is not None] == pytest.approx(
        [each for each, feature in zip(slow.tree_.threshold, slow.tree_.feature, strict=True) if feature >= 0]
    )
    assert found.levels == POINTS
    assert found.n == 300


def test_nodes_hold_the_ratings_that_arrive():
    ratings, overall, query = made()
    found = aspect_tree(ratings, overall, query, points=POINTS, seed=0)
    root = found.nodes[0]
    assert root.counts == tuple(np.bincount(overall.astype(int), minlength=4))
    for node in found.nodes:
        if node.aspect is None:
            assert node.low is node.high is node.threshold is None
            continue
        low, high = found.nodes[node.low], found.nodes[node.high]
        assert tuple(a + b for a, b in zip(low.counts, high.counts, strict=True)) == node.counts
        assert low.depth == high.depth == node.depth + 1 <= 3
    arriving = ratings[:, root.aspect] <= root.threshold
    assert sum(found.nodes[root.low].counts) == arriving.sum()


def test_the_two_ends_of_a_scale_are_told_apart():
    """Too little is bad and too much is not: distances from the middle would be blind to that."""
    amount = np.tile([-1.0, 0.0, 1.0], 40)
    overall = np.where(amount < 0, 0.0, 3.0)
    found = aspect_tree(amount[:, None], overall, np.repeat(np.arange(40), 3), points=POINTS, seed=0)
    assert found.held_out.mean == pytest.approx(1)
    assert found.held_out.n == 20
    assert len(found.nodes) == 3


def test_what_is_given_between_points_goes_to_the_nearest():
    ratings, overall, query = made()
    found = aspect_tree(ratings, overall + 0.2, query, points=POINTS, seed=0)
    assert found.importances == aspect_tree(ratings, overall, query, points=POINTS, seed=0).importances


def test_nothing_to_tell_apart_is_refused():
    ratings, _, query = made()
    with pytest.raises(TidyDataError, match=NO_LEVELS):
        aspect_tree(ratings, np.full(len(query), 2.0), query, points=POINTS, seed=0)
    with pytest.raises(TidyDataError, match="at least 5 queries"):
        aspect_tree(ratings, made()[1], query % 3, points=POINTS, seed=0)


def test_weighted_correlation():
    one, other = np.array([0.0, 1.0, 3.0]), np.array([1.0, 1.0, 2.0])
    weight = np.array([2.0, 1.0, 3.0])
    rows = np.repeat(np.arange(3), [2, 1, 3])
    assert weighted_r(one, other, weight) == pytest.approx(np.corrcoef(one[rows], other[rows])[0, 1])
    assert weighted_r(one, other, np.array([1.0, 1.0, 0.0])) is None


@st.composite
def rated(draw):
    """Ratings of two aspects and overall in eight queries, which are not all the same."""
    n = draw(st.integers(8, 30))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=n, max_size=n))
    table = np.array(rows, dtype=float)
    table[0, 2], table[1, 2] = 0, 3
    return table[:, :2], table[:, 2], np.arange(n) % 8


# Twenty trees are fitted for each.
few = settings(max_examples=settings.default.max_examples // 2)


@few
@given(rated())
def test_every_rating_arrives_in_one_leaf(ratings):
    given_, overall, query = ratings
    found = aspect_tree(given_, overall, query, points=POINTS, seed=0)
    leaves = [node for node in found.nodes if node.aspect is None]
    assert sum(sum(leaf.counts) for leaf in leaves) == found.n == len(query)
    assert np.sum([leaf.counts for leaf in leaves], axis=0).tolist() == list(found.nodes[0].counts)
    assert max(node.depth for node in found.nodes) <= 3
    assert all(0 <= each <= 1 for each in found.importances)
    assert sum(found.importances) == pytest.approx(1 if len(found.nodes) > 1 else 0)


@few
@given(rated(), st.sampled_from((0.5, 2.0, 8.0)), st.integers(-8, 8), st.randoms(use_true_random=False))
def test_a_tree_goes_by_the_order_of_ratings_and_not_by_that_of_rows(ratings, times, plus, random):
    given_, overall, query = ratings
    order = np.array(random.sample(range(len(query)), len(query)))
    one = aspect_tree(given_, overall, query, points=POINTS, seed=0)
    other = aspect_tree(times * given_[order] + plus, overall[order], 7 * query[order], points=POINTS, seed=0)
    assert other.importances == pytest.approx(one.importances)
    assert other.held_out == one.held_out
    assert [(node.counts, node.aspect, node.depth) for node in other.nodes] == [
        (node.counts, node.aspect, node.depth) for node in one.nodes
    ]

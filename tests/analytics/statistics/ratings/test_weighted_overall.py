"""The overall rating as a weighted sum of the aspects' distances from their ideals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.ratings.weighted_overall import (
    distance_from_ideal,
    least_squares_weights,
    weighted_overall,
)

# Of formality, amount of information and factuality, as the paper found them (section 4.2).
PUBLISHED = np.array([0.335, 0.739, 2.048])


def made(n_queries=60, per_query=4, noise=0.0, seed=1):
    drawn = np.random.default_rng(seed)
    distances = drawn.integers(0, 4, (n_queries * per_query, 3)) / 3
    overall = 3 - distances @ PUBLISHED + noise * drawn.standard_normal(len(distances))
    return distances, overall, np.repeat(np.arange(n_queries), per_query)


def slow_weights(distances, shortfall):
    """The normal equations, by Cramer's rule."""
    square, target = distances.T @ distances, distances.T @ shortfall
    return [
        np.linalg.det(np.column_stack([*square.T[:place], target, *square.T[place + 1 :]]))
        / np.linalg.det(square)
        for place in range(len(target))
    ]


def test_weights_that_made_the_ratings_are_found_again():
    found = weighted_overall(*made(), ideal=3, seed=0)
    assert found.weights == pytest.approx(PUBLISHED)
    assert found.fold_weights == pytest.approx(np.tile(PUBLISHED, (5, 1)))
    assert found.fitted == pytest.approx(made()[1])
    assert found.predicted == pytest.approx(made()[1])
    assert found.n_queries == 60


def test_a_worst_answer_scores_what_the_weights_leave():
    """By the paper's weights: 3 - 0.335 - 0.739 - 2.048."""
    distances, overall, query = made()
    worst = (distances == 1).all(axis=1)
    assert worst.any()
    assert weighted_overall(distances, overall, query, ideal=3, seed=0).fitted[worst] == pytest.approx(-0.122)


@given(st.integers(0, 1000))
def test_the_normal_equations_give_the_same(seed):
    distances, overall, query = made(n_queries=12, noise=0.7, seed=seed)
    found = weighted_overall(distances, overall, query, ideal=3, seed=seed, n_folds=3)
    assert found.weights == pytest.approx(slow_weights(distances, 3 - overall))
    for fold in range(3):
        others = found.fold != fold
        weights = slow_weights(distances[others], 3 - overall[others])
        assert found.predicted[~others] == pytest.approx(3 - distances[~others] @ weights)
    # Least squares: what is left over is orthogonal to every aspect.
    assert distances.T @ (overall - found.fitted) == pytest.approx(0, abs=1e-9)


def test_a_query_is_in_one_fold_and_the_order_of_rows_is_of_no_account():
    distances, overall, query = made(noise=0.5)
    found = weighted_overall(distances, overall, query, ideal=3, seed=4)
    assert all(len(set(found.fold[query == each].tolist())) == 1 for each in range(60))
    order = np.random.default_rng(2).permutation(len(query))
    again = weighted_overall(distances[order], overall[order], query[order], ideal=3, seed=4)
    assert np.array_equal(again.fold, found.fold[order])
    assert again.predicted == pytest.approx(found.predicted[order])


def test_predictions_are_of_ratings_that_were_not_fitted():
    """Ratings of pure noise: in sample they are fitted somewhat, held out they are not."""
    drawn = np.random.default_rng(7)
    predicted = []
    for seed in range(60):
        distances, query = drawn.random((60, 3)), np.repeat(np.arange(30), 2)
        overall = drawn.random(60)
        found = weighted_overall(distances, overall, query, ideal=1, seed=seed)
        predicted.append(np.corrcoef(found.predicted, overall)[0, 1])
    assert np.mean(predicted) < 0.05


@pytest.mark.parametrize(
    ("values", "scale", "distances"),
    [
        ([0, 1, 2, 3], {"ideal": 3, "low": 0, "high": 3}, [1, 2 / 3, 1 / 3, 0]),
        ([-2, 0, 1], {"ideal": 0, "low": -2, "high": 2}, [1, 0, 0.5]),
        ([1, 5], {"ideal": 2, "low": 1, "high": 5}, [1 / 3, 1]),
    ],
)
def test_distances_are_shares_of_the_longest(values, scale, distances):
    assert distance_from_ideal(np.array(values), **scale) == pytest.approx(distances)


def test_what_has_no_distance_is_refused():
    with pytest.raises(ParameterError, match="An ideal lies on a scale"):
        distance_from_ideal(np.array([1]), ideal=4, low=0, high=3)
    for value in (4, np.nan):
        with pytest.raises(TidyDataError, match="from 0 to 3"):
            distance_from_ideal(np.array([value]), ideal=3, low=0, high=3)


@pytest.mark.parametrize(
    ("distances", "sentence"),
    [
        ([[0.5, 0.5]], "2 aspects need at least 2 rated answers; there are 1"),
        ([[0.5, 0.0], [0.2, 0.0], [0.1, 0.0]], "always at its ideal"),
        ([[0.5, 0.25], [0.2, 0.1], [1.0, 0.5]], "combination of the others"),
        (np.empty((3, 0)), "need at least 1"),
    ],
)
def test_weights_that_are_not_determined_are_refused(distances, sentence):
    distances = np.array(distances)
    with pytest.raises(TidyDataError, match=sentence):
        least_squares_weights(distances, np.ones(len(distances)))


def test_arrays_that_do_not_fit_are_refused():
    distances, overall, query = made(n_queries=6)
    with pytest.raises(TidyDataError, match="one row for each answer"):
        weighted_overall(distances, overall[1:], query, ideal=3, seed=0)
    with pytest.raises(TidyDataError, match="not a number"):
        weighted_overall(distances, np.full(24, np.nan), query, ideal=3, seed=0)
    with pytest.raises(TidyDataError, match="7 folds need at least 7 queries; there are 6"):
        weighted_overall(distances, overall, query, ideal=3, seed=0, n_folds=7)

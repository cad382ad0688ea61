"""Weights of aspects with their intervals, held-out figures over splits, and what an aspect adds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.aspects.weights import aspect_weights, over_splits
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.folds import folds_by_query
from analytics.statistics.ratings.weighted_overall import weighted_overall
from evaluation.design import generator
from tests.analytics.statistics.build import spec

TRUE = np.array([0.335, 0.739, 2.048])


def made(n_queries=40, per_query=4, noise=0.5, seed=1):
    drawn = np.random.default_rng(seed)
    distances = drawn.integers(0, 4, (n_queries * per_query, 3)) / 3
    overall = 3 - distances @ TRUE + noise * drawn.standard_normal(len(distances))
    return distances, overall, np.repeat(np.arange(n_queries), per_query)


def weights_of(distances, overall, query, seed=0):
    return aspect_weights(distances, overall, query, ideal=3, seed=seed, resample=spec())


def slow_r_squared(distances, overall, query, split, kept, seed=0):
    """Row by row, by the library's least squares."""
    fold = folds_by_query(query, 5, generator(seed, "weighted overall", "split", split))
    train, test = fold != 0, fold == 0
    weights = np.linalg.lstsq(distances[train][:, kept], 3 - overall[train], rcond=None)[0]
    predicted = 3 - distances[test][:, kept] @ weights
    errors = ((overall[test] - predicted) ** 2).sum()
    return 1 - errors / ((overall[test] - overall[test].mean()) ** 2).sum()


def test_weights_are_those_of_least_squares_with_intervals():
    distances, overall, query = made()
    found = weights_of(distances, overall, query)
    expected = weighted_overall(distances, overall, query, ideal=3, seed=0)
    assert [each.value for each in found.weights] == pytest.approx(expected.weights)
    assert all(each.low < each.value < each.high for each in found.weights)
    assert found.weighted.value == pytest.approx(np.corrcoef(expected.predicted, overall)[0, 1])
    assert found.equal.value == pytest.approx(np.corrcoef(-distances.sum(axis=1), overall)[0, 1])


def test_held_out_correlations_are_those_of_fits_row_by_row():
    distances, overall, query = made(n_queries=12)
    rows = []
    for split in range(20):
        fold = folds_by_query(query, 5, generator(0, "weighted overall", "split", split))
        weights = np.linalg.lstsq(distances[fold != 0], 3 - overall[fold != 0], rcond=None)[0]
        rows.append(np.corrcoef(3 - distances[fold == 0] @ weights, overall[fold == 0])[0, 1])
    found = weights_of(distances, overall, query).held_out
    assert (found.first, found.mean) == pytest.approx((rows[0], np.mean(rows)))
    assert found.standard_deviation == pytest.approx(np.std(rows, ddof=1))
    assert (found.least, found.greatest, found.n) == pytest.approx((min(rows), max(rows), 20))


def test_without_variation_no_split_has_a_correlation():
    distances, overall, query = made()
    found = weights_of(distances, np.full(len(overall), 2.0), query)
    assert (found.held_out.n, found.r_squared.n) == (0, 0)
    assert found.weighted.undefined


def test_an_interval_is_that_of_leaving_out_each_query():
    distances, overall, query = made(n_queries=12)
    found = weights_of(distances, overall, query)
    without = []
    for each in range(12):
        kept = query != each
        without.append(np.linalg.lstsq(distances[kept], 3 - overall[kept], rcond=None)[0])
    deviations = np.array(without) - np.array(without).mean(axis=0)
    error = np.sqrt(11 / 12 * (deviations**2).sum(axis=0))
    half = [(each.high - each.low) / 2 for each in found.weights]
    assert half == pytest.approx(2.200985 * error, rel=1e-5)  # Student's t of 11 degrees of freedom


@given(st.integers(0, 500))
def test_what_an_aspect_adds_is_that_of_fits_row_by_row(seed):
    distances, overall, query = made(n_queries=15, seed=seed)
    found = weights_of(distances, overall, query)
    full = [slow_r_squared(distances, overall, query, split, [0, 1, 2]) for split in range(20)]
    assert found.r_squared.mean == pytest.approx(np.mean(full))
    alone = [slow_r_squared(distances, overall, query, split, [2]) for split in range(20)]
    others = [slow_r_squared(distances, overall, query, split, [0, 1]) for split in range(20)]
    assert found.added[2].alone.mean == pytest.approx(np.mean(alone))
    gain = np.array(full) - np.array(others)
    assert found.added[2].gain.mean == pytest.approx(gain.mean())
    assert found.added[2].gain.standard_deviation == pytest.approx(gain.std(ddof=1))


def test_an_aspect_without_a_part_in_the_rating_adds_nothing():
    distances, overall, query = made(n_queries=300, noise=0.3)
    extra = np.random.default_rng(5).integers(0, 4, len(distances)) / 3
    found = weights_of(np.column_stack([distances, extra]), overall, query)
    assert found.weights[3].low < 0 < found.weights[3].high
    assert abs(found.added[3].gain.mean) < 0.01 < found.added[0].gain.mean
    assert found.added[2].gain.mean > found.added[1].gain.mean > found.added[0].gain.mean


def test_one_aspect_adds_all_that_there_is():
    distances, overall, query = made()
    found = weights_of(distances[:, 2:], overall, query)
    [only] = found.added
    assert only.alone == found.r_squared
    assert (
        only.gain.mean > found.r_squared.mean
    )  # without it the ideal is predicted, which is worse than the mean


def test_the_order_of_the_rows_does_not_matter():
    distances, overall, query = made()
    order = np.random.default_rng(3).permutation(len(overall))
    found, other = (
        weights_of(distances, overall, query),
        weights_of(distances[order], overall[order], query[order]),
    )
    assert [each.value for each in found.weights] == pytest.approx([each.value for each in other.weights])
    assert found.r_squared.mean == pytest.approx(other.r_squared.mean)


def test_too_few_queries_and_dependent_aspects_are_refused():
    distances, overall, query = made(n_queries=4)
    with pytest.raises(TidyDataError, match="at least 5 queries"):
        weights_of(distances, overall, query)
    distances, overall, query = made()
    with pytest.raises(TidyDataError, match="linear combination"):
        weights_of(np.column_stack([distances, distances[:, 0]]), overall, query)


def test_splits_without_a_value():
    assert over_splits([None, None]).n == 0
    assert over_splits([None, 0.5]) == over_splits([None, 0.5, None])
    found = over_splits([0.5])
    assert (found.first, found.mean, found.standard_deviation) == (0.5, 0.5, None)

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analytics.statistics.core.counts import collapse, count_matrix
from analytics.statistics.core.estimates import TidyDataError
from tests.analytics.statistics.build import random_labels


def test_counts_of_a_small_study() -> None:
    counts = count_matrix(np.array([0, 0, 2, 2, 2]), np.array([1, 1, 0, -1, 2]), 3, 3)
    assert counts.tolist() == [[0, 2, 0], [0, 0, 0], [1, 0, 1]]
    assert counts.dtype == np.int32


def test_counts_against_counting_one_by_one() -> None:
    labels = random_labels(np.random.default_rng(3), 200)
    flat = [(item, label) for item, of_item in enumerate(labels) for label in of_item]
    counts = count_matrix(*(np.array(column) for column in zip(*flat, strict=True)), 200, 3)
    assert counts.tolist() == [[Counter(of_item)[label] for label in range(3)] for of_item in labels]


@pytest.mark.parametrize(("item", "label"), [([3], [0]), ([-1], [0]), ([0], [3]), ([0, 1], [0])])
def test_what_is_not_there_cannot_be_counted(item, label) -> None:
    with pytest.raises(TidyDataError):
        count_matrix(np.array(item), np.array(label), 3, 3)


@given(
    hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.sampled_from([0, 1 / 3, 0.5, 7])
    )
)
def test_collapsing_loses_nothing(rows) -> None:
    collapsed = collapse(rows)
    expected, weights = np.unique(rows, axis=0, return_counts=True)
    assert np.array_equal(collapsed.patterns, expected)
    assert np.array_equal(collapsed.weights, weights)
    assert np.array_equal(collapsed.patterns[collapsed.inverse], rows)


def test_collapsing_many_columns_of_many_values() -> None:
    # 12 columns of 97 values each have more combinations than an int64 can number.
    rows = np.random.default_rng(0).integers(0, 97, (500, 12))
    collapsed = collapse(np.concatenate([rows, rows]))
    assert np.array_equal(collapsed.patterns, np.unique(rows, axis=0))
    assert set(collapsed.weights.tolist()) == {2}


def test_undefined_numbers_do_not_collapse() -> None:
    with pytest.raises(TidyDataError, match="undefined"):
        collapse(np.array([[1.0], [np.nan]]))

"""Cosine similarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judging.backends.embedding.similarity import cosine, cosines

NUMBERS = st.floats(-1e3, 1e3).filter(lambda value: value == 0 or abs(value) > 1e-3)
VECTORS = arrays(np.float64, 4, elements=NUMBERS).filter(np.any)


def slow_cosine(one, other):
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / (sum(a * a for a in one) * sum(b * b for b in other)) ** 0.5


def test_angles_that_are_known():
    x = np.array([1.0, 0.0])
    assert cosine(x, np.array([5.0, 0.0])) == 1
    assert cosine(x, np.array([0.0, 2.0])) == 0
    assert cosine(x, np.array([-3.0, 0.0])) == -1
    assert cosine(x, np.array([1.0, 1.0])) == pytest.approx(np.sqrt(0.5))


@given(VECTORS, VECTORS, st.floats(0.01, 100))
def test_the_slow_way_gives_the_same_either_way_round_and_at_any_length(one, other, times):
    value = cosine(one, other)
    assert value == pytest.approx(slow_cosine(one.tolist(), other.tolist()), abs=1e-9)
    assert -1 <= value <= 1
    assert value == cosine(other, one)
    assert cosine(times * one, other) == pytest.approx(value, abs=1e-9)
    assert cosine(one, one) == pytest.approx(1)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_very_small_and_very_large_vectors_have_a_direction(scale):
    assert cosine(np.array([scale, scale]), np.array([1.0, 0.0])) == pytest.approx(np.sqrt(0.5))


def test_a_vector_of_length_0_has_none():
    with pytest.raises(ValueError, match="no direction"):
        cosine(np.zeros(2), np.ones(2))


def test_each_vector_is_compared_with_each():
    found = cosines(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, -2.0]]))
    half = pytest.approx(np.sqrt(0.5))
    assert found == [
        [1, half, 0],
        [half, pytest.approx(1), pytest.approx(-np.sqrt(0.5))],
        [0, pytest.approx(-np.sqrt(0.5)), 1],
    ]

"""Disagreement about an item, beside every pair of answers written out."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.protocols.answers.disagreement import (
    labels_differ,
    labels_differ_between,
    leading_value,
    majority_of,
    numbers_differ,
    numbers_differ_between,
)

LABELS = st.lists(st.sampled_from(["r1", "r2", "tie"]), max_size=8)
NUMBERS = st.lists(st.integers(0, 4), max_size=8)


def mean(values):
    found = list(values)
    return pytest.approx(sum(found) / len(found)) if found else None


@given(LABELS, LABELS)
def test_labels_differ_as_every_pair_of_them_says(ones, others):
    assert labels_differ(ones) == mean(a != b for a, b in combinations(ones, 2))
    assert labels_differ_between(ones, others) == mean(a != b for a, b in product(ones, others))


@given(NUMBERS, NUMBERS)
def test_numbers_differ_as_every_pair_of_them_says(ones, others):
    assert numbers_differ(ones, 4) == mean(abs(a - b) / 4 for a, b in combinations(ones, 2))
    assert numbers_differ_between(ones, others, 4) == mean(abs(a - b) / 4 for a, b in product(ones, others))


@given(LABELS)
def test_a_majority_is_more_than_half(labels):
    found = [each for each in set(labels) if labels.count(each) * 2 > len(labels)]
    assert majority_of(labels) == (found[0] if found else "")


def test_the_value_of_an_answer_about_the_whole_item():
    assert leading_value({"": "tie"}, ranks=False) == "tie"
    assert leading_value({"": 2.0}, ranks=False) == "2"
    assert leading_value({"r1": 1.0}, ranks=False) is None
    assert leading_value({"r1": 2.0, "r2": 1.0}, ranks=True) == "r2"
    assert leading_value({"r1": 1.5, "r2": 1.5}, ranks=True) is None

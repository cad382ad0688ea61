from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.entries.calibrators import (
    distance_from_draft,
    edit_distance,
    matched_f1,
    set_agreement,
)
from tests.analytics.statistics.build import spec

texts = st.lists(st.sampled_from("abc"), max_size=8)
tables = st.integers(0, 4).flatmap(
    lambda n: st.integers(0, 4).flatmap(
        lambda m: st.lists(
            st.lists(st.integers(0, 10).map(lambda x: x / 10), min_size=m, max_size=m), min_size=n, max_size=n
        ).map(lambda rows: np.array(rows, dtype=float).reshape(n, m))
    )
)


def slow_distance(one, other):
    if not one or not other:
        return len(one) + len(other)
    return min(
        slow_distance(one[1:], other) + 1,
        slow_distance(one, other[1:]) + 1,
        slow_distance(one[1:], other[1:]) + (one[0] != other[0]),
    )


def slow_f1(similarity):
    """The best of all ways to pair the smaller set with the larger."""
    if similarity.shape[0] > similarity.shape[1]:
        similarity = similarity.T
    n, m = similarity.shape
    if not n + m:
        return 1.0, 1.0
    ways = [[similarity[row, column] for row, column in enumerate(way)] for way in permutations(range(m), n)]
    return (
        max(2 * sum(value >= 0.5 for value in way) / (n + m) for way in ways),
        max(2 * sum(way) / (n + m) for way in ways),
    )


def test_the_published_distance():
    """Levenshtein's textbook pair, letter by letter."""
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance([], "abc") == 3


@given(texts, texts)
def test_distance_against_the_definition(one, other):
    assert edit_distance(one, other) == slow_distance(one, other) == edit_distance(other, one)


@given(tables)
def test_matched_f1_against_all_pairings(similarity):
    assert matched_f1(similarity) == pytest.approx(slow_f1(similarity))
    assert matched_f1(similarity.T) == pytest.approx(matched_f1(similarity))


def test_f1_by_hand():
    # Two of three and two entries match, by a sum of 1.4.
    found = matched_f1(np.array([[0.9, 0.6], [0.8, 0.2], [0.1, 0.0]]))
    assert found == pytest.approx((4 / 5, 2 * 1.4 / 5))
    assert matched_f1(np.zeros((0, 2))) == (0, 0)
    assert matched_f1(np.zeros((0, 0))) == (1, 1)


def test_a_set_beside_its_draft():
    kept, edited = ["the", "first", "bridge"], ["for", "cars", "in", "1962"]
    assert distance_from_draft([(kept, kept)]) == 0
    assert distance_from_draft([(kept, kept), (edited, ["for", "trams", "in", "1962"])]) == 1 / 7
    assert distance_from_draft([(kept, []), ([], edited)]) == 1
    assert distance_from_draft([]) == 0


def test_items_weigh_the_same_however_many_pairs_they_have():
    item, query = np.array([4, 4, 4, 7]), np.array([1, 1, 1, 2])
    found = set_agreement(
        item, query, np.array([1, 1, 1, 0.0]), np.array([0.6, 0.6, 0.9, 0.1]), resample=spec()
    )
    assert (found.matched.value, found.matched.n) == (0.5, 2)
    assert found.alike.value == pytest.approx((0.7 + 0.1) / 2)
    nothing = np.zeros(0, dtype=int)
    empty = set_agreement(nothing, nothing, np.zeros(0), np.zeros(0), resample=spec())
    assert empty.matched.undefined == "No item has two sets to compare."
    with pytest.raises(TidyDataError):
        set_agreement(item, query, np.zeros(3), np.zeros(4), resample=spec())

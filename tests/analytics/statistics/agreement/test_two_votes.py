from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given

from analytics.statistics.agreement.two_votes import (
    FEW_VOTES,
    NO_TIES,
    ONE_GROUP_ONLY,
    two_votes_between,
    two_votes_within,
)
from analytics.statistics.core.estimates import LeftOut, TidyDataError
from tests.analytics.statistics.build import count_arrays, counts_of, random_labels, spec

TIE = 2
# Of a question: what people said, and what a judge did.
PEOPLE = [[0, 0, 1], [0, TIE], [TIE, TIE, 1], [1]]
JUDGE = [[0], [0], [TIE], []]


def within(counts, **options):
    """Every item is of a query of its own."""
    return two_votes_within(counts, np.arange(len(counts)), resample=spec(), **options)


def between(one, other, **options):
    return two_votes_between(one, other, np.arange(len(one)), resample=spec(), **options)


def slow(shares):
    known = [sum(pairs) / len(pairs) for pairs in shares if pairs]
    return sum(known) / len(known)


def slow_within(labels):
    return slow([[a == b for a, b in combinations(of_item, 2)] for of_item in labels])


def slow_between(labels, others):
    return slow([[a == b for a, b in product(*both)] for both in zip(labels, others, strict=True)])


def without_ties(labels):
    return [[label for label in of_item if label != TIE] for of_item in labels]


def test_by_hand():
    found = within(counts_of(PEOPLE))
    # 1 of 3 pairs, 0 of 1, 1 of 3; one item has one vote. Without ties the first item alone has two votes.
    assert found.with_ties.value == pytest.approx((1 / 3 + 0 + 1 / 3) / 3)
    assert (found.with_ties.n, found.with_ties.left_out) == (3, (LeftOut(FEW_VOTES[0], 1),))
    assert (found.without_ties.value, found.without_ties.n) == (pytest.approx(1 / 3), 1)
    beside = between(counts_of(PEOPLE), counts_of(JUDGE))
    assert beside.with_ties.value == pytest.approx((2 / 3 + 1 / 2 + 2 / 3) / 3)
    assert beside.with_ties.left_out == (LeftOut(ONE_GROUP_ONLY[0], 1),)
    # Of the third item the judge's one vote is a tie.
    assert (beside.without_ties.value, beside.without_ties.n) == (pytest.approx((2 / 3 + 1) / 2), 2)


def test_against_every_pair_of_votes():
    rng = np.random.default_rng(4)
    labels, others = random_labels(rng, 40), random_labels(rng, 40)
    one, other = counts_of(labels), counts_of(others)
    for estimate, expected in (
        (within(one).with_ties, slow_within(labels)),
        (within(one).without_ties, slow_within(without_ties(labels))),
        (between(one, other).with_ties, slow_between(labels, others)),
        (between(one, other).without_ties, slow_between(without_ties(labels), without_ties(others))),
    ):
        assert estimate.value == pytest.approx(expected)
        assert estimate.low < estimate.value < estimate.high


@given(count_arrays(min_items=3), count_arrays(min_items=3))
def test_groups_change_places_and_items_come_in_any_order(one, other):
    size = min(len(one), len(other))
    one, other = one[:size], other[:size]
    for name in ("with_ties", "without_ties"):
        found, swapped = getattr(between(one, other), name), getattr(between(other[::-1], one[::-1]), name)
        assert (found.value is None) == (swapped.value is None)
        if found.value is not None:
            assert found.value == pytest.approx(swapped.value)
            assert 0 <= found.value <= 1


def test_complete_agreement_is_one_and_one_vote_is_no_pair():
    assert within(counts_of([[0, 0], [1, 1, 1], [TIE, TIE]])).with_ties.value == 1
    found = within(counts_of([[0], [1]])).with_ties
    assert (found.value, found.undefined) == (None, f"There are only {FEW_VOTES[0]}.")
    found = between(counts_of([[0], []]), counts_of([[], [1]])).with_ties
    assert (found.value, found.undefined) == (None, f"There are only {ONE_GROUP_ONLY[0]}.")


def test_by_chance_a_vote_is_drawn_from_its_raters_votes_on_the_same_items():
    def slow_chance(labels, others):
        return np.mean([a == b for one, other in product(labels, others) for a, b in product(one, other)])

    found, beside = within(counts_of(PEOPLE)), between(counts_of(PEOPLE), counts_of(JUDGE))
    # The last item has one vote, and none of the judge's.
    assert found.by_chance == pytest.approx(slow_chance(PEOPLE[:3], PEOPLE[:3]))
    assert found.by_chance_without_ties == pytest.approx(slow_chance(PEOPLE[:1], PEOPLE[:1]))
    assert beside.by_chance == pytest.approx(slow_chance(PEOPLE[:3], JUDGE[:3]))
    assert beside.by_chance_without_ties == pytest.approx(
        slow_chance(without_ties(PEOPLE[:2]), without_ties(JUDGE[:2]))
    )
    assert within(counts_of([[0], [1]])).by_chance is None


def test_labels_without_a_tie():
    found = within(counts_of([[0, 1], [1, 1]], 2), tie=None)
    assert found.with_ties.value == pytest.approx(1 / 2)
    assert (found.without_ties.undefined, found.by_chance_without_ties) == (NO_TIES, None)


def test_the_items_of_a_query_do_not_narrow_the_interval():
    counts = counts_of([each for each in random_labels(np.random.default_rng(5), 40) if len(each) > 1])
    once = within(counts).with_ties
    ninefold = two_votes_within(
        np.repeat(counts, 9, axis=0), np.repeat(np.arange(len(counts)), 9), resample=spec()
    ).with_ties
    assert (ninefold.low, ninefold.high) == pytest.approx((once.low, once.high))


def test_two_groups_have_the_same_items():
    with pytest.raises(TidyDataError, match="same labels on the same items"):
        between(counts_of([[0], [1]]), counts_of([[0]]))

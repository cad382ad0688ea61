from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.estimates import DuplicateJudgmentError, LeftOut, ParameterError, TidyDataError
from analytics.statistics.core.randomization import Randomization, sign_flip
from analytics.statistics.preferences.best_picks import (
    NOT_OFFERED,
    Picks,
    pick_shares,
    picks_as_values,
    same_pick,
)
from tests.analytics.statistics.build import random_labels, spec
from tests.analytics.statistics.rating_arrays import make_picks

pick_lists = st.lists(st.lists(st.integers(-1, 3), max_size=4), min_size=1, max_size=12)


def test_shares_by_hand() -> None:
    picks = make_picks([[0, 0, 2], [0, 1, -1], [2, 2, 2]], query=[0, 0, 1])
    found = pick_shares(picks, 4, resample=spec())
    assert [each.n_picked for each in found.systems] == [3, 1, 4, 0]
    assert [each.share.value for each in found.systems] == pytest.approx([3 / 9, 1 / 9, 4 / 9, 0])
    assert found.tie.value == pytest.approx(1 / 9)
    assert (found.n_items, found.n_queries, found.systems[0].share.n) == (3, 2, 9)
    assert "Wilson" in found.systems[3].share.method
    assert found.systems[0].chance is None


def test_a_system_can_only_be_picked_where_it_is_offered() -> None:
    picks = make_picks([[0, 1], [0, 0], [2, 0]])
    offered = np.array([[1, 1, 0], [1, 1, 2], [2, 0, 1]])
    found = pick_shares(picks, 3, resample=spec(), offered=offered)
    assert [each.share.value for each in found.systems] == pytest.approx([4 / 6, 1 / 4, 1 / 4])
    assert [each.share.n for each in found.systems] == [6, 4, 4]
    assert found.systems[1].share.left_out == (LeftOut(NOT_OFFERED, 2),)
    # Picking at random: 1/2, 1/4 and 2/3 of the responses of the three items are the first system's.
    assert [each.chance for each in found.systems] == pytest.approx(
        [(1 / 2 + 1 / 4 + 2 / 3) / 3, (1 / 2 + 1 / 4) / 2, (1 / 2 + 1 / 3) / 2]
    )


def test_shares_are_tested_against_chance_over_queries() -> None:
    # Three queries of three picks of the first of two systems, and one of three of the second.
    picks = make_picks([[0, 0, 0]] * 3 + [[1, 1, 1]])
    tests = Randomization(1)
    first, second = pick_shares(picks, 2, resample=spec(0), offered=np.ones((4, 2), int), tests=tests).systems
    assert (
        first.test == second.test == sign_flip(np.array([1.5, 1.5, 1.5, -1.5]), np.arange(4), tests).two_sided
    )
    assert first.test.p_value == pytest.approx(10 / 16)
    assert pick_shares(picks, 2, resample=spec(0), tests=tests).systems[0].test is None


def test_how_often_raters_pick_the_same() -> None:
    picks = make_picks([[0, 0, 0], [1, 1, 2], [0, 1, 2], [-1, -1, -1], [0, 0], [3]])
    of_three = same_pick(picks, resample=spec(), raters=3)
    assert (of_three.all_same.value, of_three.two_same.value) == (0.5, 0.75)
    assert (of_three.n_all_same, of_three.n_two_same, of_three.by_most) == (2, 3, (0, 1, 1, 2))
    assert of_three.all_same.n == 4
    assert of_three.all_same.left_out == (LeftOut("items with fewer than 3 picks", 2),)
    of_two = same_pick(picks, resample=spec())
    assert (of_two.all_same.n, of_two.n_all_same, of_two.n_two_same) == (5, 3, 4)


def slow_chance(chances, n):
    """That all of `n` are the same, and that two are, over all that can be drawn."""
    drawn = list(product(range(len(chances)), repeat=n))
    weights = [np.prod([chances[each] for each in row]) for row in drawn]
    different = np.array([len(set(row)) for row in drawn])
    return [np.dot(weights, different == 1), np.dot(weights, different < n)]


def test_picking_the_same_by_chance_against_all_that_can_be_drawn() -> None:
    picks = make_picks([[0, 0, 1], [0, -1], [2, 0, 0], [1]])
    offered = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 2], [1, 1, 1]])
    found = same_pick(picks, resample=spec(), offered=offered)
    # Without the last item, of which there is one pick: of eight picks one is a tie, five of the first system, one of
    # five of the second, one of three of the third, which has two responses on the only item that offers it.
    tie, first, second, third = 1 / 8, 5 / 8, 1 / 5, 1 / 3
    of_items = [
        slow_chance(np.array(weights) / sum(weights), n)
        for weights, n in (
            ([tie, first, second], 3),
            ([tie, first, second], 2),
            ([tie, first, third / 2, third / 2], 3),
        )
    ]
    assert [found.all_same_by_chance, found.two_same_by_chance] == pytest.approx(np.mean(of_items, axis=0))
    assert same_pick(picks, resample=spec()).all_same_by_chance is None
    # Of two responses three raters always have two who pick the same.
    both = same_pick(make_picks([[0, 1, 1]]), resample=spec(), offered=np.array([[1, 1]]))
    assert both.two_same_by_chance == pytest.approx(1)


@given(pick_lists)
def test_against_counting_one_by_one(responses) -> None:
    picks = make_picks(responses)
    found = same_pick(picks, resample=spec(0))
    usable = [of_item for of_item in responses if len(of_item) > 1]
    assert found.n_all_same == sum(len(set(of_item)) == 1 for of_item in usable)
    assert found.n_two_same == sum(max(Counter(of_item).values()) > 1 for of_item in usable)
    assert found.all_same.n == len(usable)
    shares = pick_shares(picks, 4, resample=spec(0))
    values = [each.share.value for each in shares.systems] + [shares.tie.value]
    assert values[0] is None or sum(values) == pytest.approx(1)


def test_alpha_of_picks_takes_a_tie_for_a_label() -> None:
    labels = random_labels(np.random.default_rng(2), 40, n_labels=4)
    moved = [[label - 1 for label in of_item] for of_item in labels]
    one, other = (
        alpha_of_values(picks_as_values(make_picks(each)), level="nominal", resample=spec(50))
        for each in (labels, moved)
    )
    assert one == other
    assert one.value is not None


def test_what_cannot_be_picks_is_refused() -> None:
    zero = np.array([0])
    with pytest.raises(TidyDataError, match="its system"):
        Picks(zero, zero, zero, np.array([-1]), zero)
    both = np.array([0, 0])
    with pytest.raises(DuplicateJudgmentError, match="twice"):
        Picks(both, both, both, both, both)
    picks = make_picks([[3]])
    with pytest.raises(TidyDataError, match="not exist"):
        pick_shares(picks, 3, resample=spec())
    with pytest.raises(TidyDataError, match="column for each system"):
        pick_shares(picks, 4, resample=spec(), offered=np.ones((1, 3), dtype=int))
    with pytest.raises(TidyDataError, match="does not offer"):
        pick_shares(picks, 4, resample=spec(), offered=np.array([[1, 1, 1, 0]]))
    with pytest.raises(ParameterError, match="at least two"):
        same_pick(picks, resample=spec(), raters=1)


def test_no_picks_are_undefined() -> None:
    found = pick_shares(make_picks([]), 2, resample=spec(), offered=np.ones((0, 2), dtype=int))
    assert "No item" in found.systems[0].share.undefined
    assert "no picks" in found.tie.undefined
    assert "No item has 2 picks" in same_pick(make_picks([[0]]), resample=spec()).all_same.undefined

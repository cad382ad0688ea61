"""Ratings and picks by place: by hand, against plain loops, and what is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.ratings.places import (
    NO_RESPONSE,
    UNKNOWN_PICKED,
    UNKNOWN_RATED,
    picked_places,
    place_means,
)
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_picks, make_values, random_rows

POINTS = (1, 2, 3, 4, 5)
ENDS = (1, 5)


def test_means_by_hand() -> None:
    values = make_values([(0, 0, 0, 5), (0, 1, 0, 1), (1, 0, 0, 4), (1, 1, 0, 2), (2, 0, 0, 1)])
    found = place_means(values, np.array([0, 1, 1, 0, -1]), within=ENDS, resample=spec())
    assert [(each.place, each.mean.value, each.mean.n) for each in found.places] == [(0, 3.5, 2), (1, 2.5, 2)]
    assert found.overall.value == 3
    assert [each.difference.value for each in found.places] == [0.5, -0.5]
    assert found.left_out == (LeftOut(UNKNOWN_RATED, 1),)
    assert [each.test for each in found.places] == [None, None]


def test_ratings_are_compared_with_their_rater_s_mean_on_the_item() -> None:
    # The first item has three responses, and is liked better than the second, which has two.
    values = make_values([(0, 0, 0, 5), (0, 1, 0, 4), (0, 2, 0, 3), (1, 0, 0, 2), (1, 1, 0, 1), (2, 0, 0, 5)])
    found = place_means(
        values, np.array([0, 1, 2, 0, 1, 0]), within=ENDS, resample=spec(), tests=Randomization(1)
    )
    assert [each.mean.value for each in found.places] == [4, 2.5, 3]
    # A response that was shown alone is beside no other.
    assert [each.difference.value for each in found.places] == [(1 + 0.5) / 2, (0 - 0.5) / 2, -1]
    assert [each.difference.n for each in found.places] == [2, 2, 1]
    # Both queries on one side are two of four outcomes; the second's middle one has one side only.
    assert [(each.test.p_value, each.test.n) for each in found.places] == [(0.5, 2), (1, 2), (1, 1)]


def test_larger_sets_that_are_rated_higher_are_no_effect_of_the_place() -> None:
    """Items of two and of six responses in random orders: the test rejects about as often as it says."""
    rejected = 0
    for study in range(200):
        rng = np.random.default_rng(study)
        rows, place = [], []
        for item in range(20):
            size = 6 if item % 2 else 2
            rows += [(item, part, 0, float(rng.integers(1, 4) + 2 * (item % 2))) for part in range(size)]
            place += rng.permutation(size).tolist()
        found = place_means(
            make_values(rows), np.array(place), within=ENDS, resample=spec(), tests=Randomization(1)
        )
        rejected += found.places[0].test.p_value <= 0.05
    assert rejected <= 20


def test_ratings_of_what_is_shown_first_against_the_others() -> None:
    # Six queries, in each of which one of two responses is rated higher, whichever is shown first.
    values = make_values([(item, part, 0, 4 - part) for item in range(6) for part in range(2)])
    first = place_means(values, np.tile([0, 1], 6), within=ENDS, resample=spec(), tests=Randomization(1))
    assert [each.test.p_value for each in first.places] == [2 / 64] * 2
    even = place_means(values, np.tile([0, 1, 1, 0], 3), within=ENDS, resample=spec(), tests=Randomization(1))
    assert [each.test.p_value for each in even.places] == [1, 1]


@given(st.integers(0, 2**16), st.integers(2, 20))
def test_means_against_a_loop(seed, n_items) -> None:
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, POINTS, n_items)
    place = rng.integers(-1, 3, len(rows))
    found = place_means(make_values(rows), place, within=ENDS, resample=spec())
    at = {}
    for row, where in zip(rows, place.tolist(), strict=True):
        at.setdefault(where, []).append(row[3])
    unknown = len(at.pop(-1, []))
    assert [(each.place, each.mean.n) for each in found.places] == [(p, len(at[p])) for p in sorted(at)]
    mine = {}
    for (item, _, rater, value), where in zip(rows, place.tolist(), strict=True):
        if where >= 0:
            mine.setdefault((item, rater), []).append((value, where))
    for each in found.places:
        assert each.mean.value == pytest.approx(np.mean(at[each.place]))
        differences = [
            value - np.mean([other for other, _ in given])
            for given in mine.values()
            for value, where in given
            if where == each.place and len({other for _, other in given}) > 1
        ]
        assert each.difference.n == len(differences)
        if not differences:
            assert each.difference.value is None
            continue
        assert each.difference.value == pytest.approx(np.mean(differences), abs=1e-9)
        if each.difference.low is not None:
            assert each.difference.low <= each.difference.value <= each.difference.high
    assert sum(part.n for part in found.left_out) == unknown


def test_picks_by_hand() -> None:
    # Of three items with two responses and one with three; the last rater calls it a tie.
    picks = make_picks([[0, 1], [1], [0, 1], [2, -1]])
    found = picked_places(
        picks, np.array([0, 0, 1, -1, 0, 2, -1]), np.array([2, 2, 2, 2, 2, 3, 3]), resample=spec()
    )
    assert [(each.place, each.share.value, each.share.n) for each in found.places] == [
        (0, pytest.approx(3 / 5), 5),
        (1, pytest.approx(1 / 5), 5),
        (2, 1, 1),
    ]
    assert [each.chance for each in found.places] == pytest.approx([(4 / 2 + 1 / 3) / 5] * 2 + [1 / 3])
    assert found.left_out == (LeftOut(NO_RESPONSE, 1), LeftOut(UNKNOWN_PICKED, 1))


@given(st.integers(0, 2**16), st.integers(1, 30))
def test_shares_of_equally_many_responses_add_up_to_one(seed, n_items) -> None:
    rng = np.random.default_rng(seed)
    responses = [rng.integers(-1, 4, 2).tolist() for _ in range(n_items)]
    picks = make_picks(responses)
    order = [rng.permutation(4) for _ in range(2 * n_items)]
    place = np.array([o[p] if p >= 0 else -1 for o, p in zip(order, picks.response, strict=True)])
    found = picked_places(picks, place, np.full(len(picks), 4), resample=spec())
    given_places = [p for p in place.tolist() if p >= 0]
    if not given_places:
        assert not found.places
        return
    assert sum(each.share.value for each in found.places) == pytest.approx(1)
    for each in found.places:
        assert each.share.value == pytest.approx(given_places.count(each.place) / len(given_places))
        assert each.chance == pytest.approx(0.25)


def test_picks_of_what_is_shown_first_against_chance() -> None:
    # Six items of a query each, on which two of three raters pick what is shown first of two responses.
    picks = make_picks([[0, 0, 1]] * 6)
    terms = {"resample": spec(), "tests": Randomization(1)}
    found = picked_places(picks, np.tile([0, 0, 1], 6), np.full(18, 2), **terms)
    # All six signs alike are two of 64 outcomes, whichever place is asked about.
    assert [each.test.p_value for each in found.places] == [2 / 64] * 2
    assert [each.test.n for each in found.places] == [6, 6]
    even = picked_places(picks, np.tile([0, 1, 1, 1, 0, 0], 3), np.full(18, 2), **terms)
    assert [each.test.p_value for each in even.places] == [1, 1]


def test_places_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TidyDataError, match="a place for each rating"):
        place_means(make_values([(0, 0, 0, 1)]), np.array([0, 1]), within=ENDS, resample=spec())
    with pytest.raises(TidyDataError, match="for each pick"):
        picked_places(make_picks([[0]]), np.array([0, 1]), np.array([2]), resample=spec())
    with pytest.raises(TidyDataError, match="does not have"):
        picked_places(make_picks([[0]]), np.array([2]), np.array([2]), resample=spec())

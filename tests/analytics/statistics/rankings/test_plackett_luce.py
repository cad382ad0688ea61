from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, ParameterError
from analytics.statistics.rankings.plackett_luce import REPEATED, SINGLE, TIED, plackett_luce
from analytics.statistics.rankings.ranked_strengths import ranked_strengths
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_ranks

NAMES = tuple("abcdefgh")


def fitted(rankings, query=None, prior=1e-9):
    return plackett_luce(make_ranks(rankings, query), NAMES, resample=spec(), prior=prior)


def scores(found):
    return {each.system: each.score.value for each in found.worths}


def slow_worths(orders, k):
    """The maximum of the likelihood by a general search: each order is a list of systems, best first."""

    def loss(free):
        theta = np.append(free, -free.sum())
        return -sum(
            theta[order[at]] - np.logaddexp.reduce(theta[list(order[at:])])
            for order in orders
            for at in range(len(order) - 1)
        )

    found = scipy.optimize.minimize(loss, np.zeros(k - 1), method="BFGS", options={"gtol": 1e-9}).x
    return np.append(found, -found.sum())


def drawn_orders(rng, n, worths, sizes):
    """Orders of random sets of systems, by exponential races."""
    made = []
    for _ in range(n):
        shown = rng.permutation(len(worths))[: rng.choice(sizes)]
        times = rng.exponential(1 / worths[shown])
        made.append(shown[np.argsort(times)].tolist())
    return made


def as_ranks(orders, k):
    return [[[order.index(system) + 1 if system in order else 0 for system in range(k)]] for order in orders]


def test_luces_own_example():
    # Three systems whose orders occur as often as worths of 3, 2 and 1 have it (Luce 1959): P(abc) = 3/6 * 2/3.
    worth = {0: 3, 1: 2, 2: 1}
    rankings = []
    for order in permutations(range(3)):
        chance = worth[order[0]] / 6 * worth[order[1]] / (6 - worth[order[0]])
        rankings += as_ranks([list(order)] * round(60 * chance), 3)
    found = fitted(rankings)
    told = scores(found)
    assert told["a"] - told["c"] == pytest.approx(np.log(3), abs=1e-4)
    assert told["b"] - told["c"] == pytest.approx(np.log(2), abs=1e-4)
    assert [each.first.value for each in found.worths] == pytest.approx([1 / 2, 1 / 3, 1 / 6], abs=1e-4)
    assert all(each.score.low < each.score.value < each.score.high for each in found.worths)


def test_partial_rankings_against_a_general_search():
    orders = drawn_orders(np.random.default_rng(3), 60, np.array([4.0, 2, 1, 1, 0.5]), (2, 3, 4, 5))
    found = scores(fitted(as_ranks(orders, 5)))
    assert [found[name] for name in NAMES[:5]] == pytest.approx(slow_worths(orders, 5), abs=1e-5)


def test_equals_in_the_last_place_are_not_known_further():
    orders = drawn_orders(np.random.default_rng(4), 40, np.array([3.0, 2, 1, 1]), (4,))
    # The best two of four are told, the others share the places 3 and 4.
    top = [[[3.5 if place > 2 else place for place in ranking[0]]] for ranking in as_ranks(orders, 4)]

    def loss(free):
        theta = np.append(free, -free.sum())
        return -sum(
            theta[order[at]] - scipy.special.logsumexp(theta[order[at:]]) for order in orders for at in (0, 1)
        )

    free = scipy.optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    found = scores(fitted(top))
    assert [found[name] for name in "abc"] == pytest.approx(free.tolist(), abs=1e-5)


def test_two_systems_at_a_time_are_bradley_terry():
    orders = drawn_orders(np.random.default_rng(5), 80, np.array([3.0, 2, 1]), (2,))
    ranks = make_ranks(as_ranks(orders, 3))
    worths = plackett_luce(ranks, NAMES, resample=spec())
    strengths = ranked_strengths(ranks, NAMES, resample=spec())
    for worth, strength in zip(worths.worths, strengths.strengths, strict=True):
        assert worth.system == strength.system
        for name in ("value", "low", "high"):
            assert getattr(worth.score, name) == pytest.approx(getattr(strength.score, name), abs=1e-6)


def test_the_error_is_about_that_of_fits_without_each_query():
    orders = drawn_orders(np.random.default_rng(6), 30, np.array([3.0, 2, 1, 1]), (4,))
    query = np.arange(30) // 2
    found = fitted(as_ranks(orders, 4), query.tolist())
    without = np.array(
        [slow_worths([o for o, q in zip(orders, query, strict=True) if q != each], 4) for each in range(15)]
    )
    error = np.sqrt(14 / 15 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    best = found.worths[0]
    half = (best.score.high - best.score.low) / 2
    assert half == pytest.approx(2.145 * error[NAMES.index(best.system)], rel=0.1)


@given(st.integers(0, 10_000))
def test_turning_the_names_turns_the_worths(seed):
    rng = np.random.default_rng(seed)
    orders = drawn_orders(rng, 25, np.array([2.0, 1, 1]), (2, 3))
    found = fitted(as_ranks(orders, 3), prior=1.0)
    other = fitted(as_ranks([[2 - each for each in order] for order in orders], 3), prior=1.0)
    if not found.undefined:
        told, turned = scores(found), scores(other)
        assert [told[name] for name in "abc"] == pytest.approx([turned[name] for name in "cba"], abs=1e-7)
        assert sum(told.values()) == pytest.approx(0, abs=1e-9)
        assert sum(each.first.value for each in found.worths) == pytest.approx(1)


def test_what_the_model_is_not_of_is_counted():
    rankings = [[[1, 2, 3]], [[2, 3, 1]], [[3, 1, 2]], [[1.5, 1.5, 3]], [[1, 0, 0]]]
    found = fitted(rankings)
    assert found.n == 3
    assert set(found.left_out) == {LeftOut(TIED, 1), LeftOut(SINGLE, 1)}
    ranks = make_ranks(rankings[:3])
    twice = replace(ranks, system=np.where(ranks.item == 0, 0, ranks.system))
    assert plackett_luce(twice, NAMES, resample=spec()).left_out == (LeftOut(REPEATED, 1),)


def test_degenerate_cases_say_why():
    always = fitted([[[1, 2, 3]], [[1, 3, 2]], [[1, 2, 3]]], prior=1.0)
    assert "a never lost to any other system" in always.worths[0].score.undefined
    assert always.worths[0].score.value > 0
    assert "never compared" in fitted([[[1, 2, 0, 0]], [[0, 0, 1, 2]]]).undefined
    assert "more than two" in fitted([[[1, 2]], [[2, 1]]]).undefined
    assert fitted([[[1.5, 1.5]]]).undefined
    with pytest.raises(ParameterError, match="positive"):
        fitted([[[1, 2, 3]]], prior=0)

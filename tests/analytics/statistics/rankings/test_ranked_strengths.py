from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, ParameterError
from analytics.statistics.preferences.bradley_terry import bradley_terry
from analytics.statistics.rankings import ranked_strengths as module
from analytics.statistics.rankings.ranked_strengths import OF_ITSELF, ranked_strengths
from tests.analytics.statistics.build import make_items, make_judgments, spec
from tests.analytics.statistics.rating_arrays import make_ranks, random_rankings, slow_mid_ranks

NAMES = tuple("abcd")


def test_the_same_as_pairs_put_to_bradley_terry():
    rankings = random_rankings(np.random.default_rng(7), 15, 2, 4, levels=3)
    found = ranked_strengths(make_ranks(rankings), NAMES, resample=spec(300))
    pairs, labels, query = [], [], []
    for item, of_item in enumerate(rankings):
        for i, j in combinations(range(4), 2):
            pairs.append((NAMES[i], NAMES[j]))
            query.append(str(item))
            labels.append([2 if r[i] == r[j] else int(r[i] > r[j]) for r in of_item])
    [expected] = bradley_terry(make_items(query, systems=pairs), make_judgments(labels), resample=spec(300))
    for one, other in zip(found.strengths, expected.strengths, strict=True):
        assert one.system == other.system
        assert (one.score.value, one.score.low, one.score.high) == pytest.approx(
            (other.score.value, other.score.low, other.score.high)
        )
        assert (one.rank.value, one.score.n) == (other.rank.value, other.score.n)


def test_a_table_without_room_gives_the_same(monkeypatch):
    ranks = make_ranks(random_rankings(np.random.default_rng(8), 12, 2, 4, levels=3))
    expected = ranked_strengths(ranks, NAMES, resample=spec(50))
    monkeypatch.setattr(module, "MOST_DENSE", 10)
    assert ranked_strengths(ranks, NAMES, resample=spec(50)) == expected


def test_two_responses_of_one_system_are_no_comparison():
    ranks = make_ranks([[[1, 2, 3]], [[2, 3, 1]], [[3, 1, 2]]])
    same = replace(ranks, system=np.array([0, 0, 1, 0, 1, 2, 0, 1, 2]))
    found = ranked_strengths(same, NAMES, resample=spec())
    assert found.left_out == (LeftOut(OF_ITSELF, 1),)


def test_undefined_says_why():
    apart = ranked_strengths(make_ranks([[[1, 2, 0, 0]], [[0, 0, 1, 2]]]), NAMES, resample=spec())
    assert "never compared" in apart.undefined
    assert {each.score.value for each in apart.strengths} == {None}
    with pytest.raises(ParameterError, match="positive"):
        ranked_strengths(make_ranks([[[1, 2]]]), NAMES, resample=spec(), prior=0)


# Rankings by one rater of each item, of all four systems, some of them equal.
RANKINGS = st.lists(
    st.lists(st.integers(0, 3), min_size=4, max_size=4).map(slow_mid_ranks), min_size=2, max_size=8
)


def scores_of(ranks, names=NAMES):
    found = ranked_strengths(ranks, names, resample=spec(0))
    assert found.undefined == ""
    return {each.system: each.score for each in found.strengths}


@given(RANKINGS, st.permutations(range(4)))
def test_systems_are_as_strong_under_other_codes_and_in_other_rows(rankings, codes):
    ranks = make_ranks([[each] for each in rankings])
    found = scores_of(ranks)
    order = np.argsort([codes[system] for system in ranks.system], kind="stable")
    mixed = replace(ranks, system=np.array(codes)[ranks.system]).take(order)
    again = scores_of(mixed, [NAMES[codes.index(code)] for code in range(4)])
    assert sum(each.value for each in found.values()) == pytest.approx(0, abs=1e-6)
    for system, score in found.items():
        assert again[system].value == pytest.approx(score.value, abs=1e-6)
        assert (score.low is None) == (again[system].low is None)
        if score.low is not None:
            assert again[system].low == pytest.approx(score.low, abs=1e-5)


@given(RANKINGS)
def test_rankings_upside_down_turn_the_strengths_round(rankings):
    found = scores_of(make_ranks([[each] for each in rankings]))
    turned = scores_of(make_ranks([[[5 - rank for rank in each]] for each in rankings]))
    for system, score in found.items():
        assert turned[system].value == pytest.approx(-score.value, abs=1e-6)


@given(st.permutations(range(4)), st.integers(2, 8))
def test_rankings_that_all_agree_put_the_systems_in_their_order(order, times):
    found = scores_of(make_ranks([[[place + 1 for place in order]]] * times))
    assert [NAMES.index(system) for system in found] == [order.index(place) for place in range(4)]
    equal = scores_of(make_ranks([[[2.5] * 4]] * times))
    assert [each.value for each in equal.values()] == pytest.approx([0] * 4, abs=1e-6)

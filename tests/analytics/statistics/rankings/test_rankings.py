from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import DuplicateJudgmentError, LeftOut, TidyDataError
from analytics.statistics.core.randomization import Randomization, sign_flip
from analytics.statistics.rankings.rankings import (
    NO_PLACE,
    first_credit,
    have_one_set,
    place_bias,
    ranked_pairs,
    system_ranks,
)
from analytics.statistics.rankings.ranks import FEW_RATERS, ONE_RESPONSE, OTHER_SETS, Ranks, blocks, mid_ranks
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_ranks, random_rankings, slow_mid_ranks


def test_ranks_and_first_places_by_hand() -> None:
    # Item 0: b first, then a and c as equals; a and b share the first place. Item 1 has no third response.
    ranks = make_ranks([[[2.5, 1, 2.5], [1.5, 1.5, 3]], [[1, 2, 0]]])
    a, b, c = system_ranks(ranks, 3, resample=spec())
    assert [each.mean_rank.value for each in (a, b, c)] == pytest.approx([5 / 3, 4.5 / 3, 5.5 / 2])
    assert [each.first.value for each in (a, b, c)] == pytest.approx([1.5 / 3, 1.5 / 3, 0])
    assert [each.first.n for each in (a, b, c)] == [3, 3, 2]
    assert a.chance == pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 3)
    assert a.chance_rank == pytest.approx((2 + 2 + 1.5) / 3)
    assert first_credit(ranks).tolist() == [0, 1, 0, 0.5, 0.5, 0, 1, 0]


def test_two_responses_of_one_system_count_as_one_judgment() -> None:
    ranks = make_ranks([[[1, 2, 3], [3, 1, 2]], [[1.5, 3, 1.5], [2, 3, 1]]])
    kinds = replace(ranks, system=np.array([0, 0, 1])[ranks.system])
    one, other = system_ranks(kinds, 2, resample=spec())
    assert (one.first.value, other.first.value) == (pytest.approx(2.5 / 4), pytest.approx(1.5 / 4))
    assert (one.first.n, one.mean_rank.n) == (4, 8)
    assert (one.chance, other.chance) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert one.mean_rank.value == pytest.approx((1 + 2 + 3 + 1 + 1.5 + 3 + 2 + 3) / 8)


def test_shares_outranked_by_hand() -> None:
    # Of three: above one and below one, say; of two, above the other or below it. The third system is seen once.
    ranks = make_ranks([[[2, 1, 3]], [[1, 2, 0]]])
    a, b, c = system_ranks(ranks, 3, resample=spec())
    assert [each.outranked.value for each in (a, b, c)] == pytest.approx([(0.5 + 1) / 2, (1 + 0) / 2, 0])
    assert {each.group for each in (a, b, c)} == {a.group}
    assert not have_one_set(ranks)
    pairs = {(each.system_1, each.system_2): each.above for each in ranked_pairs(ranks, resample=spec())}
    assert {pair: (above.value, above.n) for pair, above in pairs.items()} == {
        (0, 1): (0.5, 2), (0, 2): (1, 1), (1, 2): (1, 1),
    }  # fmt: skip


def test_what_two_responses_of_one_system_outrank_is_not_each_other() -> None:
    kinds = replace(make_ranks([[[1, 2, 3]], [[3, 1, 2]]]), system=np.array([0, 0, 1, 0, 0, 1]))
    one, other = system_ranks(kinds, 2, resample=spec())
    # Both above it in the first ranking; in the second one above and one below.
    assert (one.outranked.value, other.outranked.value) == (0.75, 0.25)
    (pair,) = ranked_pairs(kinds, resample=spec())
    assert (pair.above.value, pair.above.n) == (0.75, 2)
    alone = replace(make_ranks([[[1, 2]]]), system=np.array([0, 0]))
    assert system_ranks(alone, 1, resample=spec())[0].outranked.undefined


def test_systems_that_were_never_ranked_together_are_in_groups() -> None:
    ranks = make_ranks([[[1, 2, 0, 0]], [[0, 0, 2, 1]], [[2, 1, 0, 0]]])
    one, two, three, four = (each.group for each in system_ranks(ranks, 4, resample=spec()))
    assert one == two != three == four
    assert {(each.system_1, each.system_2) for each in ranked_pairs(ranks, resample=spec())} == {
        (0, 1),
        (2, 3),
    }


@given(st.integers(0, 2**16), st.integers(2, 5))
def test_shares_outranked_against_a_loop(seed, levels) -> None:
    rng = np.random.default_rng(seed)
    rankings = []
    for _ in range(8):
        chosen = rng.random(4) < 0.7
        scores = np.where(chosen, rng.integers(0, levels, 4), -1)
        own = slow_mid_ranks(scores[chosen].astype(float).tolist())
        rankings.append([[own.pop(0) if each else 0 for each in chosen]])
    rankings = [each for each in rankings if any(each[0])] or [[[1, 2, 3, 4]]]
    ranks = make_ranks(rankings)
    flat = [[(system, rank) for system, rank in enumerate(one) if rank] for (one,) in rankings]
    compared = [
        (one, other, 0.5 if rank == against else float(rank < against))
        for ranking in flat
        for one, rank in ranking
        for other, against in ranking
        if one != other
    ]
    for each in system_ranks(ranks, 4, resample=spec(0)):
        shares = [
            np.mean(
                [
                    0.5 if rank == against else rank < against
                    for other, against in ranking
                    if other != each.system
                ]
            )
            for ranking in flat
            for system, rank in ranking
            if system == each.system and len(ranking) > 1
        ]
        assert each.outranked.value == (pytest.approx(np.mean(shares)) if shares else None)
    for pair in ranked_pairs(ranks, resample=spec(0)):
        own = [won for one, other, won in compared if (one, other) == (pair.system_1, pair.system_2)]
        assert (pair.above.value, pair.above.n) == (pytest.approx(np.mean(own)), len(own))
    assert have_one_set(ranks) == (len({tuple(system for system, _ in each) for each in flat}) == 1)


def test_pairs_are_tested_by_flipping_queries() -> None:
    rng = np.random.default_rng(3)
    rankings = random_rankings(rng, 14, 2, 3, 9)
    tests = Randomization(1)
    for pair in ranked_pairs(make_ranks(rankings), resample=spec(), tests=tests):
        gap = [rank[pair.system_2] - rank[pair.system_1] for of_item in rankings for rank in of_item]
        expected = sign_flip(
            np.sign(gap) / 2, np.repeat(np.arange(14), 2), tests.of(pair.system_1, pair.system_2)
        )
        assert pair.test == expected.two_sided


@given(st.integers(0, 2**16), st.integers(1, 4))
def test_first_places_add_up_to_one_and_ranks_to_chance(seed, levels) -> None:
    rankings = random_rankings(np.random.default_rng(seed), 6, 3, 4, levels)
    found = system_ranks(make_ranks(rankings), 4, resample=spec(0))
    assert sum(each.first.value for each in found) == pytest.approx(1)
    assert np.mean([each.mean_rank.value for each in found]) == pytest.approx(2.5)
    flat = [ranking for of_item in rankings for ranking in of_item]
    for each in found:
        assert each.mean_rank.value == pytest.approx(np.mean([ranking[each.system] for ranking in flat]))
        firsts = [(r[each.system] == min(r)) / r.count(min(r)) for r in flat]
        assert each.first.value == pytest.approx(np.mean(firsts))
    doubled = system_ranks(make_ranks(rankings + rankings), 4, resample=spec(0))
    assert [each.mean_rank.value for each in doubled] == pytest.approx(
        [each.mean_rank.value for each in found]
    )


def test_a_rater_who_ranks_by_place_is_seen() -> None:
    rng = np.random.default_rng(3)
    places = [[rng.permutation(3).tolist() for _ in range(2)] for _ in range(30)]
    by_place = [[[place + 1 for place in order] for order in of_item] for of_item in places]
    found = place_bias(make_ranks(by_place, places=places), resample=spec(), tests=Randomization(1))
    assert [(each.place, each.mean_rank.value) for each in found.places] == [(0, 1), (1, 2), (2, 3)]
    assert [each.bias.value for each in found.places] == [-1, 0, 1]
    assert [each.first.value for each in found.places] == [1, 0, 0]
    assert {(each.chance_rank, round(each.chance, 6)) for each in found.places} == {(2, 0.333333)}
    # Every query favours the first place by two ranks, and none has a middle place that is not the middle.
    assert [each.test.p_value for each in found.places] == pytest.approx([2 / 2**30, 1, 2 / 2**30])
    unmoved = random_rankings(rng, 30, 2, 3, 99)
    for each in place_bias(
        make_ranks(unmoved, places=places), resample=spec(), tests=Randomization(1)
    ).places:
        assert each.test.p_value > 0.05
        assert each.bias.low < 0.3
        assert each.bias.high > -0.3


def test_unknown_places_are_left_out() -> None:
    ranks = make_ranks([[[1, 2], [2, 1]], [[1, 2]]], places=[[[1, 0], [-1, -1]], [[0, 1]]])
    found = place_bias(ranks, resample=spec())
    assert found.left_out == (LeftOut(NO_PLACE, 2),)
    assert [each.mean_rank.value for each in found.places] == [1.5, 1.5]
    assert not place_bias(make_ranks([[[1, 2]]]), resample=spec()).places


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=30))
def test_mid_ranks_against_a_loop(pairs) -> None:
    group, score = (np.array([pair[k] for pair in pairs], dtype=float) for k in range(2))
    found = mid_ranks(score, group.astype(int))
    for code in range(4):
        assert found[group == code].tolist() == slow_mid_ranks(score[group == code].tolist())


def test_blocks_hold_what_can_be_compared() -> None:
    rankings = [
        [[1, 2, 3], [3, 2, 1]],
        [[1, 2]],  # one rater
        [[2, 1, 0], [1, 2, 3]],  # different responses
        [[1, 0, 0], [1, 0, 0]],  # a single response
        [[2, 1], [1.5, 1.5], [1, 2]],
        [[1, 3, 2], [1, 2, 3]],
    ]
    found, left_out = blocks(make_ranks(rankings, query=[5, 5, 6, 6, 7, 8]))
    assert left_out == (LeftOut(FEW_RATERS, 1), LeftOut(OTHER_SETS, 1), LeftOut(ONE_RESPONSE, 1))
    by_item = {
        int(item): (int(query), rank.tolist())
        for block in found
        for item, query, rank in zip(block.item, block.query, block.rank, strict=True)
    }
    assert by_item == {
        0: (5, rankings[0]),
        4: (7, rankings[4]),
        5: (8, rankings[5]),
    }


def test_ranks_that_differ_in_their_last_bits_are_equal() -> None:
    ranks = make_ranks([[[1.5, 1.5 + 1e-9, 3 - 1e-9]]])
    assert ranks.rank.tolist() == [1.5, 1.5, 3]
    assert first_credit(ranks).tolist() == [0.5, 0.5, 0]


def test_what_cannot_be_rankings_is_refused() -> None:
    ranks = make_ranks([[[1, 2, 3]], [[2, 1]]])
    with pytest.raises(TidyDataError, match="places from 1"):
        replace(ranks, rank=np.array([1, 1, 3, 2, 1.0]))
    with pytest.raises(TidyDataError, match="more than one rater"):
        replace(ranks, rater=np.array([0, 0, 1, 0, 0]))
    with pytest.raises(DuplicateJudgmentError, match="same response twice"):
        replace(ranks, response=np.array([0, 0, 1, 0, 1]))
    with pytest.raises(DuplicateJudgmentError, match="same item twice"):
        replace(ranks, item=np.zeros(5, dtype=int))
    with pytest.raises(TidyDataError, match="not exist"):
        system_ranks(ranks, 2, resample=spec())


def test_no_rankings_are_undefined() -> None:
    nothing = make_ranks([])
    assert isinstance(nothing, Ranks)
    (found,) = system_ranks(nothing, 1, resample=spec())
    assert "No ranking" in found.mean_rank.undefined
    assert (found.first.value, found.chance, found.chance_rank) == (None, None, None)
    assert not list(blocks(nothing)[0])


def test_the_interval_of_a_mean_rank_stays_between_first_and_last() -> None:
    # Nine rankings of ten put the response first, so that a plain t interval would go below the first place.
    rankings = [[[1, 2, 3]]] * 9 + [[[3, 1, 2]]]
    (first, *_) = system_ranks(make_ranks(rankings), 3, resample=spec())
    assert first.mean_rank.value == pytest.approx(1.2)
    assert 1 < first.mean_rank.low < 1.2 < first.mean_rank.high < 3
    (always, *_) = system_ranks(make_ranks(rankings[:9]), 3, resample=spec())
    assert (always.mean_rank.value, always.mean_rank.low) == (1, 1)
    assert 1 < always.mean_rank.high < 2
    assert always.mean_rank.method.startswith("Wilson")

"""Rankings as orders of two responses: against a look at every two of them."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.rankings.orders import order_values
from analytics.statistics.rankings.ranks import Ranks, mid_ranks

# Rankings of two raters of items with one to four responses, ties among them.
RANKINGS = st.lists(
    st.integers(1, 4).flatmap(
        lambda k: st.tuples(*[st.lists(st.integers(1, 4), min_size=k, max_size=k)] * 2)
    ),
    min_size=1,
    max_size=6,
)


def ranks_of(rankings):
    rows = [
        (2 * item + rater, item, rater, response, score)
        for item, both in enumerate(rankings)
        for rater, scores in enumerate(both)
        for response, score in enumerate(scores)
    ]
    judgment, item, rater, response, score = (np.array(each) for each in zip(*rows, strict=True))
    nothing = np.zeros(len(rows), dtype=np.int64)
    return Ranks(
        judgment=judgment, item=item, query=item // 2, rater=rater, response=response, system=nothing,
        rank=mid_ranks(score.astype(float), judgment), place=nothing,
    )  # fmt: skip


@given(RANKINGS)
def test_every_two_responses_of_a_ranking_have_an_order(rankings):
    found = order_values(ranks_of(rankings), 4)
    expected = {
        (item, rater, 4 * one + other): np.sign(scores[one] - scores[other])
        for item, both in enumerate(rankings)
        for rater, scores in enumerate(both)
        for one, other in combinations(range(len(scores)), 2)
    }
    said = zip(found.item.tolist(), found.rater.tolist(), found.part.tolist(), strict=True)
    assert dict(zip(said, found.value, strict=True)) == expected
    assert len(found) == len(expected)
    assert (found.query == found.item // 2).all()


def test_a_pair_has_one_unit_in_every_group_of_raters():
    longer = order_values(ranks_of([([1, 2, 3, 4], [4, 3, 2, 1])]), 4)
    shorter = order_values(ranks_of([([1, 2], [2, 1])]), 4)
    assert set(shorter.unit) < set(longer.unit)


def test_the_better_place_is_the_lower_number():
    assert order_values(ranks_of([([1, 2], [2, 2])]), 2).value.tolist() == [-1, 0]

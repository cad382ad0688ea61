"""Shares with chosen values in the denominator: a published example, a slow twin, and properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.ratings.chosen_shares import (
    NO_DENOMINATOR,
    UNANSWERED,
    ChosenAnswers,
    chosen_share,
    chosen_shares_by_group,
)

SPEC = ResampleSpec(1)
# An item of two to a query, whether an answer about it is in the denominator, and whether it counts.
ROWS = st.lists(
    st.tuples(st.integers(0, 7), st.booleans(), st.sampled_from((0.0, 1.0, None))), min_size=1, max_size=40
)


def answers_of(rows):
    item, among, counted = zip(*rows, strict=True)
    item = np.array(item)
    return ChosenAnswers(
        item=item,
        query=item // 2,
        among=np.array(among),
        counted=np.array([np.nan if each is None else each for each in counted]),
    )


def test_micro_and_macro_averages_of_a_textbook():
    """Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), Table 13.8: of two classes, 10 of
    20 and 90 of 100 are right; macroaveraged precision is .7, microaveraged .83. What is outside is in neither."""
    of_class = {0: (10, 10, 980), 1: (90, 10, 900)}
    rows = [
        (2 * number, among, counted)
        for number, (right, wrong, outside) in of_class.items()
        for among, counted, times in ((True, 1.0, right), (True, 0.0, wrong), (False, 1.0, outside))
        for _ in range(times)
    ]
    found = chosen_share(answers_of(rows), resample=SPEC)
    assert found.per_item.value == pytest.approx(0.7)
    assert found.pooled.value == pytest.approx(100 / 120)
    assert (found.pooled.n, found.n_counted, found.per_item.n) == (120, 100, 2)


@given(ROWS)
def test_a_slow_count_gives_the_same(rows):
    found = chosen_share(answers_of(rows), resample=SPEC)
    right = sum(among and counted == 1 for _, among, counted in rows)
    usable = sum(among and counted is not None for _, among, counted in rows)
    assert (found.n_counted, found.pooled.n) == (right, usable)
    shares = []
    for item in {item for item, _, _ in rows}:
        mine = [counted for of, among, counted in rows if of == item and among and counted is not None]
        if mine:
            shares.append(sum(mine) / len(mine))
    if not usable:
        assert found.pooled.value is found.per_item.value is None
        assert found.pooled.undefined
        return
    assert found.pooled.value == pytest.approx(right / usable)
    assert found.per_item.value == pytest.approx(sum(shares) / len(shares))
    assert found.per_item.n == len(shares)
    left = {part.reason: part.n for each in (found.pooled, found.per_item) for part in each.left_out}
    expected = {
        UNANSWERED: sum(among and counted is None for _, among, counted in rows),
        NO_DENOMINATOR: len({item for item, _, _ in rows}) - len(shares),
    }
    assert left == {reason: n for reason, n in expected.items() if n}


@given(ROWS, st.integers(0, 2**32 - 1))
def test_neither_order_nor_what_is_outside_the_denominator_matters(rows, seed):
    found = chosen_share(answers_of(rows), resample=SPEC)
    shuffled = [rows[at] for at in np.random.default_rng(seed).permutation(len(rows))]
    turned = [(item, among, counted if among else 1.0) for item, among, counted in shuffled]
    again = chosen_share(answers_of(turned), resample=SPEC)
    for one, other in ((found.pooled, again.pooled), (found.per_item, again.per_item)):
        assert (one.value, one.n) == (pytest.approx(other.value), other.n)
        assert one.low == pytest.approx(other.low)


@given(ROWS)
def test_items_with_as_many_answers_have_one_share_both_ways(rows):
    same = [(item, True, 1.0 if counted else 0.0) for item, _, counted in rows]
    once = list({item: (item, among, counted) for item, among, counted in same}.values())
    found = chosen_share(answers_of(once), resample=SPEC)
    assert found.pooled.value == pytest.approx(found.per_item.value)


def test_groups_are_those_of_their_answers():
    rows = [(0, True, 1.0), (0, True, 0.0), (2, True, 1.0), (2, False, 0.0), (4, True, None)]
    answers, group = answers_of(rows), np.array([0, 1, 0, 1, 1])
    one, other = chosen_shares_by_group(answers, group, 2, resample=SPEC)
    assert (one.pooled.value, one.per_item.value) == (1, 1)
    assert (other.pooled.value, other.pooled.n, other.per_item.n_left_out) == (0, 1, 2)


def test_an_answer_counts_or_does_not():
    with pytest.raises(TidyDataError, match="counts or does not"):
        answers_of([(0, True, 0.5)])
    with pytest.raises(TidyDataError, match="needs its item"):
        ChosenAnswers(np.zeros(2), np.zeros(2), np.ones(1, dtype=bool), np.zeros(2))

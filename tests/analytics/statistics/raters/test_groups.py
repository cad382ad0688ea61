"""Two groups of raters on the same things: agreement counted pair by pair, and differences query by query."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.values import Values
from analytics.statistics.raters.groups import mean_gap, pair_agreement

SPECS = {"resample": ResampleSpec(1, replicates=50), "tests": Randomization(1), "unit": "items"}


def values_of(rows):
    """Rows of (unit, rater, value); each unit is a query of its own."""
    unit, rater, value = (np.array(each) for each in zip(*rows, strict=True))
    nothing = np.zeros(len(unit), dtype=np.int64)
    return Values(
        unit=unit, query=unit, system=nothing, part=nothing, item=unit, rater=rater, value=value.astype(float)
    )


@pytest.fixture
def two_groups():
    rng = np.random.default_rng(3)
    return tuple(
        values_of([
            (unit, first + rater, int(rng.integers(1, 4)))
            for unit in range(12)
            for rater in range(3)
            if rng.random() < 0.8
        ])
        for first in (0, 10)
    )  # fmt: skip


def said(values, unit):
    return values.value[values.unit == unit].tolist()


def mean_of(shares):
    known = [each for each in shares if each]
    return sum(sum(each) / len(each) for each in known) / len(known)


def test_agreement_is_that_of_every_two_raters(two_groups):
    one, other = two_groups
    found = pair_agreement(one, other, **SPECS)
    alone = [[a == b for a, b in combinations(said(one, unit), 2)] for unit in range(12)]
    both = [[a == b for a, b in product(said(one, unit), said(other, unit))] for unit in range(12)]
    assert found.within_first.value == pytest.approx(mean_of(alone))
    assert found.between.value == pytest.approx(mean_of(both))
    turned = pair_agreement(other, one, **SPECS)
    assert turned.within_second.value == found.within_first.value
    assert turned.gap.difference.value == pytest.approx(-found.gap.difference.value)
    assert turned.gap.test.p_value == found.gap.test.p_value


def test_a_difference_is_of_what_both_rated():
    one = values_of([(unit, 0, 3) for unit in range(8)])
    other = values_of([(unit, 1, 2 if unit % 2 else 1) for unit in range(6)])
    found = mean_gap(one, other, **SPECS)
    assert found.difference.value == 1.5
    assert found.difference.n == 6
    # All six differences are on one side: one outcome of the 64 on either.
    assert found.test.p_value == pytest.approx(2 / 64)


ratings = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 3), st.integers(1, 5)),
    min_size=1,
    max_size=24,
    unique_by=lambda row: row[:2],
)


@given(ratings, ratings)
def test_a_difference_unit_by_unit(rows, others):
    """The slow twin: each unit's means, and all ways to turn the units' differences."""
    one, other = values_of(rows), values_of([(unit, 10 + rater, value) for unit, rater, value in others])
    gaps = [
        np.mean(said(one, unit)) - np.mean(said(other, unit))
        for unit in range(8)
        if said(one, unit) and said(other, unit)
    ]
    found = mean_gap(one, other, **SPECS)
    assert found.difference.n == len(gaps)
    if not gaps:
        assert found.difference.undefined
        return
    assert found.difference.value == pytest.approx(np.mean(gaps))
    turned = [abs(np.dot(signs, gaps)) for signs in product((1, -1), repeat=len(gaps))]
    as_far = [each >= abs(sum(gaps)) - 1e-9 for each in turned]
    assert found.test.p_value == pytest.approx(np.mean(as_far))
    back = mean_gap(other, one, **SPECS)
    assert back.difference.value == pytest.approx(-found.difference.value)


def test_of_single_raters_there_is_agreement_between_groups_alone():
    one, other = (values_of([(unit, rater, 1) for unit in range(4)]) for rater in (0, 1))
    found = pair_agreement(one, other, **SPECS)
    assert found.within_first.value is None
    assert found.within_first.undefined
    assert found.between.value == 1


ROWS = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 3)), st.integers(1, 4), min_size=1, max_size=20
).map(lambda found: [(unit, rater, value) for (unit, rater), value in found.items()])


def numbers_of(found):
    """Everything that an agreement of pairs says, without the names of its units."""
    told = [found.within_first, found.within_second, found.between, found.gap.difference]
    return [(each.value, each.n) for each in told], found.gap.test.p_value


@given(ROWS, ROWS, st.permutations(range(1, 5)), st.randoms(use_true_random=False))
def test_agreement_is_of_answers_whoever_gave_them_and_whatever_they_are_called(first, second, names, random):
    def turned(rows):
        """In another order, by raters of other codes, in other words for the same answers."""
        rows = [(unit, 9 - rater, names[value - 1]) for unit, rater, value in rows]
        return values_of(random.sample(rows, len(rows)))

    found = pair_agreement(values_of(first), values_of(second), **SPECS)
    assert all(value is None or 0 <= value <= 1 for value, _ in numbers_of(found)[0][:3])
    again = pair_agreement(turned(first), turned(second), **SPECS)
    for (value, n), (other, m) in zip(numbers_of(found)[0], numbers_of(again)[0], strict=True):
        assert n == m
        assert other == (None if value is None else pytest.approx(value))
    assert numbers_of(again)[1] == pytest.approx(numbers_of(found)[1])


@given(ROWS)
def test_who_always_agrees_does_so_within_and_between(rows):
    same = [(unit, rater, 1 + unit % 3) for unit, rater, _ in rows]
    found = pair_agreement(values_of(same), values_of(same), **SPECS)
    assert found.between.value == 1
    assert found.within_first.value in (None, 1)
    assert found.gap.difference.value in (None, 0)


@given(ROWS, ROWS, st.integers(-3, 3))
def test_a_group_that_rates_higher_by_so_much_is_further_by_so_much(first, second, by):
    higher = [(unit, rater, value + by) for unit, rater, value in first]
    one, other = (
        mean_gap(values_of(rows), values_of(second), **SPECS).difference for rows in (first, higher)
    )
    turned = mean_gap(values_of(second), values_of(first), **SPECS).difference
    assert one.n == other.n == len({row[0] for row in first} & {row[0] for row in second})
    if one.n:
        assert other.value - one.value == pytest.approx(by)
        assert turned.value == pytest.approx(-one.value)
        assert -3 <= one.value <= 3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.conditions.value_correlation import (
    NO_VARIATION,
    ONE_VALUE,
    correlation_within_items,
)
from analytics.statistics.core.values import unit_means
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_values, random_rows


def two_groups(seed, n_items=8):
    """People (three raters) and a judge (the fourth), of whom each has rated two thirds of all values."""
    values = make_values(random_rows(np.random.default_rng(seed), [1, 2, 3, 4, 5], n_items, n_parts=4))
    return values.where(values.rater < 3), values.where(values.rater == 3)


def slow(people, judge):
    """Item by item with scipy; None where it has no correlation."""
    one, other = (
        {
            (item, part): mean
            for item, part, mean in zip(of.item.tolist(), of.part.tolist(), of.mean.tolist(), strict=True)
        }
        for of in (unit_means(people), unit_means(judge))
    )
    found = {}
    for item in sorted({item for item, _ in one.keys() & other.keys()}):
        keys = sorted(key for key in one.keys() & other.keys() if key[0] == item)
        x, y = [one[key] for key in keys], [other[key] for key in keys]
        told = len(keys) > 1 and len(set(x)) > 1 and len(set(y)) > 1
        found[item] = stats.spearmanr(x, y).statistic if told else None
    return found


@given(st.integers(0, 10_000))
def test_against_scipy_item_by_item(seed):
    people, judge = two_groups(seed)
    wanted = slow(people, judge)
    told = [rho for rho in wanted.values() if rho is not None]
    found = correlation_within_items(people, judge, resample=spec())
    assert found.n == len(told)
    assert found.n_left_out == len(wanted) - len(told)
    if told:
        assert found.value == pytest.approx(np.mean(told))


def test_a_response_that_is_better_for_everybody_adds_nothing():
    """Two responses, one rated high and one low by both, whose values the two put in opposite orders."""
    rows = [(0, 0, 1), (0, 1, 2), (1, 0, 4), (1, 1, 5)]
    people = make_values([(item, part, 0, value) for item, part, value in rows])
    judge = make_values([(item, 1 - part, 1, value) for item, part, value in rows])
    assert correlation_within_items(people, judge, resample=spec()).value == -1
    assert correlation_within_items(people, people, resample=spec()).value == 1


def test_what_has_no_correlation_is_counted():
    people = make_values([(0, 0, 0, 1), (0, 1, 0, 2), (1, 0, 0, 3), (1, 1, 0, 3), (2, 0, 0, 1), (2, 1, 0, 2)])
    judge = people.where((people.item < 2) | (people.part == 0))
    found = correlation_within_items(people, judge, resample=spec())
    assert (found.value, found.n) == (1, 1)
    assert {part.reason: part.n for part in found.left_out} == {ONE_VALUE: 1, NO_VARIATION: 1}
    nothing = correlation_within_items(people.take(np.zeros(0, dtype=int)), judge, resample=spec())
    assert nothing.value is None
    assert "tell values apart" in nothing.undefined

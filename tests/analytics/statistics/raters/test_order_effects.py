import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.core.randomization import Randomization, sign_flip
from analytics.statistics.raters.order_effects import (
    NO_ORDER,
    SHORT_WORK,
    order_effect,
    share_of_others,
    without_order,
)
from analytics.statistics.raters.times import thirds_of_work
from tests.analytics.statistics.build import spec


def effect(values, third, query):
    return order_effect(
        values, third, query, within=(1.0, 5.0), unit="answers", resample=spec(), tests=Randomization(1)
    )


def study(seed, queries=14, raters=4, drift=0.0):
    """Raters who see all queries in an order of their own and rate lower and lower, or not."""
    rng = np.random.default_rng(seed)
    query = np.concatenate([rng.permutation(queries) for _ in range(raters)])
    third = thirds_of_work(np.repeat(np.arange(raters), queries))
    worth = rng.normal(size=queries)
    values = np.clip(np.round(3 + worth[query] - drift * third + rng.normal(size=len(query))), 1, 5)
    return values, third, query


def test_thirds_give_the_remainder_to_the_first():
    third = thirds_of_work(np.array([7, 7, 9, 7, 7, 7, 9]))
    assert third.tolist() == [0, 0, -2, 1, 1, 2, -2]


@given(st.integers(0, 10_000), st.integers(2, 20))
def test_the_means_and_their_difference(seed, queries):
    values, third, query = study(seed, queries + 1)
    found = effect(values, third, query)
    means = [values[third == each].mean() for each in range(3)]
    assert [each.value for each in found.thirds] == pytest.approx(means)
    assert found.difference.value == pytest.approx(means[2] - means[0])
    # The slow way: the sum of what each query adds, and its signs flipped.
    ends = np.isin(third, (0, 2))
    middle = values[ends].mean()
    parts = [
        ((values - middle) * (query == each) * (third == 2)).sum() / (third == 2).sum()
        - ((values - middle) * (query == each) * (third == 0)).sum() / (third == 0).sum()
        for each in np.unique(query[ends])
    ]
    assert sum(parts) == pytest.approx(found.difference.value)
    slow = sign_flip(np.array(parts) * ends.sum(), np.arange(len(parts)), Randomization(1))
    if "exact" in slow.method:
        assert found.test.p_value == pytest.approx(slow.p_value)


def test_who_rates_lower_and_lower_is_found():
    found = effect(*study(2, queries=30, drift=0.8))
    assert found.difference.high < 0
    assert found.test.p_value < 0.01


def test_the_interval_leaves_out_one_query_at_a_time():
    values, third, query = study(4)
    found = effect(values, third, query).difference
    without = np.array(
        [
            effect(*(each[query != one] for each in (values, third, query))).difference.value
            for one in range(14)
        ]
    )
    error = np.sqrt(13 / 14 * ((without - without.mean()) ** 2).sum())
    # Student's t with 13 degrees of freedom.
    assert (found.high - found.low) / 2 == pytest.approx(2.1604 * error, rel=1e-4)


def test_missing_orders_and_values():
    values, third, query = study(1)
    unknown = np.concatenate([third, [-1, -1, -2]])
    more = np.concatenate([values, [5, 5, 5]]), unknown, np.concatenate([query, [0, 1, 2]])
    assert effect(*more) == effect(values, third, query)
    assert without_order(unknown) == (LeftOut(NO_ORDER, 2), LeftOut(SHORT_WORK, 1))
    alone = effect(values[third == 0], third[third == 0], query[third == 0])
    assert alone.test is alone.difference.value is None
    assert effect(np.where(third == 0, np.nan, values), third, query).thirds[0].n == 0
    with pytest.raises(TidyDataError):
        effect(values, third[:-1], query)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2)), min_size=1, max_size=15))
def test_others_who_say_the_same(answers):
    unit, label = np.array(answers).T
    found = share_of_others(count_matrix(unit, label, 4, 3), unit, label)
    for row, share in enumerate(found):
        others = [
            label[each]
            for each in range(len(unit))
            if each != row and unit[each] == unit[row] and label[each] >= 0
        ]
        if label[row] < 0 or not others:
            assert np.isnan(share)
        else:
            assert share == pytest.approx(np.mean(np.array(others) == label[row]))

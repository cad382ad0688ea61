import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.icc import (
    LEAST_MEAN,
    NO_COEFFICIENT,
    NO_VARIATION,
    NOT_BY_ALL,
    UNPAIRED,
    intraclass_correlations,
)
from analytics.statistics.core.estimates import LeftOut
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_values

# Shrout and Fleiss (1979), Table 2: six targets, four judges.
PUBLISHED = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
MODELS = ("one_way", "agreement", "consistency")


def rows_of(table):
    """None where a rater gave none."""
    return [
        (item, 0, rater, value)
        for item, of_item in enumerate(table)
        for rater, value in enumerate(of_item)
        if value is not None
    ]


def icc(table, query=None):
    return intraclass_correlations(make_values(rows_of(table), query), resample=spec())


def of_one(found):
    return [getattr(found, model).one.value for model in MODELS]


def slow(table):
    """From the analysis of variance, cell by cell; every rater has rated every unit."""
    n, k = len(table), len(table[0])
    grand = sum(map(sum, table)) / (n * k)
    rows = [sum(row) / k for row in table]
    columns = [sum(row[j] for row in table) / n for j in range(k)]
    bms = k * sum((row - grand) ** 2 for row in rows) / (n - 1)
    wms = sum((value - rows[i]) ** 2 for i, row in enumerate(table) for value in row) / (n * (k - 1))
    jms = n * sum((column - grand) ** 2 for column in columns) / (k - 1)
    ems = sum(
        (value - rows[i] - columns[j] + grand) ** 2
        for i, row in enumerate(table)
        for j, value in enumerate(row)
    ) / ((n - 1) * (k - 1))
    one = [
        (bms - wms) / (bms + (k - 1) * wms),
        (bms - ems) / (bms + (k - 1) * ems + k * (jms - ems) / n),
        (bms - ems) / (bms + (k - 1) * ems),
    ]
    return one, [(bms - wms) / bms, (bms - ems) / (bms + (jms - ems) / n), (bms - ems) / bms]


def test_the_published_table():
    found = icc(PUBLISHED)
    assert of_one(found) == pytest.approx([0.17, 0.29, 0.71], abs=0.005)
    assert [getattr(found, model).mean.value for model in MODELS] == pytest.approx(
        [0.44, 0.62, 0.91], abs=0.005
    )
    assert {getattr(found, model).raters for model in MODELS} == {4}
    for model in MODELS:
        one, mean = getattr(found, model).one, getattr(found, model).mean
        assert one.low < one.value < one.high
        assert LEAST_MEAN <= mean.low < mean.value < mean.high
        assert (one.n, mean.n) == (6, 6)


def test_against_the_analysis_of_variance():
    rng = np.random.default_rng(3)
    levels = np.array([0, 0.5, 1])
    table = (rng.normal(size=(30, 1)) + levels + rng.normal(size=(30, 3))).tolist()
    one, mean = slow(table)
    found = icc(table)
    assert of_one(found) == pytest.approx(one)
    assert [getattr(found, model).mean.value for model in MODELS] == pytest.approx(mean)


def test_units_with_unequal_numbers_of_ratings():
    # Of one rating there is nothing to learn; of two and three, the number that the model goes by lies between.
    table = [[1, 2, None], [4, 5, 4], [3, None, None], [2, 2, 3], [None, 5, 5]]
    found = icc(table)
    groups = [[value for value in row if value is not None] for row in table]
    groups = [group for group in groups if len(group) > 1]
    ratings = sum(map(len, groups))
    grand = sum(map(sum, groups)) / ratings
    between = sum(len(g) * (sum(g) / len(g) - grand) ** 2 for g in groups) / (len(groups) - 1)
    within = sum((value - sum(g) / len(g)) ** 2 for g in groups for value in g) / (ratings - len(groups))
    number = (ratings - sum(len(g) ** 2 for g in groups) / ratings) / (len(groups) - 1)
    assert found.one_way.one.value == pytest.approx((between - within) / (between + (number - 1) * within))
    assert found.one_way.raters == pytest.approx(number)
    assert found.one_way.one.left_out == (LeftOut(UNPAIRED.format(unit="items"), 1),)
    assert (found.agreement.one.n, found.agreement.one.left_out) == (
        2,
        (LeftOut(NOT_BY_ALL.format(unit="items"), 3),),
    )


@given(st.integers(0, 10_000), st.floats(-50, 50), st.floats(0.1, 20))
def test_the_scale_and_the_order_do_not_matter(seed, shift, stretch):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, size=(8, 3)).astype(float)
    found, other = icc(table.tolist()), icc((table[::-1][:, ::-1] * stretch + shift).tolist())
    for one, same in zip(of_one(found), of_one(other), strict=True):
        assert (one is None) == (same is None)
        if one is not None:
            assert same == pytest.approx(one, abs=1e-6)
            assert -0.5 - 1e-9 <= one <= 1 + 1e-9


def test_a_rater_who_is_higher_throughout_costs_agreement_and_no_consistency():
    one_way, agreement, consistency = of_one(icc([[1, 3], [2, 4], [3, 5], [4, 6]]))
    assert consistency == pytest.approx(1)
    assert one_way < agreement < consistency


def test_the_items_of_a_query_do_not_narrow_the_interval():
    rng = np.random.default_rng(5)
    table = (rng.normal(size=(20, 1)) + rng.normal(size=(20, 3))).tolist()
    once = icc(table).consistency.one
    twice = icc(
        [row for row in table for _ in range(2)], query=np.repeat(np.arange(20), 2).tolist()
    ).consistency.one
    assert (twice.high - twice.low) == pytest.approx(once.high - once.low, rel=0.1)


def test_a_large_crowd_takes_no_table_of_everybody_and_everything():
    # 60,000 ratings by 20,000 raters: units times raters would be 3.2 GB.
    rng = np.random.default_rng(6)
    rows = [
        (unit, 0, 3 * unit + place, float(rng.integers(1, 6))) for unit in range(20_000) for place in range(3)
    ]
    values = make_values((unit, part, rater % 20_000, value) for unit, part, rater, value in rows)
    tracemalloc.start()
    found = intraclass_correlations(values, resample=spec())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.one_way.one.n == 20_000
    assert found.consistency.one.undefined == "None of the items was rated by all 20,000 raters."
    assert peak < 100 * 2**20


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[3, 3], [3, 3]], NO_VARIATION),
        ([[1, 2]], NO_VARIATION),
        ([[1, None], [None, 2]], "None of the items was rated by all 2 raters."),
        ([], "None of the items was rated by all 0 raters."),
    ],
)
def test_undefined_says_why(table, reason):
    found = icc(table)
    assert of_one(found) == [None, None, None]
    assert found.consistency.one.undefined == found.consistency.mean.undefined == reason


def test_a_ratio_that_is_no_correlation_is_no_value():
    """Two raters of opposite opinions, of whom neither is higher throughout: the estimated variances add up to less
    than what they are parts of."""
    found = icc([[1, 2], [2, 1], [1, 2], [2, 1], [1, 2]])
    assert found.agreement.one.value is None
    assert (
        found.agreement.one.undefined == found.agreement.mean.undefined == NO_COEFFICIENT.format(unit="items")
    )
    assert found.consistency.one.value == pytest.approx(-1)


@given(st.integers(2, 6), st.integers(2, 3), st.integers(0, 10_000))
def test_pilots_of_a_few_units_have_values_between_minus_one_and_one_or_none(units, raters, seed):
    table = np.random.default_rng(seed).integers(1, 6, size=(units, raters)).tolist()
    found = icc(table)
    for model in MODELS:
        for each in (getattr(found, model).one, getattr(found, model).mean):
            assert (each.low is None) == bool(each.undefined)
            if each.value is not None:
                assert -1 - 1e-9 <= each.value <= 1 + 1e-9
            if each.low is not None:
                assert -1 <= each.low <= each.value <= each.high <= 1

"""Means of an aspect and of a measure by the level of the overall rating."""

import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.aspects.levels import means_by_level, measure_by_level
from analytics.statistics.core.estimates import ParameterError
from tests.analytics.statistics.build import spec

POINTS = (0.0, 1.0, 2.0)


def by_level(aspect, overall, query):
    return means_by_level(
        np.array(aspect, dtype=float), np.array(overall, dtype=float), np.array(query),
        points=POINTS, within=(0.0, 3.0), resample=spec(),
    )  # fmt: skip


def test_by_hand():
    low, middle, high = by_level([0, 1, 2, 3, np.nan, 1], [0, 0, 2, 2, 2, 1.5], [0, 1, 0, 1, 2, 2])
    assert (low.level, low.mean.value, low.mean.n) == (0, 0.5, 2)
    assert middle.mean.undefined == "Nobody gave this level."
    assert (high.mean.value, high.mean.n) == (2.5, 2)


@given(st.integers(0, 1000))
def test_levels_make_up_the_whole(seed):
    rng = np.random.default_rng(seed)
    aspect, overall, query = rng.integers(0, 4, 60), rng.integers(0, 3, 60), rng.integers(0, 10, 60)
    found = by_level(aspect, overall, query)
    assert sum(each.mean.n for each in found) == 60
    whole = sum(each.mean.n * each.mean.value for each in found if each.mean.value is not None)
    assert whole / 60 == pytest.approx(aspect.mean())
    for each in found:
        if each.mean.low is not None:
            assert 0 <= each.mean.low <= each.mean.value <= each.mean.high <= 3


def measured(measure, mean, query, within=None):
    return measure_by_level(
        np.array(measure, dtype=float), np.array(mean, dtype=float), np.array(query),
        points=POINTS, within=within, resample=spec(), unit="responses",
    )  # fmt: skip


def test_a_measure_by_the_nearest_level():
    low, middle, high = measured([1, 3, 10, 20, np.nan], [0, 1 / 3, 0.5, 4 / 3, 1], [0, 1, 0, 1, 2])
    assert (low.mean.value, low.mean.n) == (2, 2)
    assert (middle.mean.value, middle.mean.n) == (15, 2)
    assert [(each.reason, each.n) for each in middle.mean.left_out] == [("responses without this measure", 1)]
    assert high.mean.undefined == "No responses with this measure are at this level."


def test_the_spread_of_a_level_by_hand():
    low, middle, high = measured([1, 2, 3, 6, np.nan, 4], [0, 0, 0, 0, 0, 2], [0, 1, 0, 1, 2, 2])
    # Squares of -2, -1, 0 and 3, over three.
    assert low.standard_deviation == pytest.approx((14 / 3) ** 0.5)
    assert low.quartiles == (1.75, 2.5, 3.75)
    assert (middle.standard_deviation, middle.quartiles) == (None, ())
    assert (high.standard_deviation, high.quartiles) == (None, (4, 4, 4))


def test_a_score_that_is_missing_is_named():
    found = measure_by_level(
        np.array([np.nan, 1]), np.array([0.0, 1.0]), np.array([0, 1]),
        points=POINTS, within=(0.0, 2.0), resample=spec(), unit="responses", score="rating",
    )  # fmt: skip
    assert [each.reason for each in found[0].mean.left_out] == ["responses without this rating"]
    assert found[0].mean.undefined == "No responses with this rating are at this level."


def test_intervals_stay_within_the_ends_of_a_measure():
    numbers, queries = [1, 1, 1, 0.8, 1, 1], [0, 1, 2, 3, 4, 5]
    free, bounded = (measured(numbers, [2] * 6, queries, within)[2].mean for within in (None, (0.0, 1.0)))
    assert free.value == pytest.approx(bounded.value)
    assert free.high > 1 >= bounded.high


def test_units_must_be_the_same():
    with pytest.raises(ParameterError, match="the same units"):
        measured([1, 2], [0], [0])


@given(
    st.lists(
        st.tuples(st.floats(-100, 100), st.fractions(0, 2, max_denominator=12), st.integers(0, 5)),
        min_size=1,
        max_size=40,
    )
)
def test_each_unit_is_held_against_every_level(rows):
    """The slow twin: fractions, whose distances are exact, one unit and one level at a time."""
    at = {level: [] for level in POINTS}
    for value, mean, _ in rows:
        at[max(POINTS, key=lambda level, mean=mean: (-abs(mean - Fraction(level)), level))].append(value)
    found = measured(*(list(each) for each in zip(*rows, strict=True)))
    assert sum(each.mean.n for each in found) == len(rows)
    for each in found:
        if at[each.level]:
            assert each.mean.value == pytest.approx(np.mean(at[each.level]), abs=1e-9)
            assert each.quartiles == pytest.approx(quartiles_one_by_one(at[each.level]), abs=1e-9)
        else:
            assert each.mean.value is None
            assert each.quartiles == ()
        if len(at[each.level]) > 1:
            assert each.standard_deviation == pytest.approx(statistics.stdev(at[each.level]), abs=1e-9)
        else:
            assert each.standard_deviation is None


def quartiles_one_by_one(values):
    """Between the two values around each quarter of the way from the least to the greatest."""
    ranked, found = sorted(values), []
    for quarter in (1, 2, 3):
        whole, rest = divmod(quarter * (len(ranked) - 1), 4)
        above = ranked[min(whole + 1, len(ranked) - 1)]
        found.append(ranked[whole] + (above - ranked[whole]) * rest / 4)
    return found


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 1.5, 3.0, np.nan]), st.sampled_from([*POINTS, 0.5]), st.integers(0, 5)
        ),
        min_size=1,
        max_size=40,
    )
)
def test_each_rating_stands_at_its_raters_level(rows):
    """The slow twin of means of an aspect; what was given between the points is at none of them."""
    found = by_level(*(list(each) for each in zip(*rows, strict=True)))
    for each in found:
        here = [aspect for aspect, overall, _ in rows if overall == each.level and not np.isnan(aspect)]
        assert each.mean.n == len(here)
        assert each.mean.value == (pytest.approx(sum(here) / len(here)) if here else None)

# Golden numbers of ppi-python 0.2.3: ppi_mean_pointestimate, ppi_mean_ci (alpha 0.05) and _calc_lam_glm with clip.
"""Prediction-powered means: the paper's own code, explicit loops, and what holds whatever the values are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.resampling import mean_within
from analytics.statistics.replacement.prediction_powered import (
    FEW,
    NO_JUDGE,
    NO_OTHERS,
    OUTSIDE,
    QueryValues,
    Spread,
    half_widths,
    labels_needed,
    prediction_powered_mean,
    query_values,
)
from tests.analytics.statistics.build import spec

PEOPLE = (
    "2.82 2.76 2.82 3.45 2.11 1.81 3.18 4.35 2.42 2.29 3.85 3.64 2.5 2.09 2.99 3.06 1.93 2.1 1.84 1.94 1.57 2.43 1.83 "
    "2.13 2.49 3.03 1.09 2.97 2.0 3.55 1.46 2.99 2.16 1.6 4.44 3.06"
)
JUDGE = (
    "2.49 3.59 2.98 2.62 3.4 2.79 2.57 3.41 2.93 2.13 3.4 3.63 2.42 1.71 3.09 3.58 1.94 2.63 1.6 1.69 1.73 2.41 1.67 "
    "3.44 3.11 3.01 1.46 2.31 2.55 2.72 1.96 2.3 2.35 2.47 4.32 1.92 3.34 3.67 2.51 2.33 2.9 3.36 2.05 3.1 3.92 2.23 "
    "3.68 2.23 2.22 3.8 2.31 1.94 3.6 3.5 2.37 3.18 3.42 3.61 4.06 2.43 3.19 2.95 3.34 2.16 2.15 3.05 3.46 4.17 1.72 "
    "2.31 3.53 1.52 3.33 3.52 3.8 3.84 2.88 1.84 2.89 4.08 2.68 2.32 3.18 2.82 3.33 2.25 2.99 3.27 3.71 3.38 2.26 "
    "4.06 3.12 4.09 3.28 3.52 2.1 3.19 1.79 1.7"
)


def of(people, judge):
    """People's values of the first queries, the judge's of all."""
    judge = np.asarray(judge, dtype=float)
    ours = np.full(len(judge), np.nan)
    ours[: len(people)] = people
    return QueryValues(np.arange(len(judge)), ours, judge)


def mean(values, *, within=None, **options):
    return prediction_powered_mean(values, within=within, resample=spec(), **options)


@pytest.fixture
def golden():
    return of(np.array(PEOPLE.split(), dtype=float), JUDGE.split())


@pytest.mark.parametrize(
    ("weight", "value", "low", "high"),
    [
        (None, 2.73395527, 2.51602096, 2.95188958),
        (1.0, 2.93314236, 2.67040015, 3.19588457),
        (0.5, 2.75476563, 2.53703682, 2.97249443),
    ],
)
def test_the_papers_code(golden, weight, value, low, high):
    """The same weight and mean; its variance divides by n, where a part estimates something and n is what is left."""
    found = mean(golden, weight=weight)
    assert found.weight == pytest.approx(0.4416674153336556 if weight is None else weight)
    assert found.combined.value == pytest.approx(value)
    n, others = 36, 64
    theirs = (
        found.errors[0] * (n - (2 if weight is None else 1)) / n + found.errors[1] * (others - 1) / others
    )
    z = stats.norm.ppf(0.975)
    assert (value - z * theirs**0.5, value + z * theirs**0.5) == pytest.approx((low, high))
    assert found.combined.low < low
    assert found.combined.high > high


def slow(people, judge, weight):
    """Value, half width and tuned weight in explicit loops."""
    n, size = len(people), len(judge)
    ours = sum(people) / n
    own, others = judge[:n], judge[n:]
    own_mean, all_mean, others_mean = sum(own) / n, sum(judge) / size, sum(others) / len(others)
    covariance = sum((y - ours) * (f - own_mean) for y, f in zip(people, own, strict=True)) / n
    variance = sum((f - all_mean) ** 2 for f in judge) / (size - 1)
    best = min(1.0, max(0.0, covariance / ((1 + n / len(others)) * variance)))
    used, lost = (best, 2) if weight is None else (weight, 1)
    off = [y - used * f for y, f in zip(people, own, strict=True)]
    first = sum((each - sum(off) / n) ** 2 for each in off) / (n - lost) / n
    second = used**2 * sum((f - others_mean) ** 2 for f in others) / (len(others) - 1) / len(others)
    freedom = (first + second) ** 2 / (first**2 / (n - lost) + second**2 / (len(others) - 1))
    half = stats.t.ppf(0.975, freedom) * (first + second) ** 0.5
    return sum(off) / n + used * others_mean, half, best


@pytest.mark.parametrize("weight", [None, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_explicit_loops(seed, weight):
    rng = np.random.default_rng(seed)
    judge = rng.standard_normal(30 + 20 * seed + 45)
    people = 0.6 * judge[: 30 + 20 * seed] + rng.standard_normal(30 + 20 * seed)
    found = mean(of(people, judge), weight=weight)
    value, half, best = slow(people.tolist(), judge.tolist(), weight)
    assert found.weight == pytest.approx(best if weight is None else weight)
    assert found.combined.value == pytest.approx(value)
    assert (found.combined.low, found.combined.high) == pytest.approx((value - half, value + half))


def drawn(seed, noise=0.7, n=40, size=200):
    rng = np.random.default_rng(seed)
    shared = rng.random(size)
    people = (shared[:n] + noise * rng.random(n)) / (1 + noise)
    return of(people, (shared + noise * rng.random(size)) / (1 + noise))


@given(st.integers(0, 2**20), st.floats(-5, 5), st.floats(-5, 5))
def test_moving_everybody_moves_the_mean_and_moving_the_judge_nothing(seed, of_people, of_judge):
    values = drawn(seed)
    moved = QueryValues(values.query, values.people + of_people, values.judge + of_judge)
    one, other = mean(values), mean(moved)
    assert other.weight == pytest.approx(one.weight)
    assert other.combined.value == pytest.approx(one.combined.value + of_people)
    assert other.combined.high - other.combined.low == pytest.approx(one.combined.high - one.combined.low)


@given(st.integers(0, 2**20), st.booleans())
def test_without_weight_it_is_people_alone(seed, as_share):
    values = drawn(seed)
    within = (0.0, 1.0) if as_share else None
    found = mean(values, within=within, weight=0.0)
    limits = (found.people.value, found.people.low, found.people.high)
    assert (found.combined.value, found.combined.low, found.combined.high) == limits
    assert (found.worth, found.weight) == (40, 0)


@given(st.integers(0, 2**20))
def test_a_judge_that_says_what_people_say_gives_the_mean_of_all(seed):
    size, n = 200, 50
    judge = np.random.default_rng(seed).random(size)
    found = mean(of(judge[:n], judge), weight=(size - n) / size)
    assert found.combined.value == pytest.approx(judge.mean())
    tuned = mean(of(judge[:n], judge))
    assert tuned.worth > 2 * n
    assert abs(tuned.combined.value - judge.mean()) <= abs(judge[:n].mean() - judge.mean()) + 1e-12


@given(st.integers(0, 2**20))
def test_the_order_of_queries_is_of_no_account_and_shares_stay_shares(seed):
    values = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(values.query))
    turned = QueryValues(values.query, values.people[order], values.judge[order])
    one, other = (mean(each, within=(0.0, 1.0)).combined for each in (values, turned))
    assert other.value == pytest.approx(one.value)
    assert 0 <= one.low <= one.value <= one.high <= 1


def test_a_range_is_a_share_stretched():
    values = drawn(5)
    wide = QueryValues(values.query, 1 + 4 * values.people, 1 + 4 * values.judge)
    one, other = mean(values, within=(0.0, 1.0)), mean(wide, within=(1.0, 5.0))
    assert other.combined.low == pytest.approx(1 + 4 * one.combined.low)
    assert other.worth == pytest.approx(one.worth)
    alone = mean_within(
        wide.people[:40], np.arange(40), (1.0, 5.0), unit="queries", resample=spec(), empty="none"
    )
    assert (other.people.low, other.people.high) == (alone.low, alone.high)


@pytest.mark.parametrize("judge", ["always the same", "the opposite"])
def test_a_judge_that_says_nothing_has_no_weight(judge):
    values = drawn(3)
    said = np.full(200, 0.5) if judge == "always the same" else 1 - values.judge
    found = mean(QueryValues(values.query, values.people, said))
    assert (found.weight, found.worth) == (0, 40)
    assert (found.combined.low, found.combined.high) == (found.people.low, found.people.high)


def test_queries_without_the_judge_get_its_mean_and_are_counted():
    values = drawn(8)
    gap = values.judge.copy()
    gap[[3, 90, 150]] = np.nan
    filled = np.where(np.isnan(gap), np.nanmean(gap), gap)
    one = mean(QueryValues(values.query, values.people, gap))
    other = mean(QueryValues(values.query, values.people, filled))
    assert (one.unjudged, other.unjudged) == (3, 0)
    assert one.combined.value == pytest.approx(other.combined.value)


def test_what_has_no_combined_mean_says_why():
    rng = np.random.default_rng(1)
    few = mean(of(rng.random(29), rng.random(100)))
    assert few.combined.undefined == FEW.format(least=30, n=29)
    assert few.people.value is not None
    assert mean(of(rng.random(100), rng.random(100))).combined.undefined == NO_OTHERS
    assert mean(of(rng.random(40), np.full(100, np.nan))).combined.undefined == NO_JUDGE
    judge = np.concatenate([np.zeros(20), np.full(20, 0.2), np.full(60, 1.0)])
    people = np.concatenate([np.full(20, 0.9), np.full(20, 1.0)])
    assert mean(of(people, judge), within=(0.0, 1.0), weight=1.0).combined.undefined == OUTSIDE
    with pytest.raises(ParameterError):
        mean(drawn(1), weight=1.5)


def test_values_of_queries():
    """A query of which people left out a unit has none of theirs; the judge's is the mean of what it gave."""
    nan = np.nan
    people, judge = np.array([1, 2, 3, nan, 5]), np.array([0, nan, 2, 4, nan])
    found = query_values(people, judge, np.array([7, 7, 9, 9, 12]))
    assert found.query.tolist() == [7, 9, 12]
    np.testing.assert_array_equal(found.people, [1.5, nan, 5])
    np.testing.assert_array_equal(found.judge, [0, 3, nan])
    inside = found.of_people(np.array([True, True, False]))
    np.testing.assert_array_equal(inside.people, [1.5, nan, nan])
    other = QueryValues(np.array([9, 7]), np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    np.testing.assert_array_equal((found - other).query, [7, 9])
    np.testing.assert_array_equal((found - other).judge, [-1, 2])
    with pytest.raises(TidyDataError):
        query_values(people, judge[:3], np.arange(5))


def slow_half_width(spread, n, size):
    """The least over many weights, in place of the formula's."""
    weights = np.linspace(0, 1, 20_001)
    variance = (spread.people - 2 * weights * spread.both + weights**2 * spread.judge) / n
    return stats.t.ppf(0.975, n - 2) * np.sqrt((variance + weights**2 * spread.judge / (size - n)).min())


@pytest.mark.parametrize("both", [-0.05, 0.0, 0.08, 0.12])
def test_half_widths_are_those_of_the_best_weight(both):
    spread = Spread(0.16, 0.09, both)
    for n in (30, 90, 400):
        [found] = half_widths(spread, np.array([n]), 500)
        assert found == pytest.approx(slow_half_width(spread, n, 500), rel=1e-6)


def test_labels_needed():
    """By hand: 0.96 (1.96 and a bit, times 0.5) / 0.05 squared is 385 and a few; with a judge of r = 0.8, fewer."""
    spread = Spread(0.25, 0.25, 0.2)
    alone = labels_needed(spread, 0.05, queries=None)
    assert alone == next(n for n in range(30, 600) if stats.t.ppf(0.975, n - 1) * (0.25 / n) ** 0.5 <= 0.05)
    assert 385 <= alone <= 389
    found = labels_needed(spread, 0.05, queries=2_000)
    assert found == next(n for n in range(30, 600) if slow_half_width(spread, n, 2_000) <= 0.05)
    assert found < 0.5 * alone
    # Over 300 queries people's own values leave 0.057, even where all of them are labelled.
    assert labels_needed(spread, 0.05, queries=300) is None
    assert labels_needed(Spread(0.25, 0.0, 0.0), 0.05, queries=2_000) == pytest.approx(alone, abs=1)
    assert labels_needed(Spread(0.0, 0.2, 0.0), 0.01, queries=100) == 30
    with pytest.raises(ParameterError):
        labels_needed(spread, 0.0, queries=None)


def test_labels_needed_are_what_gives_that_width():
    """Studies with so many labelled queries have about that half width."""
    rng = np.random.default_rng(6)
    both = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=(200, 1_000))
    spread = Spread(1.0, 1.0, 0.7)
    n = labels_needed(spread, 0.15, queries=1_000)
    widths = [mean(of(each[:n, 0], each[:, 1])).combined for each in both]
    assert np.median([each.high - each.low for each in widths]) == pytest.approx(0.3, rel=0.03)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from analytics.statistics.core import resampling
from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.resampling import (
    NO_VARIATION,
    ONE_QUERY,
    UNDEFINED_WITHOUT_ONE,
    ResampleSpec,
    divide,
    draw_queries,
    mean_estimate,
    query_estimates,
    shares_of_last,
    sum_by,
    sums_by_query,
    wilson_interval,
)
from tests.analytics.statistics.build import spec


def test_sums_by_code() -> None:
    assert sum_by(np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist() == [2, 0, 4, 0]
    assert sum_by(np.array([1, 1]), np.array([[1.0, 2.0], [3.0, 4.0]]), 2).tolist() == [[0, 0], [4, 6]]


def test_every_replicate_draws_as_many_queries_as_there_are(monkeypatch) -> None:
    monkeypatch.setattr(resampling, "CHUNK_BYTES", 8 * 9 * 3)
    drawn = list(draw_queries(9, rng=np.random.default_rng(0), replicates=7))
    assert [len(chunk) for chunk in drawn] == [3, 3, 1]
    assert all((chunk.sum(axis=1) == 9).all() for chunk in drawn)


def test_moments_are_those_of_the_bootstrap() -> None:
    # The mean of n draws with replacement has the sample's mean and the sample's variance over n.
    values = np.random.default_rng(1).integers(0, 10**6, 400).astype(float)
    chunks = draw_queries(400, rng=np.random.default_rng(2), replicates=4000)
    means = np.concatenate([drawn @ values for drawn in chunks]) / 400
    assert means.mean() == pytest.approx(values.mean(), rel=0.01)
    assert means.var() == pytest.approx(values.var() / 400, rel=0.1)


def test_queries_enter_with_all_their_items() -> None:
    query = np.array([5, 5, 5, 9, 9, 9])
    columns = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [2.0]])
    assert sums_by_query(columns, query).tolist() == [[3], [2]]
    assert sums_by_query(columns[:0], query[:0]).shape == (0, 1)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=40), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_rows_does_not_change_an_interval(values, shuffle, share) -> None:
    rows = list(enumerate(values))
    shuffle.shuffle(rows)
    there, back = (
        mean_estimate(
            np.array([value for _, value in each]),
            np.array([at // 2 for at, _ in each]),
            unit="items",
            resample=spec(),
            empty="None.",
            share=share,
        )
        for each in (list(enumerate(values)), rows)
    )
    assert (there.low is None) == (back.low is None)
    if there.low is not None:
        assert (back.low, back.high) == pytest.approx((there.low, there.high), abs=1e-9)


def test_one_query_has_no_interval() -> None:
    estimate = mean_estimate(
        np.array([1.0, 0.0]), np.array([3, 3]), unit="items", resample=spec(), empty="None."
    )
    assert (estimate.value, estimate.low) == (0.5, None)
    assert estimate.undefined == ONE_QUERY


def test_no_rows_are_undefined() -> None:
    estimate = mean_estimate(
        np.zeros(0), np.zeros(0, dtype=int), unit="items", resample=spec(), empty="Nothing."
    )
    assert (estimate.value, estimate.undefined, estimate.n) == (None, "Nothing.", 0)


def test_the_mean_of_equal_values_has_no_interval_of_no_width() -> None:
    for shares in (np.zeros(30), np.ones(30), np.full(30, 0.5)):
        estimate = mean_estimate(shares, np.arange(30), unit="items", resample=spec(), empty="Nothing.")
        assert estimate.value == shares[0]
        assert (estimate.low, estimate.high) == (None, None)
        assert estimate.undefined == NO_VARIATION


def test_a_share_of_nothing_or_of_everything_has_the_interval_of_wilson() -> None:
    for shares, limits in ((np.zeros(30), (0.0, 0.1135)), (np.ones(30), (0.8865, 1.0))):
        estimate = mean_estimate(
            shares, np.arange(30) // 2, unit="items", resample=spec(level=0.95), empty="Nothing.", share=True
        )
        assert estimate.value == shares[0]
        # 15 queries of two items: the queries are the units.
        n = 15
        wide = 1.959964**2 / (n + 1.959964**2)
        assert (estimate.low, estimate.high) == pytest.approx(
            (0.0, wide) if shares[0] == 0 else (1 - wide, 1.0), abs=1e-6
        )
        assert estimate.method == "Wilson interval, as all 15 queries give the same value"
        assert estimate.undefined == ""
        single = wilson_interval(shares[0], 30)
        assert single == pytest.approx(limits, abs=5e-5)


def test_a_share_of_one_half_has_none() -> None:
    estimate = mean_estimate(
        np.full(30, 0.5), np.arange(30), unit="items", resample=spec(), empty="Nothing.", share=True
    )
    assert estimate.undefined == NO_VARIATION


def test_everything_in_one_query_has_no_interval() -> None:
    estimate = mean_estimate(
        np.ones(5), np.zeros(5, dtype=int), unit="items", resample=spec(), empty="Nothing.", share=True
    )
    assert (estimate.value, estimate.low, estimate.undefined) == (1.0, None, ONE_QUERY)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), Table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_intervals_of_wilson(hits: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(hits / n, n) == pytest.approx((low, high), abs=5e-5)


@given(st.floats(0.02, 0.98), st.integers(2, 400))
def test_wilson_is_that_of_statsmodels(share: float, n: int) -> None:
    expected = proportion_confint(share * n, n, method="wilson")
    assert wilson_interval(share, n) == pytest.approx(expected)


@given(st.integers(1, 100_000), st.floats(0.5, 0.999))
def test_the_limits_of_wilson_hold_nothing_and_everything(n: int, level: float) -> None:
    assert wilson_interval(0.0, n, level)[0] == 0
    assert wilson_interval(1.0, n, level)[1] == 1


def test_a_denominator_in_one_query_alone_has_no_interval() -> None:
    columns = np.zeros((40, 2))
    columns[0] = 1

    def estimate():
        return query_estimates(
            columns,
            np.arange(40),
            shares_of_last,
            n=1,
            unit="items",
            resample=spec(),
            empty="None.",
            scales=["share"],
        )[0]

    assert (estimate().value, estimate().low, estimate().undefined) == (1, None, UNDEFINED_WITHOUT_ONE)
    columns[:4, 1] = 1
    columns[:3, 0] = 1
    assert estimate().value == 0.75
    assert estimate().low < 0.75 < estimate().high
    assert estimate().left_out == ()


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    # Queries of three dependent items: the interval over queries covers, one over items would not.
    rng = np.random.default_rng(11)
    query = np.repeat(np.arange(60), 3)
    resample = ResampleSpec(12, replicates=300, level=0.9)
    covered = 0
    for _ in range(300):
        values = np.repeat(rng.random(60) < 0.4, 3).astype(float)
        estimate = mean_estimate(values, query, unit="items", resample=resample, empty="None.")
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= 0.4 <= estimate.high
    assert 0.84 <= covered / 300 <= 0.95


def test_division_by_zero_is_undefined() -> None:
    assert np.array_equal(divide(np.array([1.0, 1.0]), np.array([0.0, 2.0])), [np.nan, 0.5], equal_nan=True)


@pytest.mark.parametrize("parameters", [{"replicates": -1}, {"level": 0.0}, {"level": 1.0}])
def test_a_spec_is_checked(parameters) -> None:
    with pytest.raises(ParameterError):
        ResampleSpec(0, **parameters)

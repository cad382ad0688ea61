import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from evaluation.analytics import resampling
from evaluation.analytics.estimates import ParameterError
from evaluation.analytics.resampling import (
    UNDEFINED_REPLICATES,
    ResampleSpec,
    bootstrap_sums,
    divide,
    mean_estimate,
    percentile_interval,
    query_estimates,
    query_sums,
    resample_weights,
    shares_of_last,
    sum_by,
    wilson_interval,
)
from tests.analytics.build import quick, spec


def test_sums_by_code() -> None:
    assert sum_by(np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist() == [2, 0, 4, 0]
    assert sum_by(np.array([1, 1]), np.array([[1.0, 2.0], [3.0, 4.0]]), 2).tolist() == [[0, 0], [4, 6]]


@quick
@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.booleans())
def test_every_replicate_draws_as_many_units_as_there_are(weights, by_pattern) -> None:
    sizes = np.array(weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "MULTINOMIAL_COST", 0 if by_pattern else 10**9)
        patch.setattr(resampling, "CHUNK_BYTES", 8 * len(weights) * 3)
        drawn = list(resample_weights(sizes, rng=np.random.default_rng(0), replicates=7))
    assert [len(chunk) for chunk in drawn] == [3, 3, 1]
    assert all((chunk.sum(axis=1) == sizes.sum()).all() for chunk in drawn)


@pytest.mark.parametrize("cost", [0, 10**9], ids=["by pattern", "one by one"])
@pytest.mark.parametrize("levels", [3, 10**6], ids=["few patterns", "many patterns"])
def test_moments_are_those_of_the_bootstrap(monkeypatch, cost, levels) -> None:
    # The mean of n draws with replacement has the sample's mean and the sample's variance over n.
    monkeypatch.setattr(resampling, "MULTINOMIAL_COST", cost)
    values = np.random.default_rng(1).integers(0, levels, 400).astype(float)
    sums = bootstrap_sums(values[:, None], rng=np.random.default_rng(2), replicates=4000)[:, 0]
    assert sums.mean() / 400 == pytest.approx(values.mean(), rel=0.01)
    assert (sums / 400).var() == pytest.approx(values.var() / 400, rel=0.1)


def test_the_order_of_rows_does_not_change_a_seeded_resample() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.integers(0, 3, (300, 2)).astype(float)
    one = bootstrap_sums(vectors, rng=np.random.default_rng(1), replicates=50)
    other = bootstrap_sums(vectors[rng.permutation(300)], rng=np.random.default_rng(1), replicates=50)
    assert np.array_equal(one, other)


def test_queries_enter_with_all_their_items() -> None:
    # Two queries, ones and zeros: a replicate has 0, 3 or 6 ones, never a number between.
    query = np.array([5, 5, 5, 9, 9, 9])
    columns = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]])
    sums = query_sums(columns, query, spec())
    assert sums.queries == 2
    assert sums.observed.tolist() == [3]
    assert set(sums.replicates[:, 0].tolist()) == {0.0, 3.0, 6.0}


def test_percentiles() -> None:
    interval = percentile_interval(np.arange(1001.0), 0.9)
    assert (interval.low, interval.high) == pytest.approx((50, 950))


def test_undefined_replicates_are_counted_and_too_many_refused() -> None:
    few = np.r_[np.arange(98.0), np.nan, np.inf]
    assert percentile_interval(few).n_undefined == 2
    many = percentile_interval(np.r_[np.arange(90.0), np.full(10, np.nan)])
    assert many.low is None
    assert "10 of 100" in many.undefined


def test_one_query_has_no_interval() -> None:
    estimate = mean_estimate(
        np.array([1.0, 0.0]), np.array([3, 3]), unit="items", resample=spec(), empty="None."
    )
    assert (estimate.value, estimate.low) == (0.5, None)
    assert "at least two units" in estimate.undefined


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
        assert estimate.undefined == "Every bootstrap replicate gives the same value."


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
        assert estimate.method == f"Wilson interval, as all 15 queries give {int(shares[0])}"
        assert estimate.undefined == ""
        single = wilson_interval(shares[0], 30)
        assert single == pytest.approx(limits, abs=5e-5)


def test_a_share_of_one_half_has_none() -> None:
    estimate = mean_estimate(
        np.full(30, 0.5), np.arange(30), unit="items", resample=spec(), empty="Nothing.", share=True
    )
    assert estimate.undefined == "Every bootstrap replicate gives the same value."


def test_one_query_or_no_replicates_have_no_interval() -> None:
    for query, replicates in ((np.zeros(5, dtype=int), 200), (np.arange(5), 0)):
        estimate = mean_estimate(
            np.ones(5), query, unit="items", resample=spec(replicates), empty="Nothing.", share=True
        )
        assert (estimate.value, estimate.low) == (1.0, None)


@given(st.floats(0.02, 0.98), st.integers(2, 400))
def test_wilson_is_that_of_statsmodels(share: float, n: int) -> None:
    expected = proportion_confint(share * n, n, method="wilson")
    assert wilson_interval(share, n) == pytest.approx(expected)


def test_replicates_without_a_denominator_are_left_out_and_counted() -> None:
    # Of 40 queries a single one is in the denominator: about 1 in e replicates misses it.
    columns = np.zeros((40, 2))
    columns[0] = 1
    (estimate,) = query_estimates(
        columns, np.arange(40), shares_of_last, n=1, unit="items", resample=spec(), empty="None."
    )
    assert estimate.value == 1
    assert estimate.low is None
    columns[:4, 1] = 1
    columns[:3, 0] = 1
    (estimate,) = query_estimates(
        columns, np.arange(40), shares_of_last, n=4, unit="items", resample=spec(), empty="None."
    )
    assert estimate.value == 0.75
    assert estimate.low is not None
    assert estimate.low < 0.75 < estimate.high
    assert estimate.left_out[0].reason == UNDEFINED_REPLICATES


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    # Queries of three dependent items: the interval over queries covers, one over items would not.
    rng = np.random.default_rng(11)
    query = np.repeat(np.arange(60), 3)
    resample = ResampleSpec(np.random.default_rng(12), replicates=300, level=0.9)
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
        ResampleSpec(np.random.default_rng(0), **parameters)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core.resampling import UNDEFINED_WITHOUT_ONE
from analytics.statistics.core.values import unit_means
from analytics.statistics.judges.ratings_vs_people import compare_means, correlations
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_values, random_rows

pair_lists = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=15)


def test_people_and_a_judge_by_hand() -> None:
    people = make_values([(0, 0, 0, 1), (0, 0, 1, 2), (1, 0, 0, 3), (2, 0, 0, 2), (2, 0, 1, 2), (3, 0, 0, 1)])
    judge = make_values([(0, 0, 9, 1), (1, 0, 9, 3), (2, 0, 9, 2.5), (3, 0, 9, 2)])
    found = compare_means(people, judge, resample=spec(), unit="responses")
    assert found.error.n == 4
    assert found.error.value == pytest.approx((0.5 + 0 + 0.5 + 1) / 4)
    assert found.difference.value == pytest.approx((-0.5 + 0 + 0.5 + 1) / 4)
    assert found.pearson.value == pytest.approx(stats.pearsonr([1.5, 3, 2, 1], [1, 3, 2.5, 2]).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr([1.5, 3, 2, 1], [1, 3, 2.5, 2]).statistic)


def test_the_published_flow_meters() -> None:
    # Bland and Altman, Lancet (1986): peak flow of 17 people by a large and a small meter, in l/min; the large one
    # reads 2.1 less, and r = .94.
    large = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
    small = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
    one, other = (
        make_values([(item, 0, rater, value) for item, value in enumerate(values)])
        for rater, values in enumerate((small, large))
    )
    found = compare_means(one, other, resample=spec(), unit="people")
    assert found.difference.value == pytest.approx(-2.1, abs=0.05)
    assert found.pearson.value == pytest.approx(0.94, abs=5e-3)


def test_only_what_both_rated_is_compared() -> None:
    rows = random_rows(np.random.default_rng(1), [1, 2, 3, 4, 5])
    values = make_values(rows)
    people, judge = values.where((values.rater < 2) & (values.unit > 4)), values.where(values.rater == 2)
    found = compare_means(people, judge, resample=spec(), unit="responses")
    mine, theirs = set(people.unit.tolist()), set(judge.unit.tolist())
    assert found.error.n == found.spearman.n == len(mine & theirs)
    assert {part.reason: part.n for part in found.pearson.left_out} == {
        "responses that only people rated": len(mine - theirs),
        "responses that only the judge rated": len(theirs - mine),
    }
    one, other = unit_means(people), unit_means(judge)
    both = sorted(mine & theirs)
    x, y = (dict(zip(of.unit.tolist(), of.mean, strict=True)) for of in (one, other))
    assert found.spearman.value == pytest.approx(
        stats.spearmanr([x[u] for u in both], [y[u] for u in both]).statistic
    )
    assert found.spearman.low < found.spearman.value < found.spearman.high


@given(pair_lists, st.integers(0, 100))
def test_correlations_against_scipy(pairs, seed) -> None:
    x, y = (np.array([pair[k] for pair in pairs], dtype=float) for k in range(2))
    query = np.random.default_rng(seed).integers(0, 5, len(x))
    pearson, spearman = correlations(x, y, query, resample=spec(20))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert "same mean throughout" in pearson.undefined
        assert spearman.value is None
        return
    assert pearson.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    swapped = correlations(y, x, query, resample=spec(0))
    assert (swapped[0].value, swapped[1].value) == pytest.approx((pearson.value, spearman.value))


def test_the_intervals_are_those_of_queries_drawn_one_by_one() -> None:
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(40), 3)
    x = rng.integers(1, 6, 120).astype(float) + np.repeat(rng.integers(0, 3, 40), 3)
    y = x + rng.integers(-2, 3, 120)
    found = correlations(x, y, query, resample=spec(1500))
    drawn = []
    for _ in range(800):
        rows = np.concatenate([np.flatnonzero(query == q) for q in rng.integers(0, 40, 40)])
        drawn.append(
            (stats.pearsonr(x[rows], y[rows]).statistic, stats.spearmanr(x[rows], y[rows]).statistic)
        )
    for estimate, samples in zip(found, np.array(drawn).T, strict=True):
        low, high = np.quantile(samples, [0.025, 0.975])
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.025)


def test_a_correlation_that_hangs_on_one_query_has_no_interval() -> None:
    # One query of ten brings the second value: without it there is nothing to correlate.
    x = np.array([0.1] * 9 + [0.7])
    y = np.linspace(0, 1, 10)
    pearson, spearman = correlations(x, y, np.arange(10), resample=spec())
    for found in (pearson, spearman):
        assert found.value is not None
        assert found.low is None
        assert found.undefined == UNDEFINED_WITHOUT_ONE


def test_nothing_shared_is_undefined() -> None:
    nobody = make_values([])
    found = compare_means(make_values([(0, 0, 0, 1)]), nobody, resample=spec())
    for estimate in (found.error, found.difference, found.pearson, found.spearman):
        assert estimate.undefined == "There are no items that both groups rated."

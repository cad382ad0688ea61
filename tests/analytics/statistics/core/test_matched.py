"""The difference of one figure between two studies, each query left out of both at once."""

import itertools

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.alpha_sums import alpha_sums, alpha_sums_of_values
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.interval_notes import NOTE
from analytics.statistics.core.matched import (
    NOTHING_MATCHED,
    ONLY_ONE,
    UNDEFINED_IN_ONE,
    UNDEFINED_WITHOUT_ONE,
    QuerySums,
    matched_difference,
    mean_sums,
    pearson_sums,
)
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import NO_VARIATION, ResampleSpec, mean_estimate, shares_of_last
from analytics.statistics.core.values import Values

TESTS = Randomization(1)
# Student (1908), as Fisher (1935) took it up: hours of sleep gained by ten patients under two drugs.
FIRST_DRUG = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SECOND_DRUG = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


def means(values, query=None, **options):
    codes = np.arange(len(values)) if query is None else np.asarray(query)
    return mean_sums(np.asarray(values, dtype=float), codes, unit="items", **options)


def test_students_sleep_data() -> None:
    """A value per query is the paired t-test: mean difference 1.58, interval 0.70 to 2.46 (Student 1908)."""
    found = matched_difference(means(FIRST_DRUG), means(SECOND_DRUG), tests=TESTS)
    paired = stats.ttest_rel(SECOND_DRUG, FIRST_DRUG).confidence_interval(0.95)
    assert (found.first.value, found.second.value) == (pytest.approx(0.75), pytest.approx(2.33))
    assert found.difference.value == pytest.approx(1.58)
    assert (found.difference.low, found.difference.high) == pytest.approx((paired.low, paired.high))
    assert (found.difference.low, found.difference.high) == pytest.approx((0.70, 2.46), abs=0.005)
    # All 2^10 signs of the patients' differences.
    change = SECOND_DRUG - FIRST_DRUG
    sums = [abs(change @ signs) for signs in itertools.product((-1, 1), repeat=10)]
    assert found.test.p_value == pytest.approx(np.mean(np.array(sums) >= change.sum() - 1e-9))
    assert (found.queries, found.test.n) == (10, 10)


def by_hand(figure, first, second):
    """Value and standard error of the difference: the figure computed anew without each query."""
    queries = sorted(set(first[1]) & set(second[1]))

    def of(rows, query, left=None):
        return figure(rows[np.isin(query, queries) & (query != left)])

    without = np.array([of(*second, left) - of(*first, left) for left in queries])
    n = len(queries)
    return of(*second) - of(*first), np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())


def slow_alpha(level):
    return lambda counts: krippendorff.alpha(
        value_counts=counts, level_of_measurement=level, value_domain=np.arange(counts.shape[1])
    )


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_against_the_package_without_each_query(level) -> None:
    rng = np.random.default_rng(3)
    first = rng.multinomial(3, [0.5, 0.2, 0.2, 0.1], size=40), np.repeat(np.arange(10), 4)
    second = rng.multinomial(4, [0.3, 0.3, 0.2, 0.2], size=30), np.repeat(np.arange(2, 12), 3)
    found = matched_difference(alpha_sums(*first, level=level), alpha_sums(*second, level=level), tests=TESTS)
    value, error = by_hand(slow_alpha(level), first, second)
    half = stats.t.ppf(0.975, 7) * error
    assert found.difference.value == pytest.approx(value)
    assert (found.difference.low, found.difference.high) == pytest.approx((value - half, value + half))
    assert (found.queries, found.first.n, found.second.n) == (8, 32, 24)
    assert [(part.reason, part.n) for part in found.difference.left_out] == [(ONLY_ONE, 4)]
    assert found.test.n == 8


def test_shares_against_leaving_out_by_hand() -> None:
    """On the scale of Fisher's z, so that the limits are no more than 1 apart."""
    rng = np.random.default_rng(4)
    first = (rng.random(30) < 0.9).astype(float), np.repeat(np.arange(10), 3)
    second = (rng.random(20) < 0.2).astype(float), np.repeat(np.arange(10), 2)
    sums = [means(*each, within=(0.0, 1.0)) for each in (first, second)]
    found = matched_difference(*sums, tests=TESTS).difference
    value, error = by_hand(np.mean, first, second)
    half = stats.t.ppf(0.975, 9) * error / (1 - value**2)
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(np.tanh(np.arctanh(value) - half))
    assert found.high == pytest.approx(np.tanh(np.arctanh(value) + half))


def test_a_scale_is_a_share_of_its_range() -> None:
    rng = np.random.default_rng(5)
    shares = [rng.integers(0, 5, 20) / 4 for _ in range(2)]
    as_shares = matched_difference(*(means(each, within=(0.0, 1.0)) for each in shares), tests=TESTS)
    on_scale = matched_difference(*(means(4 * each + 1, within=(1.0, 5.0)) for each in shares), tests=TESTS)
    assert on_scale.first.value == pytest.approx(4 * as_shares.first.value + 1)
    assert on_scale.first.high == pytest.approx(4 * as_shares.first.high + 1)
    assert on_scale.difference.low == pytest.approx(4 * as_shares.difference.low)
    assert on_scale.test.p_value == as_shares.test.p_value


def test_each_side_is_what_a_report_says_where_all_queries_match() -> None:
    rng = np.random.default_rng(6)
    counts, query = rng.multinomial(3, [0.5, 0.3, 0.2], size=60), np.repeat(np.arange(20), 3)
    for level in ("nominal", "ordinal", "interval"):
        sums = alpha_sums(counts, query, level=level)
        ours = matched_difference(sums, sums, tests=TESTS).first
        report = krippendorff_alpha(counts, query, level=level, resample=ResampleSpec(1))
        assert (ours.value, ours.low, ours.high) == pytest.approx((report.value, report.low, report.high))
        assert (ours.n, ours.unit, ours.method) == (report.n, report.unit, report.method)
    share = rng.random(60)
    ours = matched_difference(*[means(share, query, within=(0.0, 1.0))] * 2, tests=TESTS).second
    report = mean_estimate(share, query, unit="items", resample=ResampleSpec(1), empty="", share=True)
    assert (ours.value, ours.low, ours.high) == pytest.approx((report.value, report.low, report.high))


def test_alpha_of_ratings_between_the_points() -> None:
    rng = np.random.default_rng(7)
    n = 90
    values = Values(
        unit=np.arange(n) // 3,
        query=np.arange(n) // 9,
        system=np.full(n, -1),
        part=np.zeros(n, dtype=int),
        item=np.arange(n) // 3,
        rater=np.arange(n) % 3,
        value=np.clip(rng.normal(3, 1, n), 1, 5),
    )
    points = (1.0, 2.0, 3.0, 4.0, 5.0)
    sums = alpha_sums_of_values(values, level="interval", points=points)
    ours = matched_difference(sums, sums, tests=TESTS).first
    report = alpha_of_values(values, level="interval", points=points, resample=ResampleSpec(1))
    assert (ours.value, ours.low) == pytest.approx((report.value, report.low))


def test_pearson_against_leaving_out_by_hand() -> None:
    rng = np.random.default_rng(8)
    sides = []
    for _ in range(2):
        x = rng.normal(1000, 1, 24)
        sides.append((np.column_stack([x, x + rng.normal(0, 2, 24)]), np.repeat(np.arange(8), 3)))
    sums = [pearson_sums(pairs[:, 0], pairs[:, 1], query, unit="items") for pairs, query in sides]
    found = matched_difference(*sums, tests=TESTS)
    value, error = by_hand(lambda pairs: stats.pearsonr(*pairs.T).statistic, *sides)
    half = stats.t.ppf(0.975, 7) * error
    assert found.difference.value == pytest.approx(value)
    assert found.difference.high == pytest.approx(value + half)


def test_a_constant_has_no_correlation() -> None:
    constant, varied, query = np.full(6, 0.1), np.arange(6.0), np.arange(6)
    sums = pearson_sums(constant, varied, query, unit="items")
    found = matched_difference(sums, sums, tests=TESTS)
    assert (found.first.value, found.first.undefined) == (None, UNDEFINED_IN_ONE)
    assert (found.test, found.untested) == (None, UNDEFINED_IN_ONE)


def test_nothing_is_matched() -> None:
    found = matched_difference(means([1, 2], [0, 1]), means([1, 2], [2, -1]), tests=TESTS)
    assert (found.queries, found.test, found.untested) == (0, None, NOTHING_MATCHED)
    assert found.difference.undefined == found.first.undefined == NOTHING_MATCHED
    # A query of code -1 is not to be counted at all.
    assert found.difference.n_left_out == 3


def test_without_variation_there_is_no_interval_and_still_a_test() -> None:
    found = matched_difference(means(np.zeros(10)), means(np.ones(10)), tests=TESTS)
    assert (found.difference.low, found.difference.undefined) == (None, NO_VARIATION)
    assert found.test.p_value == pytest.approx(2 / 2**10)
    same = matched_difference(means(FIRST_DRUG), means(FIRST_DRUG), tests=TESTS)
    assert (same.difference.value, same.difference.low, same.test.p_value) == (0, None, 1)


def test_one_query_has_a_difference_and_nothing_else() -> None:
    found = matched_difference(means([1.0, 0.0], [4, 4]), means([1.0], [4]), tests=TESTS)
    assert (found.difference.value, found.difference.low, found.test.p_value) == (0.5, None, 1)


def test_undefined_without_one_of_the_queries() -> None:
    """Only one query has items whose raters differ in what they say."""
    counts = np.array([[2, 0], [2, 0], [1, 1]])
    sums = alpha_sums(counts, np.arange(3), level="nominal")
    found = matched_difference(sums, sums, tests=TESTS)
    assert found.difference.value == 0
    assert (found.test, found.untested) == (None, UNDEFINED_WITHOUT_ONE)


def test_uneven_labels_are_noted_on_the_difference() -> None:
    counts = np.array([[3, 0]] * 18 + [[2, 1], [1, 2]])
    other = np.array([[3, 0], [0, 3]] * 9 + [[2, 1], [1, 2]])
    sums = [alpha_sums(each, np.arange(20), level="nominal") for each in (counts, other)]
    found = matched_difference(*sums, tests=TESTS)
    assert (found.first.note, found.second.note, found.difference.note) == (NOTE, "", NOTE)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(TidyDataError, match="one query for each row"):
        QuerySums(np.ones((3, 2)), np.arange(2), shares_of_last, "items")
    with pytest.raises(TidyDataError, match="the counts of each row"):
        QuerySums(np.ones((2, 2)), np.arange(2), shares_of_last, "items", counts=np.ones((3, 2), dtype=int))
    with pytest.raises(ParameterError, match="no alpha for the level of measurement ratio"):
        alpha_sums(np.ones((2, 2), dtype=int), np.arange(2), level="ratio")


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_turned_round_and_in_another_order(seed, n) -> None:
    """B less A is minus A less B, whatever the order of the rows and the codes of the queries."""
    rng = np.random.default_rng(seed)
    query = rng.integers(0, n, 40)
    first, second = rng.integers(0, 2, (2, 40)).astype(float)
    one = matched_difference(means(first, query), means(second, query), tests=TESTS)
    order = rng.permutation(40)
    codes = rng.permutation(n) + 3
    there, back = means(first, codes[query]), means(second[order], codes[query[order]])
    other = matched_difference(back, there, tests=TESTS)
    assert other.difference.value == pytest.approx(-one.difference.value)
    assert other.queries == one.queries
    if one.difference.low is not None and other.difference.low is not None:
        assert other.difference.low == pytest.approx(-one.difference.high, abs=1e-9)
        assert other.test.p_value == pytest.approx(one.test.p_value)

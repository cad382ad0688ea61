from itertools import product

import numpy as np
import pytest
import scipy
from hypothesis import given

from analytics.statistics.core.estimates import LeftOut, ParameterError, TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.values import OFF_POINTS
from analytics.statistics.ratings.scales import (
    best_and_worst,
    distribution,
    distributions_by_group,
    mean_value,
    means_by_group,
)
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.core.test_values import row_lists
from tests.analytics.statistics.rating_arrays import make_values, random_rows

# Two systems on three items of two queries; the second item has one rating more.
ROWS = [
    (0, 0, 0, 3.0), (0, 0, 1, 2.0), (0, 1, 0, 1.0), (0, 1, 1, 1.0),
    (1, 0, 0, 3.0), (1, 0, 1, 3.0), (1, 0, 2, 3.0), (1, 1, 0, 2.0), (1, 1, 1, 0.0), (1, 1, 2, 1.0),
    (2, 0, 0, 1.0), (2, 1, 0, 3.0),
]  # fmt: skip
QUERY = [0, 0, 1]
TESTS = Randomization(5)


def test_a_mean_is_that_of_all_ratings() -> None:
    values = make_values(ROWS, QUERY)
    first, second = means_by_group(values, values.system, 2, resample=spec())
    assert first.mean.value == pytest.approx(15 / 6)  # and not the mean of 2.5, 3 and 1
    assert second.mean.value == pytest.approx(8 / 6)
    assert (first.mean.n, first.mean.unit, first.n_units, first.n_queries) == (6, "ratings", 3, 2)
    assert first.standard_deviation == pytest.approx(np.std([3, 2, 3, 3, 3, 1], ddof=1))
    assert "2 queries" in first.mean.method


def test_means_by_any_factor_against_a_loop() -> None:
    rows = random_rows(np.random.default_rng(1), [1, 2, 3, 4, 5])
    values = make_values(rows)
    arm = np.array([item % 3 - 1 for item, *_ in rows])  # -1: in no group
    for code, found in enumerate(means_by_group(values, arm, 2, resample=spec())):
        mine = [value for item, _, _, value in rows if item % 3 - 1 == code]
        assert found.mean.value == pytest.approx(sum(mine) / len(mine))
        assert found.mean.low < found.mean.value < found.mean.high
        assert (found.mean.n, found.n_queries) == (len(mine), 10)


def test_the_interval_has_the_width_of_independent_queries() -> None:
    rng = np.random.default_rng(2)
    rows = [
        (item, part, 0, float(value)) for item, value in enumerate(rng.normal(size=400)) for part in range(5)
    ]
    found = mean_value(make_values(rows), resample=spec(2000)).mean
    values = np.array([row[3] for row in rows if row[1] == 0])
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.08)


@given(row_lists)
def test_doubling_the_data_keeps_means_and_shares(rows) -> None:
    values = make_values(rows)
    doubled = make_values(rows + [(item + 6, part, rater, value) for item, part, rater, value in rows])
    for figure in (
        lambda v: mean_value(v, resample=spec(0)).mean.value,
        lambda v: [share.value for share in distribution(v, range(4), resample=spec(0)).shares],
    ):
        one = figure(values)
        assert figure(doubled) == (one if one in (None, [None] * 4) else pytest.approx(one))


def test_a_distribution_and_what_lies_between_its_points() -> None:
    values = make_values([*ROWS, (2, 0, 5, 1.5)], QUERY)
    found = distribution(values, [0, 1, 2, 3], resample=spec())
    assert found.points == (0, 1, 2, 3)
    assert found.counts == (1, 4, 2, 5)
    assert [share.value for share in found.shares] == pytest.approx([1 / 12, 4 / 12, 2 / 12, 5 / 12])
    assert found.left_out == found.shares[0].left_out == (LeftOut(OFF_POINTS, 1),)
    first, second = distributions_by_group(values, [0, 1, 2, 3], values.system, 2, resample=spec())
    assert (first.counts, second.counts) == ((0, 1, 1, 4), (1, 3, 1, 1))
    assert "Wilson" in first.shares[0].method  # nobody gave a 0, which is not to say that nobody would


def slow_two_sided(rows, one, other):
    """The side that one part lies on from the other over shared items, and the chance of a sum as far from zero."""
    means = {}
    for item, part, _, value in rows:
        means.setdefault((item, part), []).append(value)
    gaps = [
        np.mean(means[item, one]) - np.mean(means[item, other])
        for item in {row[0] for row in rows}
        if (item, one) in means and (item, other) in means
    ]
    sums = np.abs([np.dot(signs, gaps) for signs in product((1, -1), repeat=len(gaps))])
    total = sum(gaps)
    side = 0 if abs(total) < 1e-9 else np.sign(total)
    return side, np.mean(sums >= abs(total) - 1e-9), len(gaps), 2 / 2 ** sum(abs(gap) > 1e-9 for gap in gaps)


@given(row_lists)
def test_the_best_and_the_worst_against_all_signs(rows) -> None:
    values = make_values(rows)
    systems = sorted(set(values.system.tolist()))
    if len(systems) < 2:
        return
    means = {system: np.mean([row[3] for row in rows if row[1] == system]) for system in systems}
    slow = {
        system: [slow_two_sided(rows, system, other) for other in systems if other != system]
        for system in systems
    }
    least = min(max(min(1, least) for *_, least in each) for each in slow.values())
    best, worst = best_and_worst(values, values.system, systems, TESTS)
    assert means[best.group] == pytest.approx(max(means.values()))
    assert means[worst.group] == pytest.approx(min(means.values()))
    for found, expected_side in ((best, 1), (worst, -1)):
        expected = slow[found.group]
        largest = max(p if side == expected_side else 1 for side, p, *_ in expected)
        assert found.test.p_value == pytest.approx(largest)
        assert found.test.n == min(n for _, _, n, _ in expected)
        assert found.test.least == pytest.approx(least)
        assert found.test.least <= found.test.p_value + 1e-9


@given(row_lists)
def test_turned_round_the_best_is_the_worst(rows) -> None:
    values = make_values(rows)
    turned = make_values([(item, part, rater, 3 - value) for item, part, rater, value in rows])
    systems = sorted(set(values.system.tolist()))
    if len(systems) < 2:
        return
    best, worst = best_and_worst(values, values.system, systems, TESTS)
    lowest, highest = best_and_worst(turned, turned.system, systems, TESTS)[::-1]
    assert best.test.p_value == pytest.approx(lowest.test.p_value)
    assert worst.test.p_value == pytest.approx(highest.test.p_value)
    assert best.group != worst.group
    if len(systems) == 2:
        assert best.test == worst.test


def test_a_system_that_is_always_above_the_others() -> None:
    rows = [(item, part, rater, 3.0 - part) for item in range(12) for part in range(3) for rater in range(2)]
    values = make_values(rows)
    best, worst = best_and_worst(values, values.system, [0, 1, 2], TESTS)
    assert (best.group, worst.group) == (0, 2)
    assert (best.test.p_value, best.test.n, best.test.least) == (2 / 2**12, 12, 2 / 2**12)
    assert worst.test == best.test
    assert best.test.method == "largest of 2 two-sided: sign-flip over queries, exact"


def test_the_two_worst_alike_are_not_told_apart() -> None:
    rows = [
        (item, part, 0, 3.0 if part == 0 else float((item + part) % 2))
        for item in range(12)
        for part in range(3)
    ]
    values = make_values(rows)
    best, worst = best_and_worst(values, values.system, [0, 1, 2], TESTS)
    assert (best.group, best.test.p_value) == (0, 2 / 2**12)
    assert worst.test.p_value == 1


def test_the_highest_mean_of_all_need_not_be_above_each_on_shared_queries() -> None:
    # Part 1 was rated on more queries, and lower on the 12 that both have.
    rows = [(item, 0, 0, 2.0) for item in range(12)] + [(item, 1, 0, 1.0) for item in range(12)]
    rows += [(item, 1, 0, 3.0) for item in range(12, 40)]
    values = make_values(rows)
    best, worst = best_and_worst(values, values.system, [0, 1], TESTS)
    assert (best.group, best.test.p_value, best.test.n) == (1, 1, 12)
    assert (worst.group, worst.test.p_value) == (0, 1)


def test_winner_of_a_poll() -> None:
    """Hung and Fithian 2019, section 1.1 (Quinnipiac University's poll of 890 people, in percent): the winner's test is
    that against the second, a two-sided binomial one of those who chose either."""
    shares = [31, 24, 17, 8, 4, 4, 3, 2, 2]
    chose = np.repeat(np.arange(len(shares)), [round(890 * share / 100) for share in shares])
    values = make_values(
        [
            (item, part, 0, float(mine == part))
            for item, mine in enumerate(chose)
            for part in range(len(shares))
        ]
    )
    best, _ = best_and_worst(values, values.system, range(len(shares)), TESTS)
    assert (best.group, best.test.n) == (0, len(chose))
    assert best.test.p_value == pytest.approx(scipy.stats.binomtest(276, 276 + 214).pvalue)
    assert best.test.p_value == pytest.approx(0.0058, abs=5e-5)


def test_nothing_rated_is_undefined() -> None:
    values = make_values([])
    assert "no answers" in mean_value(values, resample=spec(), unit="answers").mean.undefined
    assert "no ratings" in distribution(values, [1, 2], resample=spec()).shares[0].undefined
    (empty,) = means_by_group(make_values(ROWS), np.full(12, -1), 1, resample=spec())
    assert (empty.mean.value, empty.standard_deviation, empty.n_units) == (None, None, 0)


def test_parameters_are_checked() -> None:
    values = make_values(ROWS)
    with pytest.raises(ParameterError, match="if there are several"):
        best_and_worst(values, values.system, [1], TESTS)
    with pytest.raises(ParameterError, match="without ratings"):
        best_and_worst(values, values.system, [0, 1, 2], TESTS)
    with pytest.raises(TidyDataError, match="each row"):
        means_by_group(values, np.array([0]), 1, resample=spec())


def test_limits_stay_on_the_scale_and_hold_a_lopsided_mean() -> None:
    # Of eight queries' ratings from 1 to 5, one is not the best.
    rows = [(item, 0, rater, 2.0 if item == rater == 0 else 5.0) for item in range(8) for rater in range(3)]
    found = mean_value(make_values(rows), resample=spec(), within=(1, 5)).mean
    assert found.value == pytest.approx(4.875)
    assert 1 < found.low < 4.5
    assert found.value < found.high < 5
    # By a plain t interval the mean could be better than the best.
    assert mean_value(make_values(rows), resample=spec()).mean.high > 5


def test_ratings_that_are_all_the_best_have_an_interval() -> None:
    rows = [(item, 0, rater, 5.0) for item in range(12) for rater in range(3)]
    found = mean_value(make_values(rows), resample=spec(), within=(1, 5)).mean
    # Wilson's lower limit of 12 out of 12 is 12 / (12 + 1.96 ** 2), as far up the scale.
    assert (found.value, found.high) == (5, 5)
    assert found.low == pytest.approx(1 + 4 * 12 / (12 + 1.96**2), abs=1e-4)
    middle = mean_value(make_values([(i, 0, 0, 3.0) for i in range(12)]), resample=spec(), within=(1, 5)).mean
    assert middle.low is None
    assert middle.undefined


def test_a_mean_within_ends_is_on_the_same_way_whatever_their_distance() -> None:
    rng = np.random.default_rng(3)
    rows = [(item, 0, 0, float(value)) for item, value in enumerate(rng.integers(0, 2, 20))]
    share = mean_value(make_values(rows), resample=spec(), within=(0, 1)).mean
    wider = [(item, part, rater, 10 + 5 * value) for item, part, rater, value in rows]
    found = mean_value(make_values(wider), resample=spec(), within=(10, 15)).mean
    assert (found.value, found.low, found.high) == pytest.approx(
        (10 + 5 * share.value, 10 + 5 * share.low, 10 + 5 * share.high)
    )

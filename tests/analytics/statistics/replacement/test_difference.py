import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.values import Values
from analytics.statistics.replacement.difference import judge_minus_people, shared_scores
from tests.analytics.statistics.build import spec

NO_TESTS = Randomization(0)
MISSING = np.nan


def found(people, judge, query=None, within=(0.0, 4.0)):
    query = np.arange(len(people)) if query is None else np.asarray(query)
    people, judge = np.asarray(people, dtype=float), np.asarray(judge, dtype=float)
    return judge_minus_people(
        people, judge, query, within=within, unit="items", resample=spec(), tests=NO_TESTS
    )


def test_by_hand():
    result = found([1, 2, 3, MISSING, 4], [2, 2, 1, 4, MISSING])
    assert (result.people.value, result.judge.value) == (pytest.approx(2), pytest.approx(5 / 3))
    assert result.difference.value == pytest.approx(-1 / 3)
    assert result.difference.left_out == (
        LeftOut("items that only people answered", 1),
        LeftOut("items that only the judge answered", 1),
    )
    # The signs of 1 and -2: of four sums, two lie at least as far from zero as -1, and two further.
    assert result.test.p_value == 1


def test_against_the_paired_t_interval():
    """With one unit of each query the jackknife of a mean is the paired t interval."""
    rng = np.random.default_rng(3)
    people, judge = rng.uniform(0, 4, 25), rng.uniform(0, 4, 25)
    limits = ttest_1samp(judge - people, 0).confidence_interval(0.95)
    result = found(people, judge).difference
    assert (result.low, result.high) == pytest.approx((limits.low, limits.high))


@given(st.lists(st.tuples(st.floats(0, 4), st.floats(0, 4)), min_size=3, max_size=12))
def test_the_difference_is_that_of_the_means_and_turns_with_its_sides(rows):
    people, judge = np.array(rows).T
    one, other = found(people, judge), found(judge, people)
    assert one.difference.value == pytest.approx(one.judge.value - one.people.value, abs=1e-9)
    assert one.difference.value == pytest.approx(-other.difference.value, abs=1e-9)
    assert one.test.p_value == other.test.p_value


def test_a_judge_that_is_always_one_above_is_found_and_has_no_interval_for_it():
    people = np.arange(12) % 4
    result = found(people, people + 1)
    assert result.difference.value == 1
    assert result.difference.low is None
    assert result.test.p_value == pytest.approx(2 / 2**12)


def test_nothing_in_common():
    result = found([1, MISSING], [MISSING, 2])
    assert result.difference.undefined == "There are no items that both people and the judge answered."
    assert result.test is None


def test_scores_are_put_side_by_side_by_their_units():
    people = ratings([(0, 1), (0, 3), (1, 2)])
    judge = ratings([(0, 2), (2, 4)])
    both = shared_scores(people, judge)
    np.testing.assert_array_equal(both.people, [2, 2, MISSING])
    np.testing.assert_array_equal(both.judge, [2, MISSING, 4])
    assert both.query.tolist() == [0, 1, 2]


def ratings(rows):
    """Values of (item, value), each by another rater."""
    item, value = (np.array(column) for column in zip(*rows, strict=True))
    none = np.zeros(len(item), dtype=np.int64)
    return Values(
        unit=item, query=item, system=none - 1, part=none, item=item, rater=np.arange(len(item)), value=value
    )


def test_columns_of_one_length():
    with pytest.raises(TidyDataError, match="one score for each unit"):
        found([1, 2], [1])

"""Measures beside answers: correlations over what has the measure, and the accuracy of choices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.judges.measures import associate, preference_accuracy
from tests.analytics.statistics.build import quick, spec

NAN = float("nan")
numbers = st.one_of(st.integers(0, 4).map(float), st.just(NAN))
rows = st.lists(st.tuples(numbers, numbers, st.integers(0, 4)), min_size=1, max_size=30)


def test_what_lacks_the_measure_is_left_out_and_counted():
    measure, mean = np.array([1, NAN, 3, 2, 5]), np.array([2.0, 4, 1, 2, 5])
    found = associate(measure, mean, np.arange(5), resample=spec(), unit="responses")
    there = np.isfinite(measure)
    assert found.pearson.value == pytest.approx(stats.pearsonr(measure[there], mean[there]).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr(measure[there], mean[there]).statistic)
    assert found.spearman.n == 4
    assert {each.reason: each.n for each in found.spearman.left_out} == {"responses without this measure": 1}


def test_accuracy_by_hand():
    found = preference_accuracy(
        np.array([3.0, 1, 2, NAN, 2]), np.array([1.0, 3, 2, 1, NAN]), np.arange(5), resample=spec()
    )
    assert found.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert found.n == 3
    assert sum(each.n for each in found.left_out) == 2
    assert found.unit == "choices"


@quick
@given(rows)
def test_accuracy_against_a_loop(rows):
    chosen, other, query = (np.array(column) for column in zip(*rows, strict=True))
    right = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b, _ in rows if not (np.isnan(a) or np.isnan(b))]
    found = preference_accuracy(chosen, other, query, resample=spec(0))
    if not right:
        assert found.value is None
        assert found.undefined
        return
    assert found.value == pytest.approx(sum(right) / len(right))
    swapped = preference_accuracy(other, chosen, query, resample=spec(0))
    assert swapped.value == pytest.approx(1 - found.value)
    # Any increasing change of the numbers leaves it as it is.
    stretched = preference_accuracy(np.exp(chosen), np.exp(other), query, resample=spec(0))
    assert stretched.value == pytest.approx(found.value)


def test_arrays_of_other_lengths_are_refused():
    two, three = np.ones(2), np.ones(3)
    with pytest.raises(ParameterError):
        associate(two, three, np.arange(2), resample=spec(), unit="items")
    with pytest.raises(ParameterError):
        preference_accuracy(two, three, np.arange(2), resample=spec())

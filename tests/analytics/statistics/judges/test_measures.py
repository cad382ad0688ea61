"""Measures beside answers: correlations over what has the measure, and the accuracy of choices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.judges.measures import associate, preference_accuracy
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import slow_mid_ranks

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


@given(rows)
def test_correlations_against_their_definitions(rows):
    """The slow twin: by sums over units that have the measure, and by their mid-ranks."""
    measure, mean, query = (np.array(column) for column in zip(*rows, strict=True))
    mean = np.nan_to_num(mean)
    there = [(a, b) for a, b in zip(measure, mean, strict=True) if not np.isnan(a)]
    found = associate(measure, mean, query, resample=spec(0), unit="responses")
    assert (found.pearson.n, found.pearson.n_left_out) == (len(there), len(rows) - len(there))
    x, y = ([pair[at] for pair in there] for at in (0, 1))
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert (found.pearson.value, found.spearman.value) == (None, None)
        return
    assert found.pearson.value == pytest.approx(slow_r(x, y), abs=1e-9)
    assert found.spearman.value == pytest.approx(slow_r(slow_mid_ranks(x), slow_mid_ranks(y)), abs=1e-9)
    # Turned round it has the other sign; of any increasing change rho stays as it is.
    turned = associate(-measure, mean, query, resample=spec(0), unit="responses")
    assert turned.pearson.value == pytest.approx(-found.pearson.value)
    stretched = associate(np.exp(measure), mean, query, resample=spec(0), unit="responses")
    assert stretched.spearman.value == pytest.approx(found.spearman.value)


def slow_r(x, y):
    n = len(x)
    middle_x, middle_y = sum(x) / n, sum(y) / n
    both = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return both / (sum((a - middle_x) ** 2 for a in x) * sum((b - middle_y) ** 2 for b in y)) ** 0.5


def test_accuracy_by_hand():
    found = preference_accuracy(
        np.array([3.0, 1, 2, NAN, 2]), np.array([1.0, 3, 2, 1, NAN]), np.arange(5), resample=spec()
    )
    assert found.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert found.n == 3
    assert sum(each.n for each in found.left_out) == 2
    assert found.unit == "choices"


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

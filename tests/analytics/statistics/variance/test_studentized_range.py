import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.variance.studentized_range import range_quantile, range_sf


@pytest.mark.parametrize(
    ("k", "degrees", "published"),
    # Upper 5 % points of the studentized range (Pearson and Hartley 1966, Table 29).
    [(3, 10, 3.88), (5, 20, 4.23), (10, 60, 4.65), (2, 5, 3.64)],
)
def test_the_published_points(k, degrees, published):
    assert range_quantile(0.95, k, degrees) == pytest.approx(published, abs=0.005)


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("degrees", [1, 3, 30, 2_000, 1_000_000])
def test_against_scipy(k, degrees):
    q = np.array([0.0, 0.5, 2.0, 3.5, 5.0, 9.0])
    degrees_there = np.inf if degrees > 100_000 else degrees
    expected = scipy.stats.studentized_range.sf(q, k, degrees_there)
    assert range_sf(q, k, degrees) == pytest.approx(expected, abs=3e-5 if degrees < 3 else 1e-8)


def test_two_means_are_a_t_test():
    t = np.array([0.7, 1.9, 3.1])
    assert range_sf(t * np.sqrt(2), 2, 17) == pytest.approx(2 * scipy.stats.t.sf(t, 17))


@given(st.integers(2, 12), st.integers(3, 200), st.floats(0.5, 0.999))
def test_the_quantile_is_where_the_tail_is_what_is_left(k, degrees, level):
    at = range_quantile(level, k, degrees)
    assert range_sf(np.array([at]), k, degrees) == pytest.approx(1 - level, abs=1e-7)
    # Of one more mean, or of a smaller sample, the range is wider.
    assert range_quantile(level, k + 1, degrees) > at
    assert range_quantile(level, k, degrees - 1) > at


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="two means"):
        range_sf(np.ones(1), 1, 5)
    with pytest.raises(ParameterError, match="level"):
        range_quantile(1.0, 3, 5)

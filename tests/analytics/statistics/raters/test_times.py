import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.raters.times import NO_TIME, judging_times
from tests.analytics.statistics.build import spec


def times(seconds, item, rater, query=None):
    item = np.asarray(item)
    return judging_times(
        np.asarray(seconds, dtype=float),
        item,
        np.asarray(rater),
        item if query is None else query,
        resample=spec(),
    )


@given(st.integers(0, 10_000), st.integers(2, 40))
def test_against_the_standard_library(seed, n):
    rng = np.random.default_rng(seed)
    seconds, item, rater = rng.exponential(60, n), rng.integers(0, 6, n), rng.integers(0, 4, n)
    found = times(seconds, item, rater)
    assert found.mean.value == pytest.approx(statistics.fmean(seconds))
    assert found.spread == pytest.approx(statistics.stdev(seconds))
    assert found.quartiles == pytest.approx(statistics.quantiles(seconds, n=4, method="inclusive"))
    for codes, medians in ((item, found.item_medians), (rater, found.rater_medians)):
        slow = [statistics.median(seconds[codes == code]) for code in sorted(set(codes.tolist()))]
        assert medians[1] == pytest.approx(statistics.median(slow))


def test_thirds_follow_the_order_of_the_work():
    # Rater 0 gets faster; rater 1 has judged too little to tell.
    found = times([90, 5, 80, 50, 40, 20, 10], range(7), [0, 1, 0, 0, 0, 0, 0])
    assert found.thirds == (85, 45, 15)
    assert times([3.0, 4.0], [0, 1], [0, 1]).thirds == ()


def test_what_is_not_recorded_is_left_out():
    found = times([10, np.nan, 30], [0, 1, 1], [0, 0, 1])
    assert (found.mean.value, found.mean.n, found.mean.left_out) == (20, 2, (LeftOut(NO_TIME, 1),))
    nothing = times([np.nan], [0], [0])
    assert (nothing.mean.value, nothing.spread, nothing.quartiles, nothing.thirds) == (None, None, (), ())
    with pytest.raises(TidyDataError):
        times([1.0, 2.0], [0], [0])

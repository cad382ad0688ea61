"""Items that people must judge beside a judge: against simulated studies, and a slow search; and what can't be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.planning.assumptions import RatingAssumptions, VoteAssumptions
from analytics.statistics.planning.labelling import highest_correlation, labelled_items
from analytics.statistics.planning.precision import Model
from analytics.statistics.replacement.prediction_powered import QueryValues, prediction_powered_mean
from tests.analytics.statistics.build import spec

VOTES = Model("win_rate", VoteAssumptions(0.58, 0.15, 0.55))
RATINGS = Model("difference", RatingAssumptions(0.3, 0.8, 0.8))


def test_by_hand():
    """Differences of ratings vary by 0.64 between items and 2 * 0.64 by one rater of each side: r is at most 0.58."""
    assert RATINGS.variance(1) == pytest.approx(3 * 0.64)
    assert highest_correlation(RATINGS) == pytest.approx((1 / 3) ** 0.5)
    found = labelled_items(RATINGS, 1, 0.5, 3_000, 0.15)
    for n, enough in ((found, True), (found - 1, False)):
        # With r a weight of r (1 - n / N) is the best.
        variance = 1.92 * (0.75 / n + 0.25 / 3_000)
        assert (stats.t.ppf(0.975, n - 2) * variance**0.5 <= 0.15) == enough


def test_studies_of_so_many_items_have_about_that_width():
    """Three people, whose noise is less than one person's, and a judge that goes with one of them by 0.45."""
    n = labelled_items(RATINGS, 3, 0.45, 2_000, 0.12)
    rng = np.random.default_rng(4)
    widths = []
    for _ in range(100):
        shared = 0.8 * rng.standard_normal(2_000)
        people = 0.3 + shared + np.sqrt(2 * 0.64 / 3) * rng.standard_normal(2_000)
        noise = np.sqrt((0.8**2 / (0.45 * np.sqrt(1.92))) ** 2 - 0.64)
        judge = shared + noise * rng.standard_normal(2_000)
        ours = np.where(np.arange(2_000) < n, people, np.nan)
        values = QueryValues(np.arange(2_000), ours, judge)
        found = prediction_powered_mean(values, within=None, resample=spec()).combined
        widths.append((found.high - found.low) / 2)
    assert np.median(widths) == pytest.approx(0.12, rel=0.03)


@given(st.integers(1, 9), st.floats(0, 0.5), st.integers(200, 5_000))
def test_a_better_judge_more_raters_and_a_wider_interval_spare_people(raters, correlation, judged):
    def needed(raters=raters, correlation=correlation, judged=judged, width=0.05):
        return labelled_items(VOTES, raters, correlation, judged, width) or np.inf

    assert needed(correlation=correlation / 2) >= needed() >= needed(raters=raters + 1)
    assert needed() >= needed(width=0.06)
    assert needed() >= needed(judged=2 * judged)


def test_what_cannot_be():
    assert labelled_items(VOTES, 1, 0.4, 200, 0.01) is None
    with pytest.raises(ParameterError, match=r"by 0 to 0\.\d\d"):
        labelled_items(VOTES, 1, 0.95, 200, 0.05)
    with pytest.raises(ParameterError, match="32 to 100,000"):
        labelled_items(VOTES, 1, 0.4, 31, 0.05)
    assert highest_correlation(Model("win_rate", VoteAssumptions(1.0, 0.0, 1.0))) == 0

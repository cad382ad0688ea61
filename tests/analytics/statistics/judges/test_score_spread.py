import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.judges.score_spread import score_spread
from tests.analytics.statistics.build import spec

BORDERS = (0.2, 0.35, 0.5)


def spread(scores, query=None, **options):
    scores = np.array(scores, dtype=float)
    query = np.arange(len(scores)) if query is None else np.array(query)
    return score_spread(scores, query, resample=spec(), unit="responses", **options)


def test_by_hand_with_scores_on_the_borders():
    found = spread([0.1, 0.2, 0.3, 0.1 + 0.25, 0.4, 0.5, 0.9, 0.19], borders=BORDERS, within=(0, 1))
    assert [band.value for band in found.bands] == [2 / 8, 2 / 8, 2 / 8, 2 / 8]
    assert found.mean.value == pytest.approx(2.94 / 8)
    assert found.quartiles[1] == pytest.approx(0.325)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=20))
def test_against_the_obvious(points):
    scores = [point / 20 for point in points]
    found = spread(scores, borders=BORDERS, within=(0, 1))
    bands = [0, 0, 0, 0]
    for point in points:  # in twentieths: 4, 7 and 10
        bands[(point >= 4) + (point >= 7) + (point >= 10)] += 1
    assert [band.value for band in found.bands] == pytest.approx([n / len(points) for n in bands])
    assert found.mean.value == pytest.approx(sum(scores) / len(scores))
    if len(scores) == 1:
        assert found.standard_deviation is None
    else:
        assert found.standard_deviation == pytest.approx(np.std(scores, ddof=1))
    assert list(found.quartiles) == sorted(found.quartiles)
    assert min(scores) <= found.quartiles[0] <= found.quartiles[2] <= max(scores)


def test_without_a_range_or_bands():
    found = spread([3, -1, 4])
    assert (found.mean.value, found.bands) == (2, ())
    assert found.mean.low < 0 < found.mean.high


@pytest.mark.parametrize(("scores", "borders"), [([], ()), ([1.0], (0.5, 0.5)), ([1.0], (0.5, 0.2))])
def test_what_has_no_spread(scores, borders):
    with pytest.raises(ParameterError):
        spread(scores, borders=borders)

"""Means of an aspect by the level of the overall rating."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.aspects.levels import means_by_level
from tests.analytics.statistics.build import quick, spec

POINTS = (0.0, 1.0, 2.0)


def by_level(aspect, overall, query):
    return means_by_level(
        np.array(aspect, dtype=float), np.array(overall, dtype=float), np.array(query),
        points=POINTS, within=(0.0, 3.0), resample=spec(),
    )  # fmt: skip


def test_by_hand():
    low, middle, high = by_level([0, 1, 2, 3, np.nan, 1], [0, 0, 2, 2, 2, 1.5], [0, 1, 0, 1, 2, 2])
    assert (low.level, low.mean.value, low.mean.n) == (0, 0.5, 2)
    assert middle.mean.undefined == "Nobody gave this level."
    assert (high.mean.value, high.mean.n) == (2.5, 2)


@quick
@given(st.integers(0, 1000))
def test_levels_make_up_the_whole(seed):
    rng = np.random.default_rng(seed)
    aspect, overall, query = rng.integers(0, 4, 60), rng.integers(0, 3, 60), rng.integers(0, 10, 60)
    found = by_level(aspect, overall, query)
    assert sum(each.mean.n for each in found) == 60
    whole = sum(each.mean.n * each.mean.value for each in found if each.mean.value is not None)
    assert whole / 60 == pytest.approx(aspect.mean())
    for each in found:
        if each.mean.low is not None:
            assert 0 <= each.mean.low <= each.mean.value <= each.mean.high <= 3

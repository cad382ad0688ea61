"""Differences between settings and systems against a slow twin, and what shifts leave as it is."""

from itertools import combinations

import numpy as np
import pytest

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.ratings.settings import SettingValues, paired_cells
from tests.analytics.statistics.build import spec

BASES, SETTINGS = 3, 2


def some(seed, n=200):
    rng = np.random.default_rng(seed)
    query, base, setting = rng.integers(0, 25, n), rng.integers(0, BASES, n), rng.integers(0, SETTINGS, n)
    # The third system never stands in the second setting.
    setting[base == 2] = 0
    return rng.normal(size=n) + setting + base, query, base, setting


def cells_of(*columns):
    return paired_cells(SettingValues(*columns, BASES, SETTINGS), resample=spec(), tests=Randomization(4))


def slow(value, query, base, setting):
    """(between, first, second, within) to each query's difference, one query and one pair of means after another."""
    factors = {"settings": (setting, base, SETTINGS, BASES), "systems": (base, setting, BASES, SETTINGS)}
    found = {}
    for between, (compared, around, n_compared, n_around) in factors.items():
        for first, second in combinations(range(n_compared), 2):
            by_place = {}
            for place in range(n_around):
                for each in np.unique(query):
                    rows = [
                        value[(query == each) & (around == place) & (compared == code)]
                        for code in (first, second)
                    ]
                    if all(map(len, rows)):
                        by_place.setdefault(place, {})[each] = rows[1].mean() - rows[0].mean()
            if not by_place:
                continue
            everywhere = {}
            for differences in by_place.values():
                for each, difference in differences.items():
                    everywhere.setdefault(each, []).append(difference)
            found[between, first, second, None] = [np.mean(each) for each in everywhere.values()]
            if len(by_place) > 1:
                for place, differences in by_place.items():
                    found[between, first, second, place] = list(differences.values())
    return found


@pytest.mark.parametrize("seed", range(3))
def test_query_by_query(seed):
    columns = some(seed)
    expected = slow(*columns)
    found = {(each.between, each.first, each.second, each.within): each for each in cells_of(*columns)}
    assert found.keys() == expected.keys()
    for key, differences in expected.items():
        assert found[key].difference.value == pytest.approx(np.mean(differences))
        assert found[key].difference.n == len(differences)
        assert found[key].other.value - found[key].one.value == pytest.approx(found[key].difference.value)


def test_how_hard_a_query_is_cancels_out():
    value, query, base, setting = some(1)
    shifted = value + 10 * np.random.default_rng(9).normal(size=25)[query]
    for one, other in zip(
        cells_of(value, query, base, setting), cells_of(shifted, query, base, setting), strict=True
    ):
        assert one.difference.value == pytest.approx(other.difference.value)
        assert one.difference.low == pytest.approx(other.difference.low)
        assert one.test.p_value == pytest.approx(other.test.p_value, abs=0.05)


def test_by_hand():
    # Of the first query one system gains 2 and the other 0, of the second the first gains 1.
    cells = cells_of(
        np.array([1.0, 3, 5, 5, 2, 3]),
        np.array([0, 0, 0, 0, 1, 1]),
        np.array([0, 0, 1, 1, 0, 0]),
        np.array([0, 1, 0, 1, 0, 1]),
    )
    found = {(each.between, each.within): each.difference.value for each in cells}
    assert found == {
        ("settings", None): 1.0,
        ("settings", 0): 1.5,
        ("settings", 1): 0.0,
        ("systems", None): 3.0,
        ("systems", 0): 4.0,
        ("systems", 1): 2.0,
    }


def test_what_is_in_one_setting_alone_is_compared_over_systems_alone():
    value, query, base, _ = some(2)
    assert {each.between for each in cells_of(value, query, base, np.zeros(len(value), dtype=int))} == {
        "systems"
    }


def test_columns_must_fit():
    with pytest.raises(TidyDataError, match="a query, a system and a setting"):
        SettingValues(
            np.zeros(2), np.zeros(2, dtype=int), np.zeros(2, dtype=int), np.zeros(1, dtype=int), 1, 1
        )

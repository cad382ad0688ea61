"""Agreement rates of ratings: by all alike, by more than half, and by two at random."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.rating_rates import FEW_RATINGS, WILSON, rating_rates
from analytics.statistics.core.estimates import LeftOut
from analytics.statistics.core.values import OFF_POINTS
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_values

POINTS = (1.0, 2.0, 3.0)


def rates(table):
    rows = [(item, 0, rater, value) for item, given in enumerate(table) for rater, value in enumerate(given)]
    return rating_rates(make_values(rows), points=POINTS, resample=spec())


def test_by_hand():
    found = rates([[1, 1, 1], [1, 1, 2], [1, 2, 3], [2, 2], [1, 2], [3]])
    assert found.all_same.value == pytest.approx(2 / 5)
    assert found.majority.value == pytest.approx(3 / 5)
    assert found.two_raters.value == pytest.approx((1 + 1 / 3 + 0 + 1 + 0) / 5)
    assert found.all_same.n == 5
    assert found.all_same.left_out == (LeftOut(FEW_RATINGS.format(unit="items"), 1),)


def test_by_chance_against_all_that_can_be_drawn():
    # Things of two ratings, of three and of four; the one of one rating is not drawn from.
    table = [[1, 1], [1, 1, 2], [1, 2, 3, 3], [3]]
    pool = [value for given in table[:3] for value in given]
    rows = [Counter(drawn).most_common(1)[0][1] / n for n in (2, 3, 4) for drawn in product(pool, repeat=n)]
    weights = [1 / 9**n for n in (2, 3, 4) for _ in range(9**n)]
    found = rates(table).by_chance
    assert found.all_same == pytest.approx(np.average([most == 1 for most in rows], weights=weights))
    assert found.majority == pytest.approx(np.average([most > 0.5 for most in rows], weights=weights))
    assert found.two_raters == pytest.approx(np.mean([a == b for a, b in product(pool, repeat=2)]))
    assert rates([[1], [2]]).by_chance is None


@given(st.integers(0, 1000))
def test_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    table = [rng.choice(POINTS, rng.integers(2, 7)).tolist() for _ in range(8)]
    found = rates(table)
    chances = [np.mean([a == b for a, b in combinations(row, 2)]) for row in table]
    assert found.two_raters.value == pytest.approx(np.mean(chances))
    most = [max(map(row.count, row)) / len(row) for row in table]
    assert found.all_same.value == pytest.approx(np.mean([share == 1 for share in most]))
    assert found.majority.value == pytest.approx(np.mean([share > 0.5 for share in most]))
    assert found.all_same.value <= found.two_raters.value + 1e-12
    assert found.all_same.value <= found.majority.value


def test_three_ratings_that_are_nowhere_all_alike_leave_the_spread_unknown():
    """Of ten items two raters agree with 0 or 1/3; of what a 1 among the next ones would change nothing is seen."""
    two_alike, none_alike = [[1, 1, 2]] * 7, [[1, 2, 3]] * 3
    found = rates(two_alike + none_alike).two_raters
    share, z = 7 / 30, 1.959964
    middle = (share + z**2 / 20) / (1 + z**2 / 10)
    half = z / (1 + z**2 / 10) * np.sqrt(share * (1 - share) / 10 + z**2 / 400)
    assert (found.low, found.high) == (pytest.approx(middle - half), pytest.approx(middle + half))
    assert found.method == WILSON.format(queries=10, unit="items")
    with_one = rates(two_alike + none_alike[1:] + [[1, 1, 1]]).two_raters
    assert with_one.method.startswith("t interval")
    more = rates([[1, 1, 2, 3]] * 7 + [[1, 1, 2, 2]] * 3).two_raters
    assert more.method.startswith("t interval")
    assert more.high - more.low < 0.15


def test_nothing_to_compare_and_ratings_between_points():
    assert rates([[1], [2]]).majority.undefined == "None of the items has two ratings to compare."
    found = rates([[1, 1.5, 1], [2, 2, 2]])
    assert found.all_same.value == 1
    assert LeftOut(OFF_POINTS, 1) in found.all_same.left_out

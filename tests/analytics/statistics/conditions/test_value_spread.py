import numpy as np
import pytest
from hypothesis import given

from analytics.statistics.conditions.value_spread import (
    NOT_ALL_VALUES,
    OFF_DIFFERENCES,
    ONE_VALUE,
    adapted_spreads,
    adapted_spreads_of_means,
    spread_shares,
    spreads,
    spreads_of_means,
)
from analytics.statistics.core.estimates import LeftOut, TidyDataError
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.core.test_values import row_lists
from tests.analytics.statistics.rating_arrays import make_values

POINTS = [1, 2, 3, 4, 5]


def rated(*ratings, item=0, rater=0) -> list:
    """One rater's ratings of the values of one attribute of an item."""
    return [(item, part, rater, float(value)) for part, value in enumerate(ratings)]


def one_attribute(rows):
    values = make_values(rows)
    return values, np.zeros(len(values), dtype=int)


def test_the_designs_examples() -> None:
    found = spreads(*one_attribute(rated(5, 5, 3, 3, 2) + rated(4, 4, 4, item=1)))
    assert found.spread.tolist() == [3, 0]
    shares = spread_shares(found, POINTS, resample=spec())
    assert shares.differences == (0, 1, 2, 3, 4)
    assert shares.counts == (1, 0, 0, 1, 0)
    assert [share.value for share in shares.shares] == [0.5, 0, 0, 0.5, 0]
    assert (shares.mean.value, shares.mean.n, shares.mean.unit, shares.n_queries) == (1.5, 2, "spreads", 2)
    assert "Wilson" in shares.shares[1].method


def test_raters_differ_where_their_means_do_not() -> None:
    values, attribute = one_attribute(rated(1, 5, rater=0) + rated(5, 1, rater=1) + rated(4, 2, item=1))
    each = spreads(values, attribute)
    assert (each.item.tolist(), each.rater.tolist(), each.spread.tolist()) == (
        [0, 0, 1],
        [0, 1, 0],
        [4, 4, 2],
    )
    means = spreads_of_means(values, attribute)
    assert (means.item.tolist(), means.rater.tolist(), means.spread.tolist()) == ([0, 1], [-1, -1], [0, 2])


def test_attributes_of_an_item_are_apart() -> None:
    rows = [(0, part, 0, value) for part, value in enumerate((1.0, 2.0, 5.0, 5.0, 3.0))]
    found = spreads(make_values(rows), np.array([0, 0, 1, 1, 1]))
    assert (found.attribute.tolist(), found.spread.tolist()) == ([0, 1], [1, 2])


def test_what_shows_no_spread_is_left_out() -> None:
    rows = rated(1, 5, 3, rater=0) + rated(2, 4, rater=1) + rated(3, item=1)
    found = spreads(*one_attribute(rows))
    assert found.spread.tolist() == [4]
    assert found.left_out == (LeftOut(ONE_VALUE, 1), LeftOut(NOT_ALL_VALUES, 1))
    shares = spread_shares(found, POINTS, resample=spec())
    assert shares.mean.left_out == shares.shares[0].left_out == found.left_out
    nothing = spread_shares(spreads(*one_attribute(rated(3))), POINTS, resample=spec())
    assert "two of its values" in nothing.mean.undefined
    assert "two of its values" in nothing.shares[0].undefined


def test_spreads_between_two_differences() -> None:
    found = spreads(*one_attribute(rated(1, 2.5) + rated(1, 3.4, item=1) + rated(2, 4, item=2)))
    exact = spread_shares(found, POINTS, resample=spec())
    assert (exact.counts, exact.mean.n) == ((0, 0, 1, 0, 0), 3)
    assert exact.shares[0].left_out == (LeftOut(OFF_DIFFERENCES, 2),)
    nearest = spread_shares(found, POINTS, resample=spec(), nearest=True)
    assert nearest.counts == (0, 0, 3, 0, 0)  # 1.5 counts as 2
    assert nearest.mean.value == exact.mean.value == pytest.approx((1.5 + 2.4 + 2) / 3)


def adapted(rows, query, system=None):
    """From rows (item, value of the one attribute, rater, rating), with the query of each item."""
    values = make_values([(item, 0, rater, float(rating)) for item, _, rater, rating in rows], query)
    value = np.array([row[1] for row in rows], dtype=int)
    setting = np.zeros(len(rows), dtype=int) if system is None else np.array(system)[values.item]
    return values, np.zeros(len(rows), dtype=int), value, setting


def test_the_designs_examples_over_adapted_responses() -> None:
    """Five items of a query, one per value of an attribute: 5, 5, 3, 3, 2 gives 3, all 4 gives 0."""
    rows = [(at, at % 5, 0, rating) for at, rating in enumerate((5, 5, 3, 3, 2, 4, 4, 4, 4, 4))]
    given_ = adapted(rows, query=[0] * 5 + [1] * 5)
    for found in (adapted_spreads(*given_), adapted_spreads_of_means(*given_)):
        assert (found.spread.tolist(), found.query.tolist()) == ([3, 0], [0, 1])
        shares = spread_shares(found, POINTS, resample=spec())
        assert shares.counts == (1, 0, 0, 1, 0)
        assert (shares.mean.value, shares.n_queries) == (1.5, 2)


def test_adapted_responses_are_compared_by_means_where_nobody_saw_two() -> None:
    # Values 0 and 1 of one query by different people; the second value has two items, rated 1 and 2.
    rows = [(0, 0, 0, 5), (0, 0, 1, 4), (1, 1, 2, 1), (2, 1, 3, 2)]
    given_ = adapted(rows, query=[0, 0, 0])
    each = adapted_spreads(*given_)
    assert (each.spread.tolist(), each.left_out) == ([], (LeftOut(NOT_ALL_VALUES, 4),))
    assert adapted_spreads_of_means(*given_).spread.tolist() == [3.0]
    # One rater of both items of a value counts by their mean.
    same = adapted([(0, 0, 0, 5), (1, 1, 0, 1), (2, 1, 0, 2)], query=[0, 0, 0])
    assert adapted_spreads(*same).spread.tolist() == [3.5]


def test_systems_are_apart_and_items_of_all_values_are_left_to_the_other() -> None:
    rows = [(0, 0, 0, 5), (1, 1, 0, 1), (2, 0, 0, 3), (3, 1, 0, 3)]
    found = adapted_spreads(*adapted(rows, query=[0] * 4, system=[0, 0, 1, 1]))
    assert found.spread.tolist() == [4, 0]
    values = make_values([*rated(5, 1), (1, 0, 0, 2.0)], query=[0, 0])
    alone = adapted_spreads(values, np.zeros(3, dtype=int), values.part, np.zeros(3, dtype=int))
    assert (alone.spread.tolist(), alone.left_out) == ([], (LeftOut(ONE_VALUE, 1),))


@given(row_lists)
def test_adapted_against_a_loop(rows) -> None:
    """Item n is of query n // 2 and written for value n % 2; of its parts the first is kept."""
    rows = [(item, item % 2, rater, value) for item, part, rater, value in rows if part == 0]
    if not rows:
        return
    query = [item // 2 for item in range(max(row[0] for row in rows) + 1)]
    given_ = adapted(rows, query)
    found, means = adapted_spreads(*given_), adapted_spreads_of_means(*given_)
    of_rater: dict = {}
    of_all: dict = {}
    for item, value, rater, rating in rows:
        of_rater.setdefault((item // 2, rater), {})[value] = rating
        of_all.setdefault(item // 2, {}).setdefault(value, []).append(rating)
    expected = {key: abs(of[0] - of[1]) for key, of in of_rater.items() if len(of) == 2}
    keys = zip(found.query.tolist(), found.rater.tolist(), strict=True)
    assert dict(zip(keys, found.spread.tolist(), strict=True)) == pytest.approx(expected)
    expected = {
        key: abs(sum(of[0]) / len(of[0]) - sum(of[1]) / len(of[1]))
        for key, of in of_all.items()
        if len(of) == 2
    }
    assert dict(zip(means.query.tolist(), means.spread.tolist(), strict=True)) == pytest.approx(expected)


@given(row_lists)
def test_against_a_loop(rows) -> None:
    # Parts 0 and 1 are values of the one attribute, part 2 the only value of the other.
    values = make_values(rows)
    found = spreads(values, values.part // 2)
    by_judgment: dict = {}
    for item, part, rater, value in rows:
        by_judgment.setdefault((item, rater), {})[part] = value
    asked = {(item, part) for item, part, *_ in rows}
    expected = {key: abs(of[0] - of[1]) for key, of in by_judgment.items() if 0 in of and 1 in of}
    keys = zip(found.item.tolist(), found.rater.tolist(), strict=True)
    assert dict(zip(keys, found.spread.tolist(), strict=True)) == expected
    parts = {part.reason: part.n for part in found.left_out}
    both = {item for item, _ in asked if {(item, 0), (item, 1)} <= asked}
    partial = sum((0 in of) != (1 in of) for (item, _), of in by_judgment.items() if item in both)
    assert parts.get(NOT_ALL_VALUES, 0) == partial
    renamed = spreads(make_values([(i, p, 3 - r, v) for i, p, r, v in rows]), values.part // 2)
    assert sorted(renamed.spread.tolist()) == sorted(found.spread.tolist())


def test_attributes_are_checked() -> None:
    values, _ = one_attribute(rated(1, 2))
    for wrong in (np.array([0]), np.array([0, -1])):
        with pytest.raises(TidyDataError, match="attribute"):
            spreads(values, wrong)
        with pytest.raises(TidyDataError, match="attribute"):
            spreads_of_means(values, wrong)

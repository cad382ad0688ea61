from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError, TidyDataError, UnknownNameError
from analytics.statistics.core.tidy import (
    Checks,
    ItemCell,
    ascending_order,
    check_items,
    distinct,
    sorted_codes,
    split,
)
from analytics.statistics.core.values import n_distinct
from tests.analytics.statistics.build import make_items, make_judgments


@pytest.fixture
def items():
    return make_items(
        ["q1", "q1", "q2", "q3"],
        arm=["x", "y", "x", "x"],
        systems=[("a", "b"), ("a", "b"), ("b", "c"), ("a", "b")],
        category=["", "qa", "qa", "qa"],
    )


def test_columns_get_their_types(items) -> None:
    assert items.query.dtype == np.int32
    assert items.arm.dtype == items.system_1.dtype == np.int16
    assert len(items) == 4


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("query", [0, 1], "shape"),
        ("query", [0, 1, 2, 3], "values from 0 to 2"),
        ("arm", [0, 0, 0, -1], "values from"),
        ("arm", [0.5, 0, 0, 0], "whole numbers"),
        ("length_1", [-1, 0, 0, 0], "values from"),
    ],
)
def test_wrong_columns_are_named(items, column, value, message) -> None:
    with pytest.raises(TidyDataError, match=message):
        replace(items, **{column: np.array(value)})


def test_a_pair_stands_in_one_order() -> None:
    with pytest.raises(TidyDataError, match="both orders"):
        make_items(["q1", "q2"], systems=[("a", "b"), ("b", "a")])


def test_pairs_and_cells(items) -> None:
    assert items.pairs == (("a", "b"), ("b", "c"))
    assert items.pair.tolist() == [0, 0, 1, 0]
    cells = {cell: index.tolist() for cell, index in items.cells(("arm", "pair"))}
    assert cells == {
        ItemCell("x", "a", "b"): [0, 3],
        ItemCell("x", "b", "c"): [2],
        ItemCell("y", "a", "b"): [1],
    }
    by_category = {cell.category: index.tolist() for cell, index in items.cells(("category",))}
    assert by_category == {"": [0], "qa": [1, 2, 3]}
    assert [index.tolist() for _, index in items.cells(())] == [[0, 1, 2, 3]]
    with pytest.raises(ParameterError, match="planet"):
        list(items.cells(("planet",)))


def test_names_have_codes(items) -> None:
    assert items.arm_code("y") == 1
    assert items.system_code("c") == 2
    with pytest.raises(UnknownNameError, match="no arm named z"):
        items.arm_code("z")


def test_subsets_keep_the_code_tables(items) -> None:
    part = items.where(items.arm == 1)
    assert part.key.tolist() == ["item-1"]
    assert part.systems == items.systems
    assert part.pairs == (("a", "b"),)


def test_no_items_at_all() -> None:
    empty = make_items([])
    assert len(empty) == 0
    assert empty.pairs == ()
    assert list(empty.cells()) == []


def test_judgments_are_checked(items) -> None:
    judgments = make_judgments([[0], [1]])
    for column, value in (("vote", [0, 4]), ("vote", [0, -2]), ("first", [0, 2]), ("rater", [0, 1])):
        with pytest.raises(TidyDataError, match="values from"):
            replace(judgments, **{column: np.array(value)})
    with pytest.raises(TidyDataError, match="probabilities"):
        replace(judgments, number=np.array([0.5, 1.5]))
    with pytest.raises(TidyDataError, match="shape"):
        replace(judgments, number=np.array([0.5]))
    with pytest.raises(TidyDataError, match="not exist"):
        check_items(items.take(np.array([0])), judgments)


def test_checklists_are_checked() -> None:
    fine = Checks(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]), np.array([1, 0]))
    assert len(fine) == 2
    with pytest.raises(TidyDataError, match="response"):
        replace(fine, response=np.array([0, 2]))


def test_split_by_code() -> None:
    parts = split(np.array([1, -1, 0, 1]), 3)
    assert [part.tolist() for part in parts] == [[2], [0, 3], []]


def test_split_by_codes_of_more_than_16_bits() -> None:
    parts = split(np.array([65_537, -1, 1, 40_000]), 40_001)
    assert {code: part.tolist() for code, part in enumerate(parts) if len(part)} == {1: [2], 40_000: [3]}


@pytest.mark.parametrize("codes", [[], [3, 0, 7, 1], [3, 10**12, 0, 5]])
def test_order_of_codes(codes) -> None:
    codes = np.array(codes, dtype=np.int64)
    np.testing.assert_array_equal(ascending_order(codes), np.argsort(codes))


@pytest.mark.parametrize(("least", "most"), [(0, 4), (0, 10_000), (-3, 3)])
@given(data=st.data())
def test_codes_are_numbered_as_by_sorting(data, least, most) -> None:
    """Few codes, which are counted, and such as are far apart or below zero, which are sorted."""
    codes = np.array(data.draw(st.lists(st.integers(least, most), max_size=60)), dtype=np.int32)
    expected = np.unique(codes, return_index=True, return_inverse=True)
    for found, column in zip(distinct(codes), expected, strict=True):
        np.testing.assert_array_equal(found, column)
    assert n_distinct(codes) == len(expected[0])


@given(st.lists(st.integers(-3, 2**40), max_size=30))
def test_sorted_codes_are_the_different_ones(codes) -> None:
    assert sorted_codes(np.array(codes, dtype=np.int64)).tolist() == sorted(set(codes))

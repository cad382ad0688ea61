import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, ParameterError
from analytics.statistics.preferences.grades import NO_ORDER, Grades, as_grade, as_preference, lean_to_first
from tests.analytics.statistics.build import spec

rows = st.lists(st.tuples(st.integers(-3, 3), st.integers(-1, 1)), min_size=1, max_size=30)


def make(grades: list[float], first: list[int]) -> Grades:
    n = len(grades)
    return Grades(np.arange(n), np.zeros(n, dtype=np.int64), np.array(grades, dtype=float), np.array(first))


def test_lean_by_hand() -> None:
    # r1 first and much better (2 towards it), r2 first and r1 better (1 away), r2 first and better (1), a tie: 2 / 4.
    found = lean_to_first(
        make([-2, -1, 1, 0, 2], [0, 1, 1, 0, -1]), np.arange(5), farthest=2, resample=spec()
    )
    assert (found.value, found.n) == (0.5, 4)
    assert found.left_out == (LeftOut(NO_ORDER, 1),)


@given(rows)
def test_lean_against_a_slow_sum_and_turned_round(pairs) -> None:
    grades, first = (list(column) for column in zip(*pairs, strict=True))
    query = np.arange(len(pairs)) // 2
    found = lean_to_first(make(grades, first), query, farthest=3, resample=spec(0))
    known = [(grade, order) for grade, order in pairs if order >= 0]
    assert found.n + found.n_left_out == len(pairs)
    if not known:
        assert found.value is None
        return
    slow = sum(grade if order == 1 else -grade for grade, order in known) / len(known)
    assert found.value == pytest.approx(slow)
    # Which of the responses is called the first canonical one does not matter.
    renamed = make([-grade for grade in grades], [{0: 1, 1: 0}.get(order, -1) for order in first])
    assert lean_to_first(renamed, query, farthest=3, resample=spec(0)).value == pytest.approx(slow)


def test_a_grade_is_a_preference_from_0_to_1_and_back() -> None:
    grades = np.array([-2.0, -1.0, 0.0, 1.5, np.nan])
    assert as_preference(grades, 2).tolist()[:4] == [0.0, 0.25, 0.5, 0.875]
    for farthest in (2, 3):
        np.testing.assert_array_equal(as_grade(as_preference(grades, farthest), farthest), grades)
    assert str(as_grade(np.array([0.5]), 3)[0]) == "0.0"
    with pytest.raises(ParameterError, match="above 0"):
        as_preference(grades, 0)


def test_grades_are_values_of_items() -> None:
    values = make([-1, 2], [0, 1]).as_values(np.array([7, 7]))
    assert values.value.tolist() == [-1, 2]
    assert (values.n_units, values.n_queries) == (2, 1)

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.core.values import Values
from analytics.statistics.replacement.people_worth import (
    NEVER_DIFFER,
    worth_by_labels,
    worth_by_numbers,
)
from tests.analytics.statistics.build import counts_of, spec


def of_labels(people, judge, query=None, n_labels=3):
    query = np.arange(len(people)) if query is None else np.asarray(query)
    return worth_by_labels(
        counts_of(people, n_labels), np.asarray(judge), query, unit="items", resample=spec()
    )


def ratings(rows):
    """Values of a list of ratings of each unit."""
    unit, rater = np.array([(unit, rater) for unit, row in enumerate(rows) for rater in range(len(row))]).T
    value = np.array([each for row in rows for each in row], dtype=float)
    none = np.zeros(len(unit), dtype=np.int64)
    return Values(unit=unit, query=unit, system=none - 1, part=none, item=unit, rater=rater, value=value)


def of_numbers(people, judge):
    return worth_by_numbers(
        ratings(people), ratings([[each] for each in judge]), unit="items", resample=spec()
    )


def slow_agreement(labels, k, n_labels):
    """Every answer held out, and every set of k others."""
    found = []
    for held, answer in enumerate(labels):
        for others in combinations([each for at, each in enumerate(labels) if at != held], k):
            counts = np.bincount(np.array(others, dtype=int), minlength=n_labels)
            modes = np.flatnonzero(counts == counts.max())
            found.append((answer in modes) / len(modes))
    return np.mean(found)


def test_against_every_set_of_people():
    rng = np.random.default_rng(2)
    people = [rng.choice(4, 6, p=[0.5, 0.2, 0.2, 0.1]).tolist() for _ in range(12)]
    judge = rng.integers(0, 4, 12)
    result = of_labels(people, judge, n_labels=4)
    assert (result.most, len(result.curve)) == (5, 6)
    for k, point in enumerate(result.curve):
        assert point.value == pytest.approx(np.mean([slow_agreement(row, k, 4) for row in people]))
    own = np.mean([np.mean(np.array(row) == said) for row, said in zip(people, judge, strict=True)])
    assert result.judge.value == pytest.approx(own)


def test_by_hand():
    """Three people of whom one differs. A further one agrees with nobody's guess in 1/3, with one person in 1/3."""
    people, query = [[0, 0, 1]] * 4, [0, 0, 1, 1]
    result = of_labels(people, [0, 0, 0, 1], query)
    assert [point.value for point in result.curve] == pytest.approx([1 / 3] * 3)
    assert result.judge.value == pytest.approx((2 + 2 + 2 + 1) / 12)
    assert (result.value, result.beyond) == (None, True)
    assert of_labels(people, [1, 1, 1, 2], query).value == 0.0


def test_the_line_between_two_numbers_of_people():
    people = [[0, 0, 0], [0, 0, 0], [1, 1, 2]]
    # One person agrees with another in (1 + 1 + 1/3) / 3, a guess in 1/3; the judge lies half way between the two.
    result = of_labels(people, [0, 2, 1])
    assert result.judge.value == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert result.value == pytest.approx((5 / 9 - 1 / 3) / (7 / 9 - 1 / 3))


def test_limits_are_where_the_gap_may_be_nothing():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 120)
    people = [[int(t if rng.random() < 0.8 else 1 - t) for _ in range(7)] for t in truth]
    judge = np.where(rng.random(120) < 0.86, truth, 1 - truth)
    result = of_labels(people, judge, n_labels=2)
    assert result.low < result.value < (result.high or np.inf)
    assert result.low > 0


@pytest.mark.parametrize("right", [0.5, 0.95])
def test_a_judge_that_errs_as_one_person_is_worth_one_and_a_better_one_more(right):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 4000)

    def said(share):
        return np.where(rng.random(4000) < share, truth, 1 - truth)

    people = np.column_stack([said(0.75) for _ in range(5)]).tolist()
    as_one, other = of_labels(people, said(0.75), n_labels=2), of_labels(people, said(right), n_labels=2)
    assert as_one.low < 1 < (as_one.high or np.inf)
    assert other.value < 1 if right == 0.5 else other.beyond


def test_items_with_fewer_answers_are_in_no_point_of_the_curve():
    result = of_labels([[0, 1, 1], [0, 0, 0], [1, 1], [2], [0, 1, 2]], [0, 0, 0, 0, -1])
    assert result.most == 2
    assert result.judge.left_out == (
        LeftOut("items with fewer than 3 answers", 2),
        LeftOut("items without an answer of the judge", 1),
    )


@given(st.integers(0, 2**20))
def test_the_order_of_units_is_of_no_account(seed):
    rng = np.random.default_rng(seed)
    people, judge = [rng.integers(0, 3, 4).tolist() for _ in range(9)], rng.integers(0, 3, 9)
    one, other = of_labels(people, judge), of_labels(people[::-1], judge[::-1])
    assert (one.beyond, one.value is None) == (other.beyond, other.value is None)
    if one.value is not None:
        assert one.value == pytest.approx(other.value)


def test_numbers_against_every_set_of_people():
    """The root mean square error of the mean of every k of the others, by each answer that is held out."""
    rng = np.random.default_rng(4)
    people, judge = [rng.integers(1, 6, 5).tolist() for _ in range(10)], rng.integers(1, 6, 10)
    result = of_numbers(people, judge)
    for k in range(1, 5):
        misses = [
            (answer - np.mean(others)) ** 2
            for row in people
            for held, answer in enumerate(row)
            for others in combinations([each for at, each in enumerate(row) if at != held], k)
        ]
        assert result.curve[k - 1].value == pytest.approx(np.sqrt(np.mean(misses)))
    own = np.sqrt(
        np.mean([(answer - said) ** 2 for row, said in zip(people, judge, strict=True) for answer in row])
    )
    assert result.judge.value == pytest.approx(own)


@pytest.mark.parametrize("worth", [0.5, 1, 3])
def test_a_judge_that_is_the_mean_of_so_many_people(worth):
    rng = np.random.default_rng(6)
    truth = rng.normal(0, 1, 3000)
    people = (truth[:, None] + rng.normal(0, 1, (3000, 4))).tolist()
    result = of_numbers(people, truth + rng.normal(0, 1 / np.sqrt(worth), 3000))
    assert result.low < worth < result.high
    assert result.value == pytest.approx(worth, rel=0.15)


def test_a_judge_that_knows_the_truth_is_worth_more_than_any_number():
    people = [[1, 3], [2, 4], [1, 4], [2, 2]]
    result = of_numbers(people, [2, 3, 2.5, 2])
    assert (result.value, result.beyond, result.most) == (None, True, None)


def test_undefined():
    nothing = of_labels([[0], [1]], [0, 1])
    assert nothing.undefined == "There are no items that two people and the judge answered."
    assert of_numbers([[1, 1], [2, 2]], [1, 3]).undefined == NEVER_DIFFER
    assert of_numbers([[1], [2]], [1, 3]).judge.left_out == (LeftOut("items with fewer than 2 answers", 2),)
    with pytest.raises(TidyDataError, match="one label"):
        of_labels([[0, 1]], [0, 1])


def test_people_beside_the_one_held_out():
    three = [[1, 2, 4]] * 4
    assert of_numbers([*three, [1, 5], [2]], [2] * 6).others == 2
    assert of_numbers([[1, 2]] * 4, [2] * 4).others == 1
    found = of_labels([[0, 1, 0]] * 4, [0] * 4)
    assert found.others == found.most == 2

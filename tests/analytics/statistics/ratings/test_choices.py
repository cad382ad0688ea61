import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.ratings.choices import (
    any_of,
    yes_shares_by_group,
)
from analytics.statistics.ratings.scales import distribution
from tests.analytics.statistics.agreement.test_alpha import slow_alpha
from tests.analytics.statistics.build import counts_of, spec
from tests.analytics.statistics.core.test_values import row_lists
from tests.analytics.statistics.rating_arrays import make_values


def all_together(values):
    [share] = yes_shares_by_group(values, np.zeros(len(values.value), np.int64), 1, resample=spec())
    return share


def test_labels_by_hand() -> None:
    rows = [(0, 0, 0, 2), (0, 0, 1, 2), (1, 0, 0, 0), (1, 0, 1, 2), (2, 0, 0, 0), (2, 0, 1, 0)]
    values = make_values(rows)
    found = distribution(values, range(4), resample=spec(), unit="answers")
    assert found.counts == (3, 0, 3, 0)
    assert [share.value for share in found.shares] == [0.5, 0, 0.5, 0]
    assert "Wilson" in found.shares[1].method
    assert (found.shares[1].low, found.shares[1].n, found.n_queries) == (0, 6, 3)
    assert found.shares[1].high > 0.4  # three queries say little about what was never chosen
    alpha = alpha_of_values(values, level="nominal", resample=spec(0))
    labels = [[2, 2], [0, 2], [0, 0]]
    assert alpha.value == pytest.approx(slow_alpha(labels, "nominal", range(4)))
    assert alpha.n == len(counts_of(labels, 4))


def test_a_checklists_yes_by_part() -> None:
    rows = [
        (item, part, rater, float(part == 0 or item > rater))
        for item in range(3)
        for part in range(2)
        for rater in range(2)
    ]
    values = make_values(rows)
    assert all_together(values).mean.value == pytest.approx((6 + 3) / 12)
    always, some = yes_shares_by_group(values, values.part, 2, resample=spec())
    assert (always.mean.value, some.mean.value) == (1, 0.5)
    assert "Wilson" in always.mean.method
    assert always.mean.low < 1
    assert (some.mean.n, some.mean.unit, some.n_units, some.n_queries) == (6, "answers", 3, 3)
    assert some.mean.low < 0.5 < some.mean.high


def test_any_of_a_group_by_hand() -> None:
    # Parts 0 and 1 are one group, 2 another, 3 in none.
    ticked = {(0, 0): (0, 1, 0, 1), (0, 1): (1, 1, 0, 0), (1, 0): (0, 0, 0, 1), (1, 1): (0, 0, 1, 0)}
    rows = [
        (item, part, rater, float(yes))
        for (item, rater), each in ticked.items()
        for part, yes in enumerate(each)
    ]
    values = make_values(rows, system=[7, 7, 7, 7])
    found = any_of(values, np.array([0, 0, 1, -1])[values.part], 2)
    told = zip(found.item, found.rater, found.part, found.value, strict=True)
    assert {(int(item), int(rater), int(part)): value for item, rater, part, value in told} == {
        (0, 0, 0): 1, (0, 0, 1): 0, (0, 1, 0): 1, (0, 1, 1): 0, (1, 0, 0): 0, (1, 0, 1): 0, (1, 1, 0): 0, (1, 1, 1): 1,
    }  # fmt: skip
    assert set(found.system.tolist()) == {7}
    one, other = yes_shares_by_group(found, found.part, 2, resample=spec())
    assert (one.mean.value, one.mean.n, one.n_units, other.mean.value) == (0.5, 4, 2, 0.25)
    assert len(any_of(values, np.full(len(values), -1), 0)) == 0


@given(row_lists, st.lists(st.integers(-1, 1), min_size=3, max_size=3))
def test_any_of_against_a_loop(rows, group_of) -> None:
    rows = [(item, part, rater, float(value > 2)) for item, part, rater, value in rows]
    values = make_values(rows, system=[0, 0, 0])
    found = any_of(values, np.array(group_of)[values.part], 2)
    expected: dict = {}
    for item, part, rater, value in rows:
        if group_of[part] >= 0:
            key = (item, rater, group_of[part])
            expected[key] = max(expected.get(key, 0.0), value)
    told = zip(found.item.tolist(), found.rater.tolist(), found.part.tolist(), strict=True)
    assert dict(zip(told, found.value.tolist(), strict=True)) == expected
    # A group has never a smaller share than any of its tags.
    for group in {each for each in group_of if each >= 0}:
        own = found.value[found.part == group]
        for part in (at for at, each in enumerate(group_of) if each == group):
            single = values.value[values.part == part]
            assert own.sum() >= single.sum()


def test_what_is_no_label_or_no_check_is_refused() -> None:
    half, large = make_values([(0, 0, 0, 0.5)]), make_values([(0, 0, 0, 2)])
    with pytest.raises(TidyDataError, match="yes"):
        all_together(large)
    assert all_together(half).mean.value == 0.5


def test_no_answers_are_undefined() -> None:
    assert "no answers" in all_together(make_values([])).mean.undefined
    assert (
        "no answers"
        in distribution(make_values([]), range(2), resample=spec(), unit="answers").shares[0].undefined
    )

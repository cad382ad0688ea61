from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.percentage import agreement
from analytics.statistics.conditions.follow_ups import (
    UNCHECKED,
    UNCHECKED_RESPONSES,
    agreement_by_follow_ups,
    check_counts,
    follow_ups_by_system,
    satisfied_follow_ups,
)
from analytics.statistics.core.estimates import LeftOut, ParameterError, TidyDataError
from analytics.statistics.core.tidy import Checks
from tests.analytics.statistics.build import counts_of, make_items, make_judgments, spec


def make_checks(rows):
    """From (judgment, follow-up, response, value)."""
    columns = np.array(rows, dtype=int).reshape(-1, 4).T
    return Checks(*columns)


def answers(judgment, first, second):
    """All checks of one judgment, from the ticks (such as "10") for either response."""
    return [
        (judgment, follow_up, response, int(tick))
        for response, ticks in enumerate((first, second))
        for follow_up, tick in enumerate(ticks)
    ]


@pytest.fixture
def study():
    # Item 0: two of three raters tick follow-up 0 of the first response; item 1: one of two, no majority.
    items = make_items(["q1", "q2", "q3"], systems=[("a", "b"), ("a", "c"), ("a", "b")])
    judgments = make_judgments([[0, 0, 1], [2, 2], [0, 1]])
    rows = answers(0, "11", "00") + answers(1, "10", "00") + answers(2, "00", "11")
    rows += answers(3, "11", "10") + answers(4, "01", "10")
    return items, judgments, make_checks(rows)


def satisfied_by(checks, judgments, n_items):
    return satisfied_follow_ups(checks, judgments, check_counts(checks, judgments, n_items))


def test_more_than_half_must_tick(study) -> None:
    items, judgments, checks = study
    satisfied = satisfied_by(checks, judgments, len(items))
    assert satisfied.number.tolist() == [[1, 0], [1, 1], [0, 0]]
    assert satisfied.asked.tolist() == [[2, 2], [2, 2], [0, 0]]
    assert satisfied.checked.tolist() == [True, True, False]


def test_agreement_where_responses_differ_by_majority(study) -> None:
    items, judgments, checks = study
    satisfied = satisfied_by(checks, judgments, len(items))
    counts = counts_of([[0, 0, 1], [2, 2], [0, 1]])
    result = agreement_by_follow_ups(counts, items.query, satisfied, resample=spec())
    assert result.differing_by_majority.without_ties.value == pytest.approx(2 / 3)
    assert result.equal_by_majority.with_ties.value == 1
    assert result.equal_by_majority.without_ties.value is None
    assert result.differing_by_majority.with_ties.left_out == (LeftOut(UNCHECKED, 1),)


def test_the_papers_rule_is_the_mean_difference_over_raters(study) -> None:
    """Item 0: +2, +1 and -2 are a third of a follow-up, item 1: +1 and 0 a half; majorities differ on item 0."""
    items, judgments, checks = study
    satisfied = satisfied_by(checks, judgments, len(items))
    assert satisfied.difference[:2].tolist() == [pytest.approx(1 / 3), 0.5]
    assert np.isnan(satisfied.difference[2])
    result = agreement_by_follow_ups(
        counts_of([[0, 0, 1], [2, 2], [0, 1]]), items.query, satisfied, resample=spec()
    )
    assert (result.differing.with_ties.n, result.equal.with_ties.n) == (0, 2)
    assert result.equal.with_ties.left_out == (LeftOut(UNCHECKED, 1),)


@pytest.mark.parametrize(
    ("ticks", "differs"),
    [
        # A mean of exactly 1, in thirds, either way.
        ([("110", "000"), ("100", "000"), ("100", "100")], True),
        ([("000", "110"), ("000", "100"), ("100", "100")], True),
        # A half short of it, though each response satisfies another number by majority.
        ([("100", "000"), ("100", "100")], False),
        # Everybody sees a difference, but not the same one.
        ([("110", "000"), ("000", "110")], False),
    ],
)
def test_one_follow_up_or_more_either_way(ticks, differs) -> None:
    items = make_items(["q1"])
    judgments = make_judgments([[0] * len(ticks)])
    rows = [row for number, each in enumerate(ticks) for row in answers(number, *each)]
    satisfied = satisfied_by(make_checks(rows), judgments, 1)
    result = agreement_by_follow_ups(counts_of([[0] * len(ticks)]), items.query, satisfied, resample=spec(0))
    assert (result.differing.with_ties.n, result.equal.with_ties.n) == (int(differs), int(not differs))


def test_a_follow_up_checked_for_one_response_says_nothing_of_a_difference() -> None:
    rows = [*answers(0, "1", "1"), (0, 1, 0, 1), (1, 0, 0, 1)]
    satisfied = satisfied_by(make_checks(rows), make_judgments([[0, 0]]), 1)
    assert satisfied.difference.tolist() == [0.0]


def test_systems(study) -> None:
    items, judgments, checks = study
    satisfied = satisfied_by(checks, judgments, len(items))
    results = {r.system: r for r in follow_ups_by_system(items, satisfied, resample=spec())}
    assert {name: r.share.value for name, r in results.items()} == {"a": 0.5, "b": 0.0, "c": 0.5}
    assert {name: r.number.value for name, r in results.items()} == {"a": 1.0, "b": 0.0, "c": 1.0}
    assert results["a"].share.left_out == (LeftOut(UNCHECKED_RESPONSES, 1),)
    assert results["a"].share.n == 2


check_rows = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 1)), st.integers(0, 1), max_size=40
)


@given(check_rows)
def test_against_a_slow_count(ticks) -> None:
    # Six judgments of two items, three each.
    judgments = make_judgments([[0, 0, 1], [1, 2, 2]])
    rows = [(*key, value) for key, value in ticks.items()]
    satisfied = satisfied_by(make_checks(rows), judgments, 2)
    votes = defaultdict(list)
    for (judgment, follow_up, response), value in ticks.items():
        votes[judgment // 3, response, follow_up].append(value)
    number, asked = np.zeros((2, 2), int), np.zeros((2, 2), int)
    for (item, response, _), values in votes.items():
        asked[item, response] += 1
        number[item, response] += sum(values) > len(values) / 2
    assert satisfied.number.tolist() == number.tolist()
    assert satisfied.asked.tolist() == asked.tolist()
    assert (satisfied.number <= satisfied.asked).all()
    for item in range(2):
        differences = []
        for judgment in range(3 * item, 3 * item + 3):
            both = [f for f in range(4) if (judgment, f, 0) in ticks and (judgment, f, 1) in ticks]
            if both:
                differences.append(sum(ticks[judgment, f, 0] - ticks[judgment, f, 1] for f in both))
        expected = sum(differences) / len(differences) if differences else np.nan
        assert satisfied.difference[item] == pytest.approx(expected, nan_ok=True)


@given(check_rows)
def test_the_two_parts_make_up_the_whole(ticks) -> None:
    judgments = make_judgments([[0, 0, 1], [1, 2, 2]])
    satisfied = satisfied_by(make_checks([(*key, value) for key, value in ticks.items()]), judgments, 2)
    counts = counts_of([[0, 0, 1], [1, 2, 2]])
    found = agreement_by_follow_ups(counts, np.arange(2), satisfied, resample=spec(0))
    for checked, *parts in (
        (np.isfinite(satisfied.difference), found.differing, found.equal),
        (satisfied.checked, found.differing_by_majority, found.equal_by_majority),
    ):
        whole = agreement(counts[checked], np.arange(2)[checked], resample=spec(0)).with_ties
        sizes = [part.with_ties.n for part in parts]
        assert sum(sizes) == whole.n
        weighted = sum(n * (part.with_ties.value or 0) for n, part in zip(sizes, parts, strict=True))
        assert weighted == pytest.approx((whole.value or 0) * whole.n)


def test_rows_must_belong_together(study) -> None:
    items, judgments, checks = study
    satisfied = satisfied_by(checks, judgments, len(items))
    with pytest.raises(TidyDataError, match="judgment that does not exist"):
        check_counts(make_checks([(9, 0, 0, 1)]), judgments, 3)
    with pytest.raises(TidyDataError, match="item that does not exist"):
        check_counts(checks, judgments, 1)
    with pytest.raises(TidyDataError, match="same items"):
        agreement_by_follow_ups(counts_of([[0]]), np.array([0]), satisfied, resample=spec())
    with pytest.raises(TidyDataError, match="same study"):
        follow_ups_by_system(make_items(["q"]), satisfied, resample=spec())
    with pytest.raises(ParameterError, match="arm and category"):
        follow_ups_by_system(items, satisfied, resample=spec(), by=("pair",))

"""A judge held against people: confusion, kappa with their majority, expected agreement of probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analytics.statistics.agreement.leave_one_out import (
    NO_JUDGE_LABEL,
    inner_agreement,
    item_inner,
    item_outer,
    outer_agreement,
)
from analytics.statistics.agreement.percentage import FEW_JUDGMENTS, majority
from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.tidy import FIRST, MISSING, SECOND, TIE
from analytics.statistics.judges.labels_vs_people import (
    NO_MAJORITY,
    NOT_BY_PEOPLE,
    confusion,
    expected_agreement,
    judge_less_people,
    kappa_with_majority,
    label_chances,
)
from tests.analytics.statistics.build import count_arrays, counts_of, make_judgments, spec

LABELS = st.sampled_from([MISSING, FIRST, SECOND, TIE])


def with_labels(counts):
    return st.tuples(st.just(counts), hnp.arrays(np.int8, len(counts), elements=LABELS))


def test_who_says_what_by_hand():
    # Majorities: first, first, none, tie; nobody judged the fifth item, and the judge not the sixth.
    people = counts_of([[0, 0, 1], [0, 0], [0, 1], [2, 2, 0], [], [1]])
    found = confusion(people, np.array([FIRST, SECOND, FIRST, TIE, FIRST, MISSING]))
    assert found.counts == ((1, 0, 0, 1), (1, 0, 0, 0), (0, 0, 1, 0))
    assert found.n == 4
    assert found.left_out == (LeftOut(NOT_BY_PEOPLE, 1), LeftOut(NO_JUDGE_LABEL, 1))


def test_a_judge_less_people_by_hand():
    """Of 3 to 1 a judge with the majority is right 3/4 of the time, and so are people; with the minority, never."""
    people = counts_of([[0, 0, 0, 1]] * 12 + [[0]])
    query = np.arange(13)
    with_them = judge_less_people(people, np.full(13, FIRST), query, resample=spec(0), tests=Randomization(1))
    inner = item_inner(people)[0]
    assert with_them.difference.value == pytest.approx(item_outer(people, np.full(13, FIRST))[0] - inner)
    against = judge_less_people(people, np.full(13, SECOND), query, resample=spec(0), tests=Randomization(1))
    assert against.difference.value == pytest.approx(-inner)
    assert (against.difference.n, against.difference.left_out) == (12, (LeftOut(FEW_JUDGMENTS, 1),))
    # All twelve queries on one side: 2 of 2 to the power of 12 outcomes.
    assert against.test.p_value == pytest.approx(2 / 2**12)


@given(count_arrays(min_items=2).flatmap(with_labels))
def test_a_judge_less_people_is_the_difference_of_both(case):
    people, judge = case
    query = np.arange(len(people))
    found = judge_less_people(people, judge, query, resample=spec(0), tests=Randomization(1))
    labelled = judge != MISSING
    inner = inner_agreement(people[labelled], query[labelled], resample=spec(0))
    outer = outer_agreement(people, judge, query, resample=spec(0))
    assert found.difference.n == inner.n == outer.n
    if inner.value is None:
        assert (found.difference.value, found.test) == (None, None)
    else:
        assert found.difference.value == pytest.approx(outer.value - inner.value)
        assert 0 < found.test.p_value <= 1


def test_a_difference_is_known_better_than_two_intervals_suggest():
    """Half of the items are hard for everybody; the judge is always a little behind."""
    people = counts_of([[0, 0, 0, 0], [0, 0, 0, 1]] * 15 + [[0, 1, 2], [0, 0, 1, 1]] * 15)
    judge = np.array([FIRST] * 30 + [SECOND] * 30)
    query = np.arange(60)
    inner = inner_agreement(people, query, resample=spec(0))
    outer = outer_agreement(people, judge, query, resample=spec(0))
    found = judge_less_people(people, judge, query, resample=spec(0), tests=Randomization(1)).difference
    widths = [each.high - each.low for each in (found, inner, outer)]
    assert widths[0] < min(widths[1:])


@given(count_arrays().flatmap(with_labels))
def test_who_says_what_is_counting_one_by_one(case):
    people, judge = case
    found = np.array(confusion(people, judge).counts)
    slow = np.zeros((3, 4), dtype=int)
    for counts, label, most in zip(people, judge, majority(people), strict=True):
        if counts.sum() and label != MISSING:
            slow[label, most if most != MISSING else 3] += 1
    assert found.tolist() == slow.tolist()


@given(count_arrays(min_items=3).flatmap(with_labels))
def test_kappa_is_observed_beyond_expected_agreement(case):
    people, judge = case
    most = majority(people)
    used = (judge != MISSING) & (most != MISSING)
    found = kappa_with_majority(people, judge, np.arange(len(people)), resample=spec(0))
    assert found.n == used.sum()
    assert found.n + found.n_left_out >= len(people)
    if found.value is None:
        assert len(set(judge[used]) | set(most[used])) <= 1
    else:
        one, other = judge[used].tolist(), most[used].tolist()
        observed = sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
        expected = sum(one.count(label) * other.count(label) for label in range(3)) / len(one) ** 2
        assert found.value == pytest.approx((observed - expected) / (1 - expected))


def test_what_kappa_leaves_out_and_its_interval_over_queries():
    labels = [[0, 0], [1, 1], [2, 2], [0, 1], []] * 12
    judge = np.array([FIRST, SECOND, FIRST, FIRST, FIRST] * 12)
    query = np.repeat(np.arange(30), 2)
    found = kappa_with_majority(counts_of(labels), judge, query, resample=spec())
    assert found.left_out == (LeftOut(NOT_BY_PEOPLE, 12), LeftOut(NO_MAJORITY, 12))
    assert found.low < found.value < found.high
    assert "queries" in found.method


def test_kappa_of_one_label_throughout_is_undefined():
    found = kappa_with_majority(
        counts_of([[0, 0]] * 4), np.zeros(4, dtype=int), np.arange(4), resample=spec()
    )
    assert found.value is None
    assert found.undefined.startswith("There is nothing to compare")


def test_expected_agreement_by_hand():
    # A judge that says 1 of labels 1, 1, 2, 0 agrees by 2/3; its chances weigh what each label would reach.
    people = counts_of([[1, 1, 2, 0]])
    outer = [
        outer_agreement(people, np.array([label]), np.zeros(1, int), resample=spec(0)).value
        for label in range(3)
    ]
    assert outer[1] == pytest.approx(2 / 3)
    chances = np.array([[0.3, 0.7, 0.0]])
    found = expected_agreement(people, chances, np.zeros(1, int), resample=spec(0))
    assert found.value == pytest.approx(0.3 * outer[0] + 0.7 * outer[1])


@given(count_arrays().flatmap(with_labels))
def test_a_judge_that_is_sure_agrees_as_its_labels_do(case):
    people, judge = case
    chances = np.where((judge == MISSING)[:, None], np.nan, np.eye(4)[judge][:, :3])
    query = np.arange(len(people))
    sure = expected_agreement(people, chances, query, resample=spec(0))
    by_label = outer_agreement(people, judge, query, resample=spec(0))
    assert (sure.n, sure.left_out) == (by_label.n, by_label.left_out)
    assert sure.value == pytest.approx(by_label.value)


def test_chances_are_numbers_where_there_are_some_and_labels_elsewhere():
    nan = float("nan")
    judgments = make_judgments(
        [[SECOND], [FIRST, SECOND], [TIE], [MISSING], []], numbers=[[0.8], [0.1, nan], [nan], [nan], []]
    )
    found = label_chances(judgments, 5)
    np.testing.assert_allclose(found[:3], [[0.2, 0.8, 0], [0.45, 0.55, 0], [0, 0, 1]])
    assert np.isnan(found[3:]).all()


def test_few_judgments_and_missing_labels_are_told_apart():
    people = counts_of([[0, 0], [1], [1, 1]])
    chances = np.array([[1, 0, 0], [0, 1, 0], [np.nan] * 3])
    found = expected_agreement(people, chances, np.arange(3), resample=spec(0))
    assert (found.value, found.n) == (1.0, 1)
    assert found.left_out == (LeftOut(FEW_JUDGMENTS, 1), LeftOut(NO_JUDGE_LABEL, 1))


def test_columns_must_match():
    people = counts_of([[0, 0]])
    for call in (
        lambda: confusion(people, np.array([0, 1])),
        lambda: kappa_with_majority(people, np.array([3]), np.zeros(1, int), resample=spec()),
        lambda: expected_agreement(people, np.zeros((1, 2)), np.zeros(1, int), resample=spec()),
    ):
        with pytest.raises(TidyDataError):
            call()

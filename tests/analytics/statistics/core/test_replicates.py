"""Replicates reduced by each rule, against a slow and obvious twin; flips between orders."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.replicates import (
    EVEN,
    ONE_ORDER_ONLY,
    RULES,
    Readings,
    inconsistency,
    reduce_readings,
)
from analytics.statistics.core.tidy import FIRST, MISSING, SECOND, TIE, UNKNOWN_ORDER
from tests.analytics.statistics.build import spec

NAN = float("nan")
A_READING = st.fixed_dictionaries(
    {
        "rater": st.integers(0, 2),
        "item": st.integers(0, 3),
        "replicate": st.integers(0, 5),
        "label": st.sampled_from([MISSING, FIRST, SECOND, TIE]),
        "number": st.sampled_from([NAN, 0.0, 0.2, 0.5, 0.8, 1.0]),
        "first": st.sampled_from([UNKNOWN_ORDER, 0, 1]),
    }
)
MANY = st.lists(
    A_READING, max_size=30, unique_by=lambda each: (each["rater"], each["item"], each["replicate"])
)


def readings_of(rows):
    def column(name, dtype):
        return np.array([row[name] for row in rows], dtype=dtype)

    return Readings(
        column("rater", np.int64),
        column("item", np.int64),
        column("replicate", np.int64) // 2,
        column("label", np.int8),
        column("number", float),
        column("first", np.int8),
    )


def read(*labels, numbers=None, rater=0, item=0):
    """Readings of one item: the two orders of the first sample, then those of the second, ..."""
    return [
        {
            "rater": rater,
            "item": item,
            "replicate": n,
            "label": label,
            "number": numbers[n] if numbers else NAN,
            "first": n % 2,
        }
        for n, label in enumerate(labels)
        if label is not None
    ]


def slow(rows, rule):
    """(rater, item) -> label, number, order, by loops over Python lists."""
    found = {}
    for key in sorted({(row["rater"], row["item"]) for row in rows}):
        mine = [row for row in rows if (row["rater"], row["item"]) == key]
        orders = {row["first"] for row in mine}
        order = orders.pop() if len(orders) == 1 else UNKNOWN_ORDER
        if rule == "mean":
            label, number = slow_mean(mine)
        elif rule == "majority":
            label, number = (
                slow_mode([row["label"] for row in mine]),
                slow_average([row["number"] for row in mine]),
            )
        else:
            label, number = slow_both_ways(mine)
        found[key] = (label, number, order)
    return found


def slow_average(numbers):
    given = [number for number in numbers if number == number]
    return sum(given) / len(given) if given else None


def slow_mode(labels):
    counts = Counter(label for label in labels if label != MISSING).most_common()
    if not counts:
        return MISSING
    return counts[0][0] if len(counts) == 1 or counts[0][1] > counts[1][1] else TIE


def slow_mean(mine):
    worth = {FIRST: 0.0, TIE: 0.5, SECOND: 1.0, MISSING: NAN}
    number = slow_average(
        [row["number"] if row["number"] == row["number"] else worth[row["label"]] for row in mine]
    )
    if number is None:
        return MISSING, None
    return (TIE if abs(number - 0.5) <= EVEN else FIRST if number < 0.5 else SECOND), number


def slow_both_ways(mine):
    labels, numbers = [], []
    for sample in {row["replicate"] // 2 for row in mine}:
        both = [row for row in mine if row["replicate"] // 2 == sample]
        if len(both) < 2:
            continue
        number = slow_average([row["number"] for row in both])
        if both[0]["label"] == both[1]["label"]:
            labels.append(both[0]["label"])
            numbers.append(NAN if number is None else number)
        else:
            labels.append(TIE)
            numbers.append(NAN if number is None else 0.5)
    return slow_mode(labels), slow_average(numbers)


@pytest.mark.parametrize("rule", RULES)
@given(rows=MANY)
def test_every_rule_is_its_slow_twin(rule, rows):
    readings = readings_of(rows)
    reduced = reduce_readings(readings, rule)
    keys = list(zip(readings.rater[reduced.row].tolist(), readings.item[reduced.row].tolist(), strict=True))
    expected = slow(rows, rule)
    assert keys == list(expected)
    for at, (label, number, order) in enumerate(expected.values()):
        assert reduced.vote[at] == label
        assert reduced.first[at] == order
        if number is None:
            assert np.isnan(reduced.number[at])
        else:
            assert reduced.number[at] == pytest.approx(number)


@pytest.mark.parametrize("rule", RULES)
@given(rows=MANY, seed=st.integers(0, 99))
def test_the_order_of_the_rows_does_not_matter(rule, rows, seed):
    shuffled = [rows[at] for at in np.random.default_rng(seed).permutation(len(rows))]
    one, other = (reduce_readings(readings_of(each), rule) for each in (rows, shuffled))
    assert one.vote.tolist() == other.vote.tolist()
    np.testing.assert_allclose(one.number, other.number)


def test_majority_is_a_tie_without_a_unique_label():
    assert reduce_readings(readings_of(read(FIRST, SECOND)), "majority").vote.tolist() == [TIE]
    assert reduce_readings(readings_of(read(FIRST, SECOND, SECOND)), "majority").vote.tolist() == [SECOND]


def test_the_mean_of_probabilities_says_its_label():
    reduced = reduce_readings(readings_of(read(FIRST, SECOND, numbers=[0.4, 0.9])), "mean")
    assert (reduced.vote.tolist(), reduced.number.tolist()) == ([SECOND], [pytest.approx(0.65)])
    # Complementary probabilities of two orders are even, whatever the last bit says.
    even = reduce_readings(readings_of(read(FIRST, SECOND, numbers=[0.1 + 0.2, 0.7])), "mean")
    assert even.vote.tolist() == [TIE]
    labels = reduce_readings(readings_of(read(FIRST, FIRST, TIE, SECOND)), "mean")
    assert (labels.vote.tolist(), labels.number.tolist()) == ([FIRST], [0.375])


def test_a_flip_is_a_tie_and_samples_go_by_majority():
    flip = readings_of(read(FIRST, SECOND))
    assert reduce_readings(flip, "both_ways").vote.tolist() == [TIE]
    three = readings_of(read(FIRST, SECOND, SECOND, SECOND, SECOND, SECOND))
    assert reduce_readings(three, "both_ways").vote.tolist() == [SECOND]
    assert reduce_readings(three, "both_ways").first.tolist() == [UNKNOWN_ORDER]


def test_a_flip_of_probabilities_is_one_half():
    flip = readings_of(read(FIRST, SECOND, numbers=[0.1, 0.6]))
    assert reduce_readings(flip, "both_ways").number.tolist() == [0.5]
    steady = readings_of(read(SECOND, SECOND, numbers=[0.7, 0.9]))
    assert reduce_readings(steady, "both_ways").number.tolist() == [pytest.approx(0.8)]


def test_one_order_alone_says_nothing():
    rows = [*read(FIRST, None), *read(SECOND, SECOND, None, FIRST, item=1)]
    reduced = reduce_readings(readings_of(rows), "both_ways")
    assert reduced.vote.tolist() == [MISSING, SECOND]


def test_inconsistency_counts_samples_and_what_it_could_not_use():
    rows = [
        *read(FIRST, SECOND, FIRST, FIRST, item=0),
        *read(FIRST, TIE, item=1),
        *read(SECOND, None, item=2),
        *read(SECOND, SECOND, item=3),
    ]
    readings = readings_of(rows)
    found = inconsistency(readings, readings.item, resample=spec()).inconsistent
    assert (found.value, found.n, found.unit) == (0.5, 4, "samples")
    assert [(part.reason, part.n) for part in found.left_out] == [(ONE_ORDER_ONLY, 1)]
    assert found.low < 0.5 < found.high


def test_a_judge_asked_in_one_order_has_no_inconsistency():
    readings = readings_of([*read(FIRST, None), *read(SECOND, None, item=1)])
    found = inconsistency(readings, readings.item, resample=spec()).inconsistent
    assert (found.value, found.undefined) == (None, "No sample was read in both orders.")


def test_an_unknown_rule_is_refused():
    with pytest.raises(ParameterError, match="no rule 'median'"):
        reduce_readings(readings_of([]), "median")

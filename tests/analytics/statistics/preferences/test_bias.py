import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.preferences.bias import (
    EQUAL_LENGTHS,
    NO_LABEL,
    NO_ORDER,
    TIES,
    length_bias,
    position_bias,
)
from tests.analytics.statistics.build import make_items, make_judgments, random_labels, spec

readings = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 1)), min_size=1, max_size=30)

TESTS = Randomization(5)


def test_position_bias_by_hand() -> None:
    # Four preferences of known order, three for the response shown first.
    label = np.array([0, 1, 0, 1, 2, -1, 0])
    first = np.array([0, 1, 0, 0, 0, 1, -1])
    result = position_bias(label, first, np.arange(7), resample=spec(), tests=TESTS)
    assert result.share.value == 0.75
    assert result.bias.value == 0.25
    assert (result.n_first, result.n_second, result.share.n) == (3, 1, 4)
    assert result.share.left_out == (LeftOut(NO_LABEL, 1), LeftOut(NO_ORDER, 1), LeftOut(TIES, 1))
    # Three queries for the first, one against: 5 of 16 sums of four signs are not below 2, and as many not above -2.
    assert (result.test.p_value, result.test.n) == (pytest.approx(10 / 16), 4)
    assert result.bias.high - result.bias.low == pytest.approx(result.share.high - result.share.low)


@given(readings)
def test_position_bias_against_a_slow_count_and_turned_round(pairs) -> None:
    label, first = np.array(pairs).T
    query = np.arange(len(pairs)) // 2
    result = position_bias(label, first, query, resample=spec(0), tests=TESTS)
    known = [(a, b) for a, b in pairs if a in (0, 1) and b >= 0]
    assert result.share.n + result.share.n_left_out == len(pairs)
    if not known:
        assert result.share.value is None
        assert result.test is None
        return
    assert result.share.value == pytest.approx(sum(a == b for a, b in known) / len(known))
    turned = position_bias(label, np.array([1, 0, -1])[first], query, resample=spec(0), tests=TESTS)
    assert turned.bias.value == pytest.approx(-result.bias.value)
    # Which of the responses is called the first canonical one does not matter.
    renamed = position_bias(
        np.array([1, 0, 2, -1])[label], np.array([1, 0, -1])[first], query, resample=spec(0), tests=TESTS
    )
    assert renamed.share.value == pytest.approx(result.share.value)
    assert turned.test == renamed.test == result.test


def test_a_rater_who_always_takes_the_first() -> None:
    first = np.random.default_rng(0).integers(0, 2, 50)
    result = position_bias(first, first, np.arange(50), resample=spec(), tests=TESTS)
    assert (result.share.value, result.share.high) == (1.0, 1.0)
    assert result.test.p_value == pytest.approx(2 / 2**50)
    # Resampling 50 queries that all give 1 would show no width; 50 / (50 + 1.96 ** 2) is Wilson's lower limit.
    assert result.share.low == pytest.approx(50 / (50 + 1.959964**2), abs=1e-6)
    assert (result.bias.value, result.bias.low) == (0.5, pytest.approx(result.share.low - 0.5))
    assert result.share.method == "Wilson interval, as all 50 queries give the same value"


def test_columns_must_match() -> None:
    with pytest.raises(TidyDataError, match="every reading"):
        position_bias(np.array([0]), np.array([0, 1]), np.array([0]), resample=spec(), tests=TESTS)


def test_length_bias_by_hand() -> None:
    # Longer twice, shorter once, one tie: 2/4 - 1/4. Responses of equal length say nothing.
    items = make_items(["q1", "q2", "q3"], lengths=[(100, 50), (20, 80), (30, 30)])
    result = length_bias(items, make_judgments([[0, 2], [1, 0, -1], [0, 1]]), resample=spec())
    assert result.longer.value == 0.5
    assert result.shorter.value == 0.25
    assert result.bias.value == 0.25
    assert result.bias.n == 4
    assert result.bias.left_out == (LeftOut(NO_LABEL, 1), LeftOut(EQUAL_LENGTHS, 2))


def test_length_bias_against_a_slow_count() -> None:
    rng = np.random.default_rng(9)
    labels = random_labels(rng, 200)
    lengths = [tuple(pair) for pair in rng.integers(1, 6, (200, 2)).tolist()]
    items = make_items([f"q{k % 70}" for k in range(200)], lengths=lengths)
    result = length_bias(items, make_judgments(labels), resample=spec())
    longer = shorter = n = 0
    for of_item, (one, two) in zip(labels, lengths, strict=True):
        for label in of_item if one != two else ():
            n += 1
            longer += label == (0 if one > two else 1)
            shorter += label == (1 if one > two else 0)
    assert result.bias.value == pytest.approx((longer - shorter) / n)
    assert result.longer.value == pytest.approx(longer / n)
    assert result.bias.n == n
    assert result.bias.low < result.bias.value < result.bias.high


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=20))
def test_swapping_lengths_turns_the_bias_round(rows) -> None:
    query = [f"q{k}" for k in range(len(rows))]
    judgments = make_judgments([[label] for *_, label in rows])
    one = length_bias(make_items(query, lengths=[(a, b) for a, b, _ in rows]), judgments, resample=spec(0))
    other = length_bias(make_items(query, lengths=[(b, a) for a, b, _ in rows]), judgments, resample=spec(0))
    if one.bias.value is None:
        assert "of different length" in one.bias.undefined
    else:
        assert one.bias.value == pytest.approx(-other.bias.value)
        assert -1 <= one.bias.value <= 1

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, ParameterError, TidyDataError, UnknownNameError
from analytics.statistics.core.randomization import Randomization, sign_flip
from analytics.statistics.preferences.win_rates import (
    NO_MAJORITY,
    NO_USABLE_JUDGMENT,
    UNUSABLE_JUDGMENTS,
    expected_win_rates,
    majority_win_rates,
    win_rates_against,
    win_rates_overall,
)
from tests.analytics.statistics.build import (
    context_study,
    make_items,
    make_judgments,
    random_labels,
    spec,
)
from tests.fixtures.contexteval import CELLS, PAIRS, TABLE_6

PRINTED = 0.01 + 1e-9  # one figure of the paper is cut rather than rounded
label_lists = st.lists(st.lists(st.integers(-1, 2), max_size=4), min_size=1, max_size=12)


def slow_rate(labels, numbers, target, tie) -> list[float]:
    """The score of one response, item by item; nan numbers stand aside for labels."""
    means = []
    for of_item, of_numbers in zip(labels, numbers, strict=True):
        scores = []
        for label, number in zip(of_item, of_numbers, strict=True):
            if number == number:
                scores.append(number if target == 1 else 1 - number)
            elif label >= 0:
                scores.append(1 if label == target else tie if label == 2 else 0)
        if scores:
            means.append(sum(scores) / len(scores))
    return means


def test_the_papers_table() -> None:
    # ContextEval, Table 6, human evaluators.
    items, judgments = context_study()
    results = majority_win_rates(items, judgments, resample=spec())
    assert len(results) == 9
    for result in results:
        pair = next(pair for pair in PAIRS if result.cell.system_1 in pair)
        key = (result.cell.arm, pair)
        shares = {result.cell.system_1: result.system_1, result.cell.system_2: result.system_2}
        estimates = (shares[pair[0]], shares[pair[1]], result.tie)
        for estimate, printed in zip(estimates, TABLE_6[key], strict=True):
            assert abs(100 * estimate.value - printed) <= PRINTED
            assert estimate.low <= estimate.value <= estimate.high
            assert estimate.n == 100 - CELLS[key].no_majority
            assert estimate.left_out == (LeftOut(NO_MAJORITY, CELLS[key].no_majority),)
        assert result.preferred == pair[int(TABLE_6[key][1] > TABLE_6[key][0])]


@pytest.mark.parametrize(("ties", "percent"), [("half", 65), ("win", 80)])
def test_a_judges_rate_by_hand(ties, percent) -> None:
    # Five wins, three ties, two losses and one reply that could not be parsed.
    labels = [[1]] * 5 + [[2]] * 3 + [[0]] * 2 + [[-1]]
    items = make_items([f"q{k}" for k in range(11)], systems=("baseline", "target"))
    (result,) = (
        rate
        for rate in win_rates_against(items, make_judgments(labels), "baseline", ties=ties, resample=spec())
        if rate.system == "target"
    )
    assert 100 * result.rate.value == pytest.approx(percent)
    assert result.rate.n == 10
    assert result.rate.left_out == (LeftOut(NO_USABLE_JUDGMENT, 1),)
    scores = [1] * 5 + [0.5 if ties == "half" else 1] * 3 + [0] * 2
    assert result.standard_error == pytest.approx(np.std(scores, ddof=1) / np.sqrt(10))


@pytest.mark.parametrize(("ties", "tie"), [("half", 0.5), ("win", 1)])
def test_against_scoring_one_by_one(ties, tie) -> None:
    rng = np.random.default_rng(5)
    labels = [[label - 1 for label in of_item] for of_item in random_labels(rng, 200, n_labels=4)]
    numbers = [[rng.choice([np.nan, 0.1, 0.7]) for _ in of_item] for of_item in labels]
    items = make_items([f"q{k % 50}" for k in range(200)])
    judgments = make_judgments(labels, numbers)
    first, second = expected_win_rates(items, judgments, ties=ties, resample=spec())
    for result, target in ((first, 0), (second, 1)):
        means = slow_rate(labels, numbers, target, tie)
        assert result.rate.value == pytest.approx(np.mean(means))
        assert result.rate.n == len(means)
        assert result.standard_error == pytest.approx(np.std(means, ddof=1) / np.sqrt(len(means)))
        assert "50 queries" in result.rate.method


def test_an_item_counts_once_however_often_it_was_judged() -> None:
    items = make_items(["q1", "q2"])
    judgments = make_judgments([[0] * 9, [1, -1]])
    first, second = expected_win_rates(items, judgments, resample=spec())
    assert (first.rate.value, second.rate.value) == (0.5, 0.5)
    assert first.rate.left_out == (LeftOut(UNUSABLE_JUDGMENTS, 1),)
    assert (first.system, first.opponent, second.system) == ("a", "b", "b")


@given(label_lists)
def test_two_systems_share_all_wins(labels) -> None:
    items = make_items([f"q{k}" for k in range(len(labels))])
    judgments = make_judgments(labels)
    first, second = expected_win_rates(items, judgments, resample=spec(0))
    unusable = sum(part.n for part in first.rate.left_out if part.reason == NO_USABLE_JUDGMENT)
    assert first.rate.n + unusable == len(items)
    if first.rate.value is None:
        assert "usable" in first.rate.undefined
    else:
        assert first.rate.value + second.rate.value == pytest.approx(1)
        assert 0 <= first.rate.value <= 1
    generous = expected_win_rates(items, judgments, ties="win", resample=spec(0))[0].rate
    assert generous.value is None or generous.value >= first.rate.value - 1e-12


@given(label_lists)
def test_swapping_the_responses_swaps_the_shares(labels) -> None:
    items = make_items([f"q{k}" for k in range(len(labels))])
    judgments = make_judgments(labels)
    swapped = replace(judgments, vote=np.array([1, 0, 2, -1])[judgments.label])
    (one,) = majority_win_rates(items, judgments, resample=spec(0))
    (other,) = majority_win_rates(items, swapped, resample=spec(0))
    assert (one.system_1.value, one.system_2.value) == (other.system_2.value, other.system_1.value)
    if one.tie.value is not None:
        assert one.system_1.value + one.system_2.value + one.tie.value == pytest.approx(1)
    assert one.tie.n + sum(part.n for part in one.tie.left_out) == len(labels)


def test_rates_over_all_opponents_and_by_category() -> None:
    items = make_items(
        ["q1", "q2", "q3", "q4"],
        systems=[("a", "b"), ("a", "c"), ("b", "c"), ("a", "a")],
        category=["x", "x", "y", "y"],
    )
    judgments = make_judgments([[0], [1], [2], [0]])
    overall = {rate.system: rate for rate in win_rates_overall(items, judgments, resample=spec())}
    assert {name: rate.rate.value for name, rate in overall.items()} == {"a": 0.5, "b": 0.25, "c": 0.75}
    assert overall["a"].rate.n == 2  # a comparison of a system with itself is in no rate
    assert overall["a"].opponent is None
    by_category = win_rates_overall(items, judgments, resample=spec(), by=("category",))
    assert {(rate.category, rate.system): rate.rate.value for rate in by_category} == {
        ("x", "a"): 0.5,
        ("x", "b"): 0.0,
        ("x", "c"): 1.0,
        ("y", "b"): 0.5,
        ("y", "c"): 0.5,
    }
    against = win_rates_against(items, judgments, "c", resample=spec())
    assert {(rate.system, rate.opponent, rate.rate.value) for rate in against} == {
        ("a", "c", 0.0),
        ("b", "c", 0.5),
    }
    assert against[0].standard_error is None


def test_no_majority_anywhere_is_undefined() -> None:
    (result,) = majority_win_rates(make_items(["q"]), make_judgments([[0, 1]]), resample=spec())
    assert result.tie.value is None
    assert result.preferred is None
    assert "majority" in result.tie.undefined


def test_parameters_are_checked() -> None:
    items, judgments = make_items(["q"]), make_judgments([[0]])
    with pytest.raises(ParameterError, match="pair of systems"):
        majority_win_rates(items, judgments, resample=spec(), by=("arm",))
    with pytest.raises(ParameterError, match="pool"):
        expected_win_rates(items, judgments, resample=spec(), by=("arm",))
    with pytest.raises(ParameterError, match="arm and category"):
        win_rates_overall(items, judgments, resample=spec(), by=("pair",))
    with pytest.raises(ParameterError, match="half a win or as a win"):
        expected_win_rates(items, judgments, resample=spec(), ties="loss")
    with pytest.raises(UnknownNameError, match="gpt"):
        win_rates_against(items, judgments, "gpt", resample=spec())
    with pytest.raises(TidyDataError, match="not exist"):
        majority_win_rates(items, make_judgments([[0], [1]]), resample=spec())


def test_overall_rates_are_tested_against_one_half() -> None:
    """Query by query a scores 1, 1, 1/2 and 0 more than one half, twice over."""
    items = make_items([f"q{at}" for at in range(4)])
    judgments = make_judgments([[0, 0], [0, 0], [0, 2], [0, 1]])
    tests = Randomization(1)
    one, two = win_rates_overall(items, judgments, resample=spec(0), tests=tests)
    expected = sign_flip(np.array([0.5, 0.5, 0.25, 0]), np.arange(4), tests).two_sided
    assert one.test == two.test == expected
    assert expected.p_value == 2 / 2**3
    assert win_rates_overall(items, judgments, resample=spec(0))[0].test is None
    with pytest.raises(ParameterError, match="both systems may win"):
        win_rates_overall(items, judgments, resample=spec(0), ties="win", tests=tests)

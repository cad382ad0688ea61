import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.percentage import agreement
from analytics.statistics.core.estimates import Estimate, LeftOut, ParameterError, plain, present, undefined
from tests.analytics.statistics.build import counts_of, spec


def test_an_undefined_estimate_needs_a_reason() -> None:
    with pytest.raises(ParameterError, match="why"):
        Estimate(None, None, None, 0, "items")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused(number: float) -> None:
    with pytest.raises(ParameterError, match="finite"):
        Estimate(number, None, None, 3, "items")


def test_left_out_counts_only_what_was_left_out() -> None:
    parts = present({"ties": 3, "judgments without a label": 0})
    assert parts == (LeftOut("ties", 3),)
    assert undefined("Nothing is left.", left_out=parts).n_left_out == 3


def test_shifting_keeps_the_width() -> None:
    shifted = Estimate(0.6, 0.5, 0.7, 10, "judgments").shifted(-0.5)
    assert (shifted.value, shifted.low, shifted.high) == pytest.approx((0.1, 0.0, 0.2))
    assert undefined("Nothing is left.").shifted(1).value is None


def test_results_are_ready_for_json() -> None:
    estimate = Estimate(0.5, None, None, 2, "items", left_out=(LeftOut("ties", 1),), undefined="One query.")
    assert json.loads(json.dumps(plain(estimate)))["left_out"] == [{"reason": "ties", "n": 1}]
    result = agreement(counts_of([[0, 0, 1]]), np.array([0]), resample=spec())
    assert json.loads(json.dumps(plain(result)))["with_ties"]["value"] == pytest.approx(2 / 3)
    assert plain({"share": np.float64(0.5), "codes": np.arange(2)}) == {"share": 0.5, "codes": [0, 1]}


numbers = st.floats(-1e6, 1e6)
maybe = st.none() | numbers
parts = st.dictionaries(st.text(min_size=1), st.integers(-2, 5), max_size=4)


@given(maybe, maybe, maybe, parts, numbers, st.floats(0.1, 10))
def test_moving_and_stretching_can_be_undone(value, low, high, reasons, by, factor) -> None:
    found = Estimate(
        value, low, high, 3, "items", left_out=present(reasons), undefined="Nothing is there.", note="Few."
    )
    assert found.n_left_out == sum(n for n in reasons.values() if n > 0)
    for moved, back in (
        (found.shifted(by), found.shifted(by).shifted(-by)),
        (found.stretched(factor), found.stretched(factor).stretched(1 / factor)),
    ):
        # What is undefined stays so, and nothing but the numbers changes.
        assert (moved.left_out, moved.n, moved.note) == (found.left_out, found.n, found.note)
        for was, now in zip((value, low, high), (back.value, back.low, back.high), strict=True):
            assert (was is None) == (now is None)
            assert was is None or now == pytest.approx(was, abs=1e-8)


@given(st.one_of(st.just(math.inf), st.just(-math.inf), st.just(math.nan)), st.integers(0, 2))
def test_no_number_of_an_estimate_is_infinite(bad, at) -> None:
    given = [0.5, 0.4, 0.6]
    given[at] = bad
    with pytest.raises(ParameterError, match="finite"):
        Estimate(*given, 3, "items")


nested = st.recursive(
    numbers | st.integers(-9, 9) | st.text(max_size=3) | st.none(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3),
    max_leaves=8,
)


@given(nested)
def test_plain_things_stay_what_they_are(found) -> None:
    assert plain(found) == found
    assert json.loads(json.dumps(plain({"found": (found, np.array([1.5, 2]))}))) == {
        "found": [found, [1.5, 2]]
    }

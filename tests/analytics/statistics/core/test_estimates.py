import json

import numpy as np
import pytest

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
    assert json.loads(json.dumps(estimate.as_dict()))["left_out"] == [{"reason": "ties", "n": 1}]
    result = agreement(counts_of([[0, 0, 1]]), np.array([0]), resample=spec())
    assert json.loads(json.dumps(plain(result)))["with_ties"]["value"] == pytest.approx(2 / 3)
    assert plain({"share": np.float64(0.5), "codes": np.arange(2)}) == {"share": 0.5, "codes": [0, 1]}

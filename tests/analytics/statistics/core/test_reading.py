"""Records read back from the JSON that `plain` makes of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from analytics.statistics.core import randomization
from analytics.statistics.core.estimates import Estimate, LeftOut, plain
from analytics.statistics.core.reading import read

SHARE = Estimate(0.5, 0.4, 0.6, 10, "items", left_out=(LeftOut("items without a judgment", 2),))


@dataclass(frozen=True)
class Part:
    name: str | None
    share: Estimate
    at: tuple[int, float]
    by_place: Mapping[int, tuple[float, ...]]


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    best: Part | None


@dataclass(frozen=True)
class Other:
    members: tuple[Part, ...]


PART = Part("all", SHARE, (2, 0.25), {3: (1.0, 2.0)})


def as_json(record):
    return json.loads(json.dumps(plain(record)))


@pytest.mark.parametrize("record", [Whole((PART, PART), None), Whole((), PART)])
def test_a_record_is_what_it_was_before_it_was_json(record):
    assert read(Whole, as_json(record)) == record


def test_of_two_kinds_of_record_it_is_the_one_that_it_was():
    assert read(Whole | Other, as_json(Other((PART,)))) == Other((PART,))
    assert read(Whole | Other, as_json(Whole((PART,), None))) == Whole((PART,), None)


def test_what_a_report_adds_to_a_record_is_no_part_of_it():
    assert read(Whole, as_json(Whole((), None)) | {"figure": "a/b", "group": "person"}) == Whole((), None)


def test_a_test_has_its_correction():
    corrected = {"p_corrected": 0.03, "tests": 3, "undefined": ""}
    found = read(randomization.Tested, plain(randomization.Tested(0.01, 12, "counted", 0.001)) | corrected)
    assert found == randomization.CorrectedTest(0.01, 12, "counted", 0.001, **corrected)


def test_an_array_is_one_again():
    @dataclass(frozen=True)
    class Scores:
        values: np.ndarray

    assert np.array_equal(read(Scores, {"values": [1.0, 2.5]}).values, [1.0, 2.5])


def test_what_has_no_json_is_refused_by_name():
    @dataclass(frozen=True)
    class Odd:
        value: complex

    with pytest.raises(TypeError, match="complex"):
        read(Odd, {"value": 1})

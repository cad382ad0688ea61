"""The simulation in docs/statistics.md in small: what is not true is seldom said, and what is certain always is."""

import numpy as np
import pytest

from benchmarks.family_errors import ANY, FLIP, OF_PAIRS, Case, Found, Judged, null_cases, run
from benchmarks.null_studies import Pairwise, alike, certain_in_one, flipping

STUDIES = 40


@pytest.mark.parametrize("case", list(null_cases(20)), ids=lambda case: case.truth)
def test_sentences_without_a_difference_are_rare(case) -> None:
    # Of 40 studies with an error of 5 %, more than seven make the sentence in one of 700 runs; the seed is fixed.
    for _, _, after in run(case, STUDIES).values():
        assert after.n <= 7


def flip_case(design, lean):
    items = design.items()
    return Case("", lambda rng: Judged(design, items, design.judgments(lean, rng)), (FLIP,))


def test_the_least_favourable_flip_was_called_a_change_before() -> None:
    design = Pairwise(30, systems=4)
    [(before, _, after)] = run(flip_case(design, certain_in_one(design)), STUDIES).values()
    assert before.n > STUDIES / 2
    assert after.n <= 7


def test_a_certain_flip_is_always_said() -> None:
    for systems in (2, 4):
        design = Pairwise(10, systems)
        [(_, _, after)] = run(flip_case(design, flipping(design, np.inf)), STUDIES).values()
        assert after.n == STUDIES


def test_a_whole_report_of_chance_says_something_less_often_than_kind_by_kind() -> None:
    design = Pairwise(30, systems=4)
    items = design.items()
    case = Case("", lambda rng: Judged(design, items, design.judgments(alike(design), rng)), OF_PAIRS)
    _, apart, together = run(case, 4 * STUDIES)[ANY]
    assert together.limits[0] <= 0.05
    assert together.n < apart.n


def test_limits_of_clopper_and_pearson() -> None:
    # Clopper and Pearson (1934): no success in 20 has the upper limit 1 - 0.025 ** (1 / 20).
    assert Found(0, 20).limits == pytest.approx((0, 1 - 0.025 ** (1 / 20)))
    assert Found(20, 20).limits == pytest.approx((0.025 ** (1 / 20), 1))
    assert str(Found(5, 100)) == "5.0 (1.6 to 11.3)"

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.conditions.check_majorities import EVEN, yes_majorities
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_values, random_rows


@given(st.integers(0, 10_000))
def test_against_counting(seed):
    rows = random_rows(np.random.default_rng(seed), [0, 1], n_items=9)
    answers = {}
    for item, part, _, value in rows:
        answers.setdefault((item, part), []).append(value)
    majorities = [sum(each) * 2 > len(each) for each in answers.values() if sum(each) * 2 != len(each)]
    found = yes_majorities(make_values(rows), resample=spec())
    assert found.n == len(majorities)
    assert found.n_left_out == len(answers) - len(majorities)
    assert found.value == pytest.approx(np.mean(majorities))


def test_three_raters_always_have_a_majority():
    rows = [(item, 0, rater, int(rater < item)) for item in range(4) for rater in range(3)]
    found = yes_majorities(make_values(rows), resample=spec())
    assert (found.value, found.n, found.left_out) == (0.5, 4, ())
    even = yes_majorities(make_values(rows).where(make_values(rows).rater < 2), resample=spec())
    assert (even.value, [part.reason for part in even.left_out]) == (pytest.approx(2 / 3), [EVEN])

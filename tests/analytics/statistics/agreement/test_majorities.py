import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from analytics.statistics.agreement.majorities import (
    NO_FIRST,
    NO_SECOND,
    NOTHING,
    ONE_LABEL,
    majority_agreement,
)
from analytics.statistics.core.estimates import LeftOut, TidyDataError
from tests.analytics.statistics.build import spec


def compared(one, other):
    one, other = np.array(one), np.array(other)
    return majority_agreement(one, other, np.arange(len(one)), resample=spec())


def test_two_of_three_decide_and_a_tie_can():
    found = compared(
        [[2, 1, 0], [0, 0, 3], [1, 1, 1], [0, 2, 1]],
        [[3, 0, 0], [0, 1, 2], [3, 0, 0], [2, 1, 0]],
    )
    assert found.agreement.value == pytest.approx(2 / 3)
    assert found.agreement.left_out == (LeftOut(NO_FIRST.format(unit="items"), 1),)
    # Chance: first 1/3 * 2/3, second 1/3 * 0, tie 1/3 * 1/3.
    assert found.by_chance == pytest.approx(1 / 3)
    assert found.kappa.value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))


@given(st.integers(0, 10_000))
def test_against_a_loop_over_items(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 4, (2, 40, 3))
    labels = []
    for mine, theirs in zip(one, other, strict=True):
        picked = [
            [label for label in range(3) if 2 * counts[label] > counts.sum()] for counts in (mine, theirs)
        ]
        if all(picked):
            labels.append((picked[0][0], picked[1][0]))
    found = compared(one, other)
    assert found.agreement.n == len(labels)
    if len({label for pair in labels for label in pair}) > 1:
        first, second = zip(*labels, strict=True)
        assert found.agreement.value == pytest.approx(np.mean(np.equal(first, second)))
        assert found.kappa.value == pytest.approx(cohen_kappa_score(first, second))
        assert compared(other, one).kappa.value == pytest.approx(found.kappa.value)


def test_undefined_says_why():
    nothing = compared([[1, 1]], [[2, 0]])
    assert nothing.by_chance is None
    assert nothing.agreement.undefined == nothing.kappa.undefined == NOTHING.format(unit="items")
    assert compared([[2, 0]], [[1, 1]]).kappa.left_out == (LeftOut(NO_SECOND.format(unit="items"), 1),)
    same = compared([[2, 0]] * 3, [[3, 0]] * 3)
    assert (same.agreement.value, same.by_chance, same.kappa.undefined) == (1, 1, ONE_LABEL)
    with pytest.raises(TidyDataError, match="same labels"):
        compared([[1, 1]], [[1, 1, 1]])

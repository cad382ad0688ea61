"""Two groups of raters on the same things: agreement counted pair by pair, and differences query by query."""

from itertools import combinations, product

import numpy as np
import pytest

from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.values import Values
from analytics.statistics.raters.groups import mean_gap, pair_agreement

SPECS = {"resample": ResampleSpec(1, replicates=50), "tests": Randomization(1), "unit": "items"}


def values_of(rows):
    """Rows of (unit, rater, value); each unit is a query of its own."""
    unit, rater, value = (np.array(each) for each in zip(*rows, strict=True))
    nothing = np.zeros(len(unit), dtype=np.int64)
    return Values(
        unit=unit, query=unit, system=nothing, part=nothing, item=unit, rater=rater, value=value.astype(float)
    )


@pytest.fixture
def two_groups():
    rng = np.random.default_rng(3)
    return tuple(
        values_of([
            (unit, first + rater, int(rng.integers(1, 4)))
            for unit in range(12)
            for rater in range(3)
            if rng.random() < 0.8
        ])
        for first in (0, 10)
    )  # fmt: skip


def said(values, unit):
    return values.value[values.unit == unit].tolist()


def mean_of(shares):
    known = [each for each in shares if each]
    return sum(sum(each) / len(each) for each in known) / len(known)


def test_agreement_is_that_of_every_two_raters(two_groups):
    one, other = two_groups
    found = pair_agreement(one, other, **SPECS)
    alone = [[a == b for a, b in combinations(said(one, unit), 2)] for unit in range(12)]
    both = [[a == b for a, b in product(said(one, unit), said(other, unit))] for unit in range(12)]
    assert found.within_first.value == pytest.approx(mean_of(alone))
    assert found.between.value == pytest.approx(mean_of(both))
    turned = pair_agreement(other, one, **SPECS)
    assert turned.within_second.value == found.within_first.value
    assert turned.gap.difference.value == pytest.approx(-found.gap.difference.value)
    assert turned.gap.test.p_value == found.gap.test.p_value


def test_a_difference_is_of_what_both_rated():
    one = values_of([(unit, 0, 3) for unit in range(8)])
    other = values_of([(unit, 1, 2 if unit % 2 else 1) for unit in range(6)])
    found = mean_gap(one, other, **SPECS)
    assert found.difference.value == 1.5
    assert found.difference.n == 6
    # All six differences are on one side: one outcome of the 64 on either.
    assert found.test.p_value == pytest.approx(2 / 64)


def test_of_single_raters_there_is_agreement_between_groups_alone():
    one, other = (values_of([(unit, rater, 1) for unit in range(4)]) for rater in (0, 1))
    found = pair_agreement(one, other, **SPECS)
    assert found.within_first.value is None
    assert found.within_first.undefined
    assert found.between.value == 1

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import DuplicateJudgmentError, LeftOut
from analytics.statistics.core.replicates import ONE_ORDER_ONLY
from analytics.statistics.judges.order_consistency import OrderReadings, order_inconsistency
from tests.analytics.statistics.build import spec

Row = tuple[int, int, int, int, float]
# (item, sample, order, part) once each, with a value.
keys = st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1), st.integers(0, 2))
tables = st.dictionaries(keys, st.integers(0, 1).map(float), min_size=1, max_size=24)


def make(rows: list[Row]) -> OrderReadings:
    item, sample, order, part = (np.array([row[at] for row in rows], dtype=np.int64) for at in range(4))
    return OrderReadings(item, item // 2, sample, order, part, np.array([row[4] for row in rows]))


def test_by_hand() -> None:
    rows = [
        # The same in both orders, but for the last bits of a mean.
        (0, 0, 0, 0, 0.3), (0, 0, 0, 1, 2), (0, 0, 1, 0, 0.1 + 0.2), (0, 0, 1, 1, 2),
        # A second sample of it, in which one of two parts differs.
        (0, 1, 0, 0, 3), (0, 1, 0, 1, 2), (0, 1, 1, 0, 4), (0, 1, 1, 1, 2),
        # A part that only one order has.
        (1, 0, 0, 0, 1), (1, 0, 1, 0, 1), (1, 0, 1, 1, 1),
        # One order alone.
        (2, 0, 1, 0, 1),
    ]  # fmt: skip
    found = order_inconsistency(make(rows), resample=spec())
    assert found.value == pytest.approx(2 / 3)
    assert (found.n, found.unit) == (3, "samples")
    assert found.left_out == (LeftOut(ONE_ORDER_ONLY, 1),)


def test_what_is_undefined_or_twice() -> None:
    assert "both orders" in order_inconsistency(make([(0, 0, 0, 0, 1)]), resample=spec()).undefined
    assert "both orders" in order_inconsistency(make([]), resample=spec()).undefined
    with pytest.raises(DuplicateJudgmentError):
        order_inconsistency(make([(0, 0, 0, 0, 1), (0, 0, 0, 0, 1)]), resample=spec())


@given(tables)
def test_against_a_loop_and_turned_round(table) -> None:
    rows = [(*key, value) for key, value in table.items()]
    found = order_inconsistency(make(rows), resample=spec(0))
    samples: dict = {}
    for (item, sample, order, part), value in table.items():
        samples.setdefault((item, sample), ({}, {}))[order][part] = value
    whole = [pair for pair in samples.values() if pair[0] and pair[1]]
    assert found.n + found.n_left_out == len(samples)
    if whole:
        assert found.value == pytest.approx(sum(one != other for one, other in whole) / len(whole))
    turned = [(item, sample, 1 - order, part, value) for item, sample, order, part, value in reversed(rows)]
    assert order_inconsistency(make(turned), resample=spec(0)).value == found.value

"""The share of ties among labels, counted one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.tidy import FIRST, MISSING, SECOND, TIE
from analytics.statistics.preferences.tie_rates import tie_rate
from tests.analytics.statistics.build import spec

rows = st.lists(
    st.tuples(st.sampled_from([FIRST, SECOND, TIE, MISSING]), st.integers(0, 5)), min_size=1, max_size=40
)


def rate_of(rows):
    label, query = (np.array(column) for column in zip(*rows, strict=True))
    return tie_rate(label, query, resample=spec())


@given(rows, st.randoms())
def test_ties_counted_one_by_one(rows, random):
    """The slow twin; the order of the rows, and which side a preference is for, are of no account."""
    found, ties, labels = rate_of(rows), 0, 0
    for label, _ in rows:
        if label != MISSING:
            labels += 1
            ties += label == TIE
    assert (found.n, found.n_left_out) == (labels, len(rows) - labels)
    if not labels:
        assert (found.value, found.undefined) == (None, "No judgment has a label.")
        return
    assert found.value == pytest.approx(ties / labels)
    if found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1
    turned = [({FIRST: SECOND, SECOND: FIRST}.get(label, label), query) for label, query in rows]
    for other in (random.sample(rows, len(rows)), turned):
        again = rate_of(other)
        assert (again.value, again.low, again.high) == pytest.approx((found.value, found.low, found.high))

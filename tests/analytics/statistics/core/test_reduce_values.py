"""Several readings of one thing by one rater as one answer."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.reduce_values import RULES, reduce_values

readings = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([1.0, 2.0, 2.5, 5.0])), max_size=40
)


def reduced(rows, rule):
    rater, unit = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 1))
    return reduce_values(rater, unit, np.array([row[2] for row in rows], dtype=float), rule)


def slow(values, rule):
    if rule == "mean":
        return sum(values) / len(values)
    (most, times), *others = Counter(values).most_common()
    return np.nan if others and others[0][1] == times else most


def test_by_hand():
    rows = [(0, 1, 2.0), (0, 0, 1.0), (0, 1, 5.0), (0, 1, 5.0), (1, 0, 1.0), (1, 0, 2.0)]
    mean, majority = (reduced(rows, rule) for rule in RULES)
    assert mean.value.tolist() == [1, 4, 1.5]
    assert (mean.row.tolist(), mean.n.tolist()) == ([1, 0, 4], [1, 3, 2])
    assert majority.value[:2].tolist() == [1, 5]
    assert np.isnan(majority.value[2])


@given(readings, st.sampled_from(RULES), st.randoms())
def test_one_rater_and_unit_at_a_time(rows, rule, random):
    """The slow twin; the readings' order is of no account to the values."""
    found = reduced(rows, rule)
    pairs = sorted({row[:2] for row in rows})
    given_by = [[value for rater, unit, value in rows if (rater, unit) == pair] for pair in pairs]
    assert found.value.tolist() == pytest.approx([slow(each, rule) for each in given_by], nan_ok=True)
    assert found.n.tolist() == [len(each) for each in given_by]
    firsts = [next(at for at, row in enumerate(rows) if row[:2] == pair) for pair in pairs]
    assert found.row.tolist() == firsts
    mixed = reduced(random.sample(rows, len(rows)), rule)
    assert mixed.value.tolist() == pytest.approx(found.value.tolist(), nan_ok=True)


def test_another_rule_is_refused():
    with pytest.raises(ParameterError, match="mean, majority"):
        reduced([(0, 0, 1.0)], "median")

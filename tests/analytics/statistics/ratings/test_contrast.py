import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.randomization import Randomization, sign_flip, two_sample
from analytics.statistics.ratings.contrast import CodedSide, contrast
from tests.analytics.statistics.build import spec

TESTS = Randomization(5)


def side(rows):
    """From (query, value); the cell is the query."""
    query, value = (np.array([row[k] for row in rows]) for k in range(2))
    return CodedSide(value.astype(float), query, query)


def contrasted(one, other):
    return contrast(side(one), side(other), resample=spec(), tests=TESTS, unit="queries")


def slow(one, other):
    """(share, share, p-value) by dictionaries of queries."""
    means = [
        {
            query: np.mean([value for of, value in rows if of == query])
            for query in sorted({query for query, _ in rows})
        }
        for rows in (one, other)
    ]
    shared = sorted(means[0].keys() & means[1].keys())
    if 2 * len(shared) >= min(map(len, means)):
        values = [np.array([of[query] for query in shared]) for of in means]
        test = sign_flip(values[1] - values[0], np.array(shared), TESTS).two_sided
    else:
        values = [np.array(list(of.values())) for of in means]
        test = two_sample(*values, TESTS)
    return values[0].mean(), values[1].mean(), test


rows = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 1)), min_size=1, max_size=30)


@given(rows, rows)
def test_against_the_obvious(one, other):
    found = contrasted(one, other)
    first, second, test = slow(one, other)
    assert (found.first.value, found.second.value) == pytest.approx((first, second))
    assert found.difference.value == pytest.approx(second - first)
    assert (found.test.p_value, found.test.n) == pytest.approx((test.p_value, test.n))


def test_sides_that_share_their_queries_are_paired():
    one = [(query, 1) for query in range(12)] + [(99, 0)]
    other = [(query, int(query == 0)) for query in range(12)]
    found = contrasted(one, other)
    assert found.paired
    assert (found.first.value, found.first.n) == (1, 12)
    assert found.difference.value == pytest.approx(-11 / 12)
    assert found.test.p_value == pytest.approx(2 * 2**-11)
    assert found.difference.low < -11 / 12 < found.difference.high


def test_sides_on_other_queries_are_two_samples():
    found = contrasted([(query, 1) for query in range(10)], [(query, 0) for query in range(10, 20)])
    assert not found.paired
    assert found.first.n == 20
    assert found.difference.value == -1
    assert found.test.p_value == pytest.approx(2 / 184_756)


def test_a_query_counts_once_however_many_texts_it_has():
    one = [(0, 1)] * 9 + [(1, 0), (2, 0)]
    assert contrasted(one, [(0, 0), (1, 0), (2, 0)]).first.value == pytest.approx(1 / 3)


def test_a_side_without_texts_and_columns_of_other_lengths():
    nothing = CodedSide(np.zeros(0), np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    assert contrast(nothing, side([(0, 1)]), resample=spec(), tests=TESTS, unit="queries") is None
    with pytest.raises(TidyDataError):
        CodedSide(np.zeros(2), np.zeros(1, dtype=int), np.zeros(2, dtype=int))

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.bins import binned, in_bins
from analytics.statistics.core.estimates import TidyDataError


def test_bins_by_hand() -> None:
    found = binned(np.array([-3.0, 0, 1, 9, 10, 19, 24]), least=1, most=3)
    # From -2.7 to 23.7 in three bins makes ten apiece.
    assert found.edges == (-10, 0, 10, 20, 30)
    assert found.counts == (1, 3, 2, 1)


def test_the_outermost_bins_have_all_beyond() -> None:
    values = np.concatenate([np.full(500, 1.0), np.full(500, 9.0), [-1e6, 1e6]])
    found = binned(values, least=1, most=8)
    assert found.edges[0] == 1
    assert found.edges[-1] == 10
    assert (found.counts[0], found.counts[-1]) == (501, 501)


def test_one_value_has_one_bin() -> None:
    assert binned(np.array([7.0, 7.0]), least=1).counts == (2,)
    assert binned(np.array([0.3, 0.3])).edges == (0, 1)
    with pytest.raises(TidyDataError, match="needs a value"):
        binned(np.zeros(0), least=1)


def test_the_same_bins_for_other_values() -> None:
    assert in_bins(np.array([-1.0, 0.5, 1, 2, 7]), (0, 1, 2)).counts == (2, 3)


def test_whole_numbers_have_bins_of_whole_numbers() -> None:
    found = binned(np.tile([0.0, 1, 2, 3], 50), least=1)
    assert (found.edges, found.counts) == ((0, 1, 2, 3, 4), (50, 50, 50, 50))


def test_an_edge_is_the_number_that_is_written() -> None:
    found = binned(np.array([0.0, 0.3, 0.7, 1.0]), least=0.1, most=10)
    assert found.edges[:4] == (0, 0.1, 0.2, 0.3)
    assert found.counts[3] == 1


@given(st.lists(st.integers(-5_000, 5_000), min_size=1, max_size=60), st.integers(2, 40))
def test_every_value_lies_in_its_bin(values, most) -> None:
    found = binned(np.array(values, dtype=np.float64), least=1, most=most)
    assert sum(found.counts) == len(values)
    assert len(found.counts) <= most + 1
    width = found.edges[1] - found.edges[0]
    assert f"{width:e}"[0] in "125"
    assert width >= 1
    inner = list(zip(found.edges[1:-2], found.edges[2:-1], found.counts[1:-1], strict=True))
    for low, high, n in inner:
        assert n == sum(low <= value < high for value in values)

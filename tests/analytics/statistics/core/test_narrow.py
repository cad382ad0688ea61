"""Sums of tables with many rows and few columns."""

import numpy as np
import pytest

from analytics.statistics.core.narrow import NARROW, column_sums, row_sums


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (1, 1), (400, 2), (7, NARROW), (7, NARROW + 1)])
def test_they_are_the_sums_that_numpy_gives(shape) -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(-5, 9, shape).astype(np.int32)
    np.testing.assert_array_equal(row_sums(table), table.sum(axis=1))
    np.testing.assert_array_equal(column_sums(table), table.sum(axis=0))
    numbers = rng.normal(size=shape)
    np.testing.assert_allclose(column_sums(numbers), numbers.sum(axis=0), rtol=0, atol=1e-12)
    # However the table lies in memory.
    np.testing.assert_allclose(
        column_sums(np.asfortranarray(numbers)), numbers.sum(axis=0), rtol=0, atol=1e-12
    )


def test_small_whole_numbers_do_not_overflow() -> None:
    assert row_sums(np.full((1, 4), 100, dtype=np.int8)).tolist() == [400]

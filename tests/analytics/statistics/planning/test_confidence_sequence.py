"""Confidence sequences: against a slow twin, properties, and their coverage over all looks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.planning.confidence_sequence import CHUNK, STEPS, confidence_sequence

VALUES = st.lists(st.sampled_from([0, 0.25, 1 / 3, 0.5, 1]), min_size=1, max_size=60)


def twin(values: list[float], alpha: float) -> list[tuple[float, float]]:
    """Value by value and mean by mean, as the paper's equations 24 to 27 have it."""
    grid = [step / STEPS for step in range(STEPS + 1)]
    capital = {m: [1.0, 1.0] for m in grid}
    alive = set(grid)
    total, squares, variance, found = 0.0, 0.0, 0.25, []
    for t, value in enumerate(values, start=1):
        size = math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(1 + t)))
        for m in grid:
            capital[m][0] *= 1 + min(size, 0.5 / m if m else math.inf) * (value - m)
            capital[m][1] *= 1 - min(size, 0.5 / (1 - m) if m < 1 else math.inf) * (value - m)
            if max(capital[m]) / 2 >= 1 / alpha:
                alive.discard(m)
        total += value
        squares += (value - (0.5 + total) / (t + 1)) ** 2
        variance = (0.25 + squares) / (t + 1)
        found.append((max(min(alive) - 1 / STEPS, 0), min(max(alive) + 1 / STEPS, 1)))
    return found


@given(VALUES, st.sampled_from([0.05, 0.2]))
def test_a_slow_twin(values: list[float], alpha: float) -> None:
    found = confidence_sequence(np.array(values, float), level=1 - alpha)
    slow = np.array(twin(values, alpha))
    # A mean whose wealth is the limit itself is ruled out or not by its last bit: one step of the grid.
    assert np.abs(found.low - slow[:, 0]).max() <= 1.001 / STEPS
    assert np.abs(found.high - slow[:, 1]).max() <= 1.001 / STEPS


@given(VALUES)
def test_intervals_lie_in_one_another_and_mirror(values: list[float]) -> None:
    array = np.array(values, float)
    found, mirrored = confidence_sequence(array), confidence_sequence(1 - array)
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) <= 0).all()
    assert np.abs(1 - mirrored.high - found.low).max() <= 1.001 / STEPS
    assert found.mean[-1] == pytest.approx(np.mean(values))


@given(VALUES, st.integers(1, 59))
def test_what_comes_later_changes_no_earlier_look(values: list[float], at: int) -> None:
    whole, part = (
        confidence_sequence(np.array(values, float)),
        confidence_sequence(np.array(values[:at], float)),
    )
    assert (whole.low[:at] == part.low).all()
    assert (whole.high[:at] == part.high).all()


def test_chunks_go_on_where_the_one_before_ended() -> None:
    values = np.random.default_rng(2).choice([0, 0.5, 1], 2 * CHUNK + 7, p=[0.2, 0.2, 0.6])
    found = confidence_sequence(values)
    # A thousand values whose standard deviation is .4: some .03 either side, and about .9 times as far without looks.
    assert found.low[-1] < 0.7 < found.high[-1]
    assert 0.04 < found.width[-1] < 0.12
    assert (np.diff(found.width) <= 0).all()


def test_all_looks_at_once_hold_the_mean() -> None:
    """Of 400 studies of 200 queries, at most one of twenty may ever have lost it."""
    rng, lost = np.random.default_rng(1), 0
    for _ in range(400):
        found = confidence_sequence(rng.choice([0, 1 / 3, 2 / 3, 1], 200, p=[0.1, 0.2, 0.3, 0.4]))
        lost += bool(((found.low > 2 / 3) | (found.high < 2 / 3)).any())
    assert lost / 400 <= 0.05


@pytest.mark.parametrize("values", [[0.5, 1.2], [-0.1], [np.nan]])
def test_values_outside_are_refused(values: list[float]) -> None:
    with pytest.raises(TidyDataError, match="between 0 and 1"):
        confidence_sequence(np.array(values))


def test_a_level_of_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="level"):
        confidence_sequence(np.array([0.5]), level=1)


def test_no_values_have_no_looks() -> None:
    assert len(confidence_sequence(np.zeros(0))) == 0

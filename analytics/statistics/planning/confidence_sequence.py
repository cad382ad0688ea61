"""Confidence sequences: intervals for a mean that hold at every look at once, so that looking and stopping is free.

Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", section 4.2: the
hedged capital process with its predictable plug-in bets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.tidy import Floats

# A mean is ruled out on a grid of this many steps, and an interval reaches one step beyond what is left of it.
STEPS = 1_000
# No bet risks more than this part of what could be lost.
RISKED = 0.5
# Values that are bet on at once: what they take of memory is this many times the grid.
CHUNK = 512


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """Intervals for the mean after 1, 2, ..., n values, each inside the one before: `low` and `high` (n,).

    With a chance of at least `level` all of them hold the mean, however many values are waited for and why ever one
    stops. `mean` (n,) is the mean of the values so far.
    """

    mean: Floats
    low: Floats
    high: Floats
    level: float

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def width(self) -> Floats:
        """The intervals' widths (n,), which never grow."""
        return self.high - self.low


def confidence_sequence(values: Floats, *, level: float = 0.95) -> ConfidenceSequence:
    """The confidence sequence of the mean of `values` (n,), each between 0 and 1, in the order of their coming.

    Against every mean m on a grid two gamblers bet that the values lie higher or lower; m is ruled out once half of
    either one's capital has grown to 1 / (1 - level). Bets depend on earlier values alone. The interval spans the means
    that were never ruled out, and a step of the grid (0.001) on either side. Raises TidyDataError for values outside
    0 to 1, and ParameterError for a level that is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ParameterError("The level of a confidence sequence lies between 0 and 1.")
    if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()):
        raise TidyDataError("A confidence sequence is of values between 0 and 1.")
    n = len(values)
    grid = np.linspace(0, 1, STEPS + 1)
    bets = _bets(values, 1 - level)
    low, high = np.zeros(n), np.ones(n)
    up, down, peak = np.zeros_like(grid), np.zeros_like(grid), np.full_like(grid, -np.inf)
    before = 0, STEPS
    for start in range(0, n, CHUNK):
        part = slice(start, start + CHUNK)
        above, below = _log_growth(values[part], bets[part], grid)
        above, below = up + np.cumsum(above, axis=0), down + np.cumsum(below, axis=0)
        up, down = above[-1], below[-1]
        # The gamblers' wealth, each of whom began with one half; a mean that was once ruled out stays so.
        wealth = np.maximum(np.maximum.accumulate(np.maximum(above, below) - math.log(2), axis=0), peak)
        peak = wealth[-1]
        first, last = _ends(wealth < -math.log(1 - level), before)
        before = int(first[-1]), int(last[-1])
        low[part], high[part] = grid[np.maximum(first - 1, 0)], grid[np.minimum(last + 1, STEPS)]
    return ConfidenceSequence(np.cumsum(values) / np.arange(1, n + 1), low, high, level)


def _bets(values: Floats, alpha: float) -> Floats:
    """The size of each bet (n,), from the mean and variance of the values before it."""
    at = np.arange(1, len(values) + 1)
    mean = (0.5 + np.cumsum(values)) / (at + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2)) / (at + 1)
    known = np.concatenate([[0.25], variance[:-1]]) if len(values) else variance
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (known * at * np.log1p(at))), dtype=np.float64)


def _log_growth(values: Floats, bets: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """The growth of what is bet on higher and on lower values, by value and mean: two of (t, STEPS + 1)."""
    gain = values[:, None] - grid
    with np.errstate(divide="ignore"):
        higher = np.minimum(bets[:, None], RISKED / grid)
        lower = np.minimum(bets[:, None], RISKED / (1 - grid))
    return np.log1p(higher * gain), np.log1p(-lower * gain)


def _ends(
    kept: np.typing.NDArray[np.bool_], before: tuple[int, int]
) -> tuple[np.typing.NDArray[np.int64], ...]:
    """The first and last mean that is kept, by look; where none is, those of the look before."""
    first, last = kept.argmax(axis=1), kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)
    empty = ~kept.any(axis=1)
    if empty.any():
        at = int(empty.argmax())
        first[at:], last[at:] = (first[at - 1], last[at - 1]) if at else before
    return first, last

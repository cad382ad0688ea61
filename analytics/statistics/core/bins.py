"""Bins of equal width for a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import Floats

MOST_BINS = 30
# Nearly all values lie between these quantiles; a few far ones would leave no room for the others.
ENDS = (0.01, 0.99)
STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Bins:
    """`counts` (k,) of the values from each of `edges` (k + 1,) up to, but not including, the next.

    The outermost bins include all values beyond them.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]


def binned(values: Floats, *, least: float = 0.0, most: int = MOST_BINS) -> Bins:
    """Values (n,) in at most `most` + 1 bins, no narrower than `least`, which is 1 for whole numbers.

    Their width is 1, 2 or 5 times a power of ten, and their edges are multiples of it, from the 1st to the 99th
    percentile. Raises TidyDataError without a value.
    """
    if not len(values):
        raise TidyDataError("A histogram needs a value.")
    low, high = np.quantile(values, ENDS)
    # Values that are all the same leave the width open.
    width = max(_width(float(high - low) / most), least) or 1.0
    first, last = np.floor(low / width), np.floor(high / width)
    # Quotients of a power of ten keep their last digits where products do not.
    multiples = np.arange(first, last + 2)
    edges = multiples * width if width >= 1 else multiples / round(1 / width)
    return in_bins(values, edges.tolist())


def in_bins(values: Floats, edges: Sequence[float]) -> Bins:
    """Values (n,) in the bins between ascending `edges`, the outermost with all beyond."""
    # numpy's last bin has its upper edge.
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return Bins(tuple(edges), tuple(counts.tolist()))


def _width(rough: float) -> float:
    """The smallest such width that is not below the rough one; 0 for nothing."""
    if rough <= 0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(rough))
    return float(next(step * power for step in STEPS if step * power >= rough * (1 - 1e-12)))

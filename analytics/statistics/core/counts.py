"""Count matrices: how often each label was given to each item, and their collapse to distinct rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import MISSING, Ints

RADIX_LIMIT = 2**62


class Collapsed(NamedTuple):
    """Distinct rows: `patterns` (p, d), how often each occurs `weights` (p,), and `inverse` (n,)."""

    patterns: npt.NDArray[Any]
    weights: npt.NDArray[np.int64]
    inverse: npt.NDArray[np.int64]


def count_matrix(item: Ints, label: Ints, n_items: int, n_labels: int) -> npt.NDArray[np.int32]:
    """Judgments per item and label, shape (n_items, n_labels); a negative label is a missing one.

    Raises TidyDataError where an item or a label is out of range.
    """
    item, label = np.asarray(item), np.asarray(label)
    if item.shape != label.shape or item.ndim != 1:
        raise TidyDataError("Items and labels must be two columns of the same length.")
    given = label >= 0
    if not given.all():
        item, label = item[given], label[given]
    if len(item) and (item.min() < 0 or item.max() >= n_items or label.max() >= n_labels):
        raise TidyDataError("A judgment refers to an item or a label that does not exist.")
    flat = np.bincount(item.astype(np.int64) * n_labels + label, minlength=n_items * n_labels)
    return flat.reshape(n_items, n_labels).astype(np.int32)


def unique_mode(counts: Ints) -> Ints:
    """One label per row of counts (n, k): its most common label, MISSING where several are or there is none."""
    top = counts.max(axis=1, initial=0)
    unique = ((counts == top[:, None]).sum(axis=1) == 1) & (top > 0)
    return np.where(unique, counts.argmax(axis=1), MISSING).astype(np.int64)


def collapse(rows: npt.NDArray[Any]) -> Collapsed:
    """The distinct rows of an (n, d) array of finite numbers, in ascending order.

    Columns are coded one after the other by hashing, which takes a fraction of the time of sorting rows. The order of
    the patterns, and so every seeded resample of them, is that of the values and not that in which the rows arrived.
    Raises TidyDataError where a number is undefined.
    """
    import pandas as pd

    n, width = rows.shape
    codes, n_codes = np.zeros(n, dtype=np.int64), 1
    for column in range(width):
        column_codes, values = pd.factorize(rows[:, column])
        if n and column_codes.min() < 0:
            raise TidyDataError("Rows to be collapsed must not hold undefined numbers.")
        if n_codes * max(len(values), 1) > RADIX_LIMIT:
            codes, n_codes = _recode(codes)
        codes = codes * max(len(values), 1) + column_codes
        n_codes *= max(len(values), 1)
    codes, n_codes = _recode(codes)
    some_row = np.empty(n_codes, dtype=np.int64)
    some_row[codes] = np.arange(n)  # rows of one code are equal, so any of them will do
    patterns = rows[some_row]
    order = np.lexsort(patterns.T[::-1]) if width else np.arange(n_codes)
    rank = np.empty(n_codes, dtype=np.int64)
    rank[order] = np.arange(n_codes)
    inverse = rank[codes]
    return Collapsed(patterns[order], np.bincount(inverse, minlength=n_codes), inverse)


def _recode(codes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """The same grouping with codes from 0 to the number of groups less one."""
    import pandas as pd

    dense, used = pd.factorize(codes)
    return dense.astype(np.int64, copy=False), len(used)

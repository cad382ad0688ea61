"""The items of pairs in one setting, from the side of the system that stands against the baseline."""

import numpy as np

from analytics.statistics.core.tidy import Bools, Ints, Items

# Without a baseline every two systems are a pair: of more of them nothing is computed pair by pair.
MOST_PAIRS = 15


def rows_of_pairs(items: Items, arm: int, baseline: str) -> tuple[Ints, Bools]:
    """The rows (m,) of an arm's items with two systems, and for which of them the second system comes first (m,).

    With a baseline among the systems only its items, each from the other's side; without one all, as they stand.
    """
    rows = np.flatnonzero((items.arm == arm) & (items.system_1 != items.system_2))
    if baseline not in items.systems:
        return rows, np.zeros(len(rows), dtype=bool)
    base = items.systems.index(baseline)
    rows = rows[(items.system_1[rows] == base) | (items.system_2[rows] == base)]
    return rows, np.asarray(items.system_1[rows] == base)

"""Rankings as answers about every two responses: which of them a rater put above the other."""

from __future__ import annotations

import numpy as np

from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import NO_SYSTEM, Values
from analytics.statistics.rankings.ranks import Ranks


def order_values(ranks: Ranks, n_responses: int) -> Values:
    """One row per ranking and pair of its responses: the value is -1 where the first of the two, by canonical order,
    has the better place, 1 where the second has, and 0 where they share one.

    A unit is an item's pair of responses, numbered alike in every group of raters where `n_responses`, the largest
    number of responses that an item of the study has, is the same.
    """
    at = np.lexsort((ranks.response, ranks.judgment))
    size = ranks.size[at]
    first: list[Ints] = [np.zeros(0, dtype=np.int64)]
    second: list[Ints] = [np.zeros(0, dtype=np.int64)]
    for k in np.unique(size[size > 1]).tolist():
        rows = at[size == k].reshape(-1, k)
        one, other = np.triu_indices(k, k=1)
        first.append(rows[:, one].ravel())
        second.append(rows[:, other].ravel())
    above, below = np.concatenate(first), np.concatenate(second)
    pair = ranks.response[above].astype(np.int64) * n_responses + ranks.response[below]
    order: Floats = np.sign(ranks.rank[above] - ranks.rank[below])
    return Values(
        unit=ranks.item[above].astype(np.int64) * n_responses**2 + pair,
        query=ranks.query[above],
        system=np.full(len(above), NO_SYSTEM),
        part=pair,
        item=ranks.item[above],
        rater=ranks.rater[above],
        value=order,
    )

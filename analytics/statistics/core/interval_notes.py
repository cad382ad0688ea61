"""Notes on intervals that hold the truth less often than they say: few queries, and mostly one label or value.

Whether raters agree beyond chance, or put things in the same order, is told by the queries on which not everybody gives
the most common answer. Of few such queries the standard error is not known, whatever the number of the others. The
numbers here were found by simulation: see "Uneven labels" in docs/statistics.md.
"""

from __future__ import annotations

from dataclasses import replace

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Ints

# If other answers were gathered in queries of their own, so many queries of them are needed.
LEAST_OTHERS = 5
# The same of figures that weigh by distance, as most answers are one and the same: a few far ones decide there.
MOSTLY, LEAST_FAR_OTHERS = 0.5, 50
# A share below, or its complement, is rare; where items of a query are alike, it may be that of a few queries only.
RARE = 0.02
NOTE = (
    "Nearly all answers are alike: such intervals cover the true value less often than stated, because few queries "
    "tell raters apart."
)


def noted(figure: Estimate, totals: Ints, queries: int, *, distances: bool = False) -> Estimate:
    """The figure with a note on its interval, where it has one and needs it.

    `totals` (k,) is how often each label or value was given on so many queries; `distances` says that the figure weighs
    how far values lie apart.
    """
    if figure.low is None or not is_uneven(totals, queries, distances=distances):
        return figure
    return replace(figure, note=NOTE)


def note_of_share(share: float, n: int, queries: int) -> str:
    """The note of a share of `n` things on so many queries, empty for most.

    It needs one where it is rare, several things belong to a query, and all that are rare would fit into fewer than
    `LEAST_OTHERS` queries.
    """
    others = min(share, 1 - share)
    return NOTE if others < RARE and n > queries and queries * others < LEAST_OTHERS - 1e-9 else ""


def is_uneven(totals: Ints, queries: int, *, distances: bool = False) -> bool:
    """True if too few answers are others than the most common one."""
    most = float(totals.max(initial=0)) / max(float(totals.sum()), 1.0)
    far = distances and most >= MOSTLY
    # Where shares have no exact binary form, 5 queries may come out a bit below.
    return queries * (1 - most) < (LEAST_FAR_OTHERS if far else LEAST_OTHERS) - 1e-9

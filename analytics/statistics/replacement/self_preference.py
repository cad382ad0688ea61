"""Self-preference: how much more a judge favours responses of its own model than people do, on the same items.

Favouring by itself is no bias, as its own responses may be the better ones: people's judgments of the same items are
what it is held against (as in Wataoka, Takahashi and Ri 2024, who compare at what people prefer; here the difference is
of means, in the units of the scores).
"""

from __future__ import annotations

import numpy as np

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.resampling import divide, sum_by
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.replacement.difference import SharedScores


def own_contrasts(scores: SharedScores, own: Bools) -> tuple[Floats, Floats, Ints]:
    """People's and the judge's mean score of own responses less that of others, by query: arrays (q,) and the queries.

    `own` (u,) is true of the units of the judge's own systems. Only units that both scored count, so that a judge that
    is lenient towards all is not taken to favour its own; nan where a query lacks either kind of them. Raises
    TidyDataError where the shapes differ.
    """
    if own.shape != scores.query.shape:
        raise TidyDataError("Each unit is either of the judge's own systems or of another.")
    used = np.isfinite(scores.people) & np.isfinite(scores.judge)
    queries, code = np.unique(scores.query, return_inverse=True)
    found = []
    for each in (scores.people, scores.judge):
        means = []
        for rows in (used & own, used & ~own):
            n = np.bincount(code[rows], minlength=len(queries)).astype(np.float64)
            means.append(divide(sum_by(code[rows], each[rows], len(queries)), n))
        found.append(means[0] - means[1])
    return found[0], found[1], queries


def own_scores(first: Floats, own_first: Bools, own_second: Bools) -> Floats:
    """The score (n,) of the one response of an item that is the judge's own, from that of the first (n,), of 0 to 1.

    nan where none of the two, or both, are its own.
    """
    alone = own_first != own_second
    return np.where(alone, np.where(own_first, first, 1 - first), np.nan)

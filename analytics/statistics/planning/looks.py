"""A figure that is looked at while judgments come in: queries enter once complete, in an order fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.percentage import item_agreement
from analytics.statistics.core.estimates import Estimate, LeftOut, undefined
from analytics.statistics.core.tidy import FIRST, TIE, Bools, Floats, Ints
from analytics.statistics.planning.confidence_sequence import ConfidenceSequence, confidence_sequence

METHOD = "confidence sequence by betting"
NOT_YET = "No query has entered yet: the first in the order is not complete."


@dataclass(frozen=True, eq=False)
class Looks:
    """The looks at one pair. `estimate` is of the latest, `entered` of `queries` have entered, `complete` could.

    `met_at` is the number of queries with which the rule was first met, None while it is not; `sequence` holds all
    looks, None before the first.
    """

    estimate: Estimate
    entered: int
    complete: int
    queries: int
    met_at: int | None
    sequence: ConfidenceSequence | None


def query_values(counts: Ints, query: Ints, n: int, figure: str) -> Floats:
    """The value of each of `n` queries: the mean over its items (m,) of the first system's win rate or the agreement.

    counts (m, 3) are of first, second and tie; nan where a query has no item of which it is defined.
    """
    if figure == "agreement":
        shares = item_agreement(counts)
    else:
        total = counts.sum(axis=1)
        shares = np.full(len(counts), np.nan)
        np.divide(counts[:, FIRST] + counts[:, TIE] / 2, total, out=shares, where=total > 0)
    known = np.isfinite(shares)
    sums = np.bincount(query[known], weights=shares[known], minlength=n)
    times = np.bincount(query[known], minlength=n)
    found = np.full(n, np.nan)
    np.divide(sums, times, out=found, where=times > 0)
    return found


def complete_queries(counts: Ints, query: Ints, n: int, redundancy: int) -> Bools:
    """True for each of `n` queries that has items, all of which have at least `redundancy` judgments."""
    short = np.bincount(query[counts.sum(axis=1) < redundancy], minlength=n)
    return np.asarray((np.bincount(query, minlength=n) > 0) & (short == 0))


def looks_at(
    values: Floats, complete: Bools, order: Ints, *, half_width: float | None, level: float
) -> Looks:
    """The looks at a pair's queries: `values` and `complete` (n,) by query, `order` the queries in their order (m,).

    Queries enter up to the first that is not complete, however many after it are: else those that are quickly judged
    would come first. The rule is met where the interval reaches at most `half_width` to either side or, without one,
    leaves out one half.
    """
    # A query whose figure is undefined, such as the agreement of one judgment, does not enter.
    ready = complete[order] & np.isfinite(values[order])
    waiting = np.flatnonzero(~ready)
    entered = int(waiting[0]) if len(waiting) else len(order)
    if not entered:
        return Looks(
            undefined(NOT_YET, unit="queries", level=level), 0, int(ready.sum()), len(order), None, None
        )
    found = confidence_sequence(values[order[:entered]], level=level)
    low, high = found.low, found.high
    met = np.flatnonzero((low > 0.5) | (high < 0.5) if half_width is None else (high - low) / 2 <= half_width)
    later = (LeftOut("queries that have not entered", len(order) - entered),) if entered < len(order) else ()
    estimate = Estimate(
        float(found.mean[-1]), float(low[-1]), float(high[-1]), entered, "queries", level, METHOD, later
    )
    return Looks(
        estimate, entered, int(ready.sum()), len(order), int(met[0]) + 1 if len(met) else None, found
    )

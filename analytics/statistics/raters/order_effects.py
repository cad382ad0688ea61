"""Order effects: what raters answer in the first, the second and the last third of their own work.

The unit is the query, as everywhere. Raters share the items: where several of them see these in one order, the items of
the last third are others than those of the first, and an interval over raters would take that for an effect of order;
over queries it is part of the error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.jackknife import leave_out
from analytics.statistics.core.narrow import row_sums
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import (
    Range,
    ResampleSpec,
    divide,
    estimates_from,
    mean_within,
    sum_by,
)
from analytics.statistics.core.tidy import Floats, Ints, split
from analytics.statistics.raters.times import SHORT, THIRDS

UNKNOWN_THIRD = -1
NO_ORDER = "answers without a recorded order of their rater's work"
SHORT_WORK = "answers of raters with fewer than three"
EMPTY = "There is no such answer in this third."


@dataclass(frozen=True)
class OrderEffect:
    """The mean in each third of raters' work, and the last one's less the first one's.

    `test` is of no difference; None where one of the two thirds has no judgment.
    """

    thirds: tuple[Estimate, ...]
    difference: Estimate
    test: Tested | None


def without_order(third: Ints) -> tuple[LeftOut, ...]:
    """The answers, by their third (n,), that have no place in a third, with the reasons."""
    return present(
        {
            NO_ORDER: int(np.count_nonzero(third == UNKNOWN_THIRD)),
            SHORT_WORK: int(np.count_nonzero(third == SHORT)),
        }
    )


def order_effect(
    values: Floats,
    third: Ints,
    query: Ints,
    *,
    within: Range,
    unit: str,
    resample: ResampleSpec,
    tests: Randomization,
) -> OrderEffect:
    """Means of values (n,) by the third (n,) of its rater's work in which each was given, negative for none.

    Values lie `within` a range, and are nan where there is none; query (n,). The difference of the last third from the
    first is that of their means; its interval is over queries. Its test flips the signs of queries: under the
    hypothesis a query's answers could as well have been given at the other end of the work. Raises TidyDataError where
    the shapes differ.
    """
    if not values.shape == third.shape == query.shape:
        raise TidyDataError("Order effects need a third of the work and a query for each value.")
    used = np.isfinite(values) & (third >= 0)
    value, at, of = values[used], third[used], query[used]
    rows = split(at, THIRDS)
    thirds = tuple(
        mean_within(value[each], of[each], within, unit=unit, resample=resample, empty=EMPTY) for each in rows
    )
    first, *_, last = rows
    queries = int(of.max(initial=-1)) + 1
    columns = [
        sums
        for each in (last, first)
        for sums in (sum_by(of[each], value[each], queries), _count(of[each], queries))
    ]
    (difference,) = estimates_from(
        leave_out(np.stack(columns)[:, _count(of, queries) > 0].T, _last_less_first),
        n=len(first) + len(last),
        unit=unit,
        level=resample.level,
        empty=EMPTY,
        scales=["plain"],
    )
    if not (len(first) and len(last)):
        return OrderEffect(thirds, difference, None)
    ends = np.sort(np.concatenate([first, last]))
    # What a query adds to the difference, around the mean of both, so that an uneven number of answers adds nothing.
    share = np.where(at[ends] == 0, -1 / len(first), 1 / len(last))
    part = (value[ends] - value[ends].mean()) * share
    return OrderEffect(thirds, difference, sign_flip(part * len(ends), of[ends], tests).two_sided)


def _count(query: Ints, n: int) -> Floats:
    return np.bincount(query, minlength=n).astype(np.float64)


def share_of_others(counts: Ints, unit: Ints, label: Ints) -> Floats:
    """The share (n,) of the others who gave the same `label` (n,) to a `unit` (n,), a row of `counts` (u, k) of all.

    nan where nobody else has labelled it, and of a negative label.
    """
    known = label >= 0
    found = np.full(len(label), np.nan)
    same = counts[unit[known], label[known]].astype(np.float64) - 1
    found[known] = divide(same, row_sums(counts)[unit[known]].astype(np.float64) - 1)
    return found


def _last_less_first(sums: Floats) -> Floats:
    return divide(sums[:, :1], sums[:, 1:2]) - divide(sums[:, 2:3], sums[:, 3:])

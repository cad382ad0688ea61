"""Several readings of one item by one rater, reduced to one judgment by a named rule; and flips between orders.

A replicate is one reading: an order of the responses, and a sample. The two orders of one sample belong together.
Everything takes tidy columns of one entry per reading and works on all raters and items at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError, present
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate
from analytics.statistics.core.tidy import (
    BOTH_BAD,
    FIRST,
    MISSING,
    N_VOTES,
    SECOND,
    TIE,
    UNKNOWN_ORDER,
    Bools,
    Floats,
    Ints,
    labels_of,
)

Rule: TypeAlias = Literal["majority", "mean", "both_ways"]
RULES: tuple[Rule, ...] = get_args(Rule)
# Means closer to one half than this differ from it by rounding only.
EVEN = 1e-9
ONE_ORDER_ONLY = "samples read in only one order"


@dataclass(frozen=True, eq=False)
class Readings:
    """One row per reading of one rater group, as it came; arrays of shape (n,).

    `rater` and `item` are any whole numbers, `sample` numbers a rater's samples of an item, and the two orders of a
    sample share its number. `vote`, `label`, `number` and `first` are as in `Judgments`.
    """

    rater: Ints
    item: Ints
    sample: Ints
    vote: Ints
    number: Floats
    first: Ints

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def label(self) -> Ints:
        return labels_of(self.vote)

    def where(self, mask: Bools) -> Readings:
        return Readings(
            self.rater[mask],
            self.item[mask],
            self.sample[mask],
            self.vote[mask],
            self.number[mask],
            self.first[mask],
        )


@dataclass(frozen=True, eq=False)
class ReducedReadings:
    """One row per rater and item, in ascending order of both: `row` is that of its first reading.

    A vote is MISSING where the rule finds none, and an order unknown where the readings differ in it.
    """

    row: Ints
    vote: Ints
    number: Floats
    first: Ints


@dataclass(frozen=True, eq=False)
class Samples:
    """One row per sample: the row of its first reading, and its vote and number by the rule of both ways.

    `flipped` is true where two readings differ in their vote, `whole` where there are two.
    """

    row: Ints
    vote: Ints
    number: Floats
    flipped: Bools
    whole: Bools


@dataclass(frozen=True)
class Consistency:
    """Share of samples whose vote changes with the order of the responses."""

    inconsistent: Estimate


def reduce_readings(readings: Readings, rule: str) -> ReducedReadings:
    """One judgment per rater and item.

    - majority: the most common vote, a tie without a unique one; the number is the mean of those there are.
    - mean: the mean of the readings' preferences (their number, or 0, 1/2, 1 for first, tie, second); the vote says
      on which side of one half it lies, or that both are bad where every reading does.
    - both_ways: the two readings of a sample count as one: their vote, or a tie where they differ (a flip). Samples
      are then reduced by majority. A sample of which one order is missing says nothing; where there is no other, the
      vote is missing.

    Raises ParameterError for another rule.
    """
    if rule not in RULES:
        raise ParameterError(
            f"There is no rule {rule!r} to reduce replicates. The rules are: {', '.join(RULES)}."
        )
    groups = _Groups(readings.rater, readings.item)
    first = groups.common(readings.first, UNKNOWN_ORDER)
    if rule == "mean":
        number = groups.mean(_preferences(readings))
        side = _side(number)
        # BOTH_BAD is the highest of the votes: where it is also the lowest, nothing else was said.
        all_bad = (side == TIE) & (groups.lowest(readings.vote) == BOTH_BAD)
        return ReducedReadings(groups.row, np.where(all_bad, BOTH_BAD, side).astype(np.int8), number, first)
    if rule == "majority":
        return ReducedReadings(groups.row, groups.mode(readings.vote), groups.mean(readings.number), first)
    samples = read_both_ways(readings)
    of = groups.code[samples.row]
    vote = np.where(samples.whole, samples.vote, MISSING)
    number = np.where(samples.whole, samples.number, np.nan)
    return ReducedReadings(groups.row, groups.mode(vote, of), groups.mean(number, of), first)


def read_both_ways(readings: Readings) -> Samples:
    """The readings of each sample as one. A flip is a tie, and its number, where there are numbers, is one half."""
    groups = _Groups(readings.rater, readings.item, readings.sample)
    low = groups.lowest(readings.vote)
    flipped = low != groups.highest(readings.vote)
    number = groups.mean(readings.number)
    return Samples(
        row=groups.row,
        vote=np.where(flipped, TIE, low).astype(np.int8),
        number=np.where(flipped & np.isfinite(number), 0.5, number),
        flipped=flipped,
        whole=groups.size > 1,
    )


def inconsistency(readings: Readings, query: Ints, *, resample: ResampleSpec) -> Consistency:
    """Share of samples whose vote changes with the order; the interval is over the readings' `query` (n,).

    Samples of which only one order was read (the other failed, or was never asked) are left out.
    """
    samples = read_both_ways(readings)
    return Consistency(
        mean_estimate(
            samples.flipped[samples.whole].astype(np.float64),
            query[samples.row[samples.whole]],
            unit="samples",
            resample=resample,
            left_out=present({ONE_ORDER_ONLY: int(np.count_nonzero(~samples.whole))}),
            empty="No sample was read in both orders.",
            share=True,
        )
    )


def _preferences(readings: Readings) -> Floats:
    """Degree to which each reading prefers the second response, nan where it says nothing."""
    by_vote = np.full(N_VOTES + 1, np.nan)
    by_vote[[FIRST, TIE, BOTH_BAD, SECOND]] = 0.0, 0.5, 0.5, 1.0
    # A missing vote is -1 and so reads the last entry.
    return np.where(np.isfinite(readings.number), readings.number, by_vote[readings.vote])


def _side(number: Floats) -> Ints:
    """The vote on whose side of one half each mean preference lies."""
    label = np.where(np.abs(number - 0.5) <= EVEN, TIE, np.where(number < 0.5, FIRST, SECOND))
    return np.where(np.isfinite(number), label, MISSING).astype(np.int8)


class _Groups:
    """Rows that agree in all keys (n,) as groups, ascending by the keys; each column is summed up by group."""

    def __init__(self, *keys: Ints) -> None:
        order = np.lexsort(keys[::-1])
        new = np.zeros(len(order), dtype=bool)
        new[:1] = True
        for key in keys:
            ordered = key[order]
            new[1:] |= ordered[1:] != ordered[:-1]
        self.order = order
        self.starts = np.flatnonzero(new)
        self.n = len(self.starts)
        # The sort is stable, so the first row of a group is the one that came first.
        self.row = order[self.starts]
        self.code = np.empty(len(order), dtype=np.int64)
        self.code[order] = np.cumsum(new) - 1
        self.size = np.bincount(self.code, minlength=self.n)

    def lowest(self, values: Ints) -> Ints:
        return np.minimum.reduceat(values[self.order], self.starts) if self.n else values[:0]

    def highest(self, values: Ints) -> Ints:
        return np.maximum.reduceat(values[self.order], self.starts) if self.n else values[:0]

    def common(self, values: Ints, other: int) -> Ints:
        """The one value of each group, `other` where there are several."""
        low = self.lowest(values)
        return np.where(low == self.highest(values), low, other).astype(np.int8)

    def mean(self, values: Floats, code: Ints | None = None) -> Floats:
        """Mean of the finite values; nan without any. `code` says whose they are, if not one per row."""
        code, finite = self.code if code is None else code, np.isfinite(values)
        total = np.bincount(code[finite], weights=values[finite], minlength=self.n)
        n = np.bincount(code[finite], minlength=self.n)
        return divide(total.astype(np.float64), n.astype(np.float64))

    def mode(self, vote: Ints, code: Ints | None = None) -> Ints:
        """The most common vote, a tie without a unique one, MISSING without any."""
        code, given = self.code if code is None else code, vote >= 0
        flat = np.bincount(code[given] * N_VOTES + vote[given], minlength=self.n * N_VOTES)
        counts = flat.reshape(self.n, N_VOTES)
        top = counts.max(axis=1, initial=0)
        unique = (counts == top[:, None]).sum(axis=1) == 1
        found = np.where(unique, counts.argmax(axis=1), TIE)
        return np.where(top > 0, found, MISSING).astype(np.int8)

"""Agreement of two random votes on one item, within a group of raters and between two groups.

Source: MT-Bench (Zheng et al. 2023, section 4.2 and Tables 5 and 6), whose two setups are here with and without ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.percentage import agreement_of_two, two_by_chance
from analytics.statistics.core.estimates import Estimate, TidyDataError, present, undefined
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate
from analytics.statistics.core.tidy import TIE, Floats, Ints

# Of all votes, and of those that are no tie.
FEW_VOTES = ("items with fewer than two votes", "items with fewer than two votes that are no tie")
ONE_GROUP_ONLY = ("items without a vote of both groups", "items without a vote of both groups that is no tie")
NO_TIES = "The labels of this question have no tie."


@dataclass(frozen=True)
class TwoVotes:
    """The chance that two votes agree: of all votes, and of those that are no tie; and the same by chance, had each
    vote been drawn from its group's votes on all items, None where it is undefined."""

    with_ties: Estimate
    without_ties: Estimate
    by_chance: float | None
    by_chance_without_ties: float | None


def two_votes_within(counts: Ints, query: Ints, *, resample: ResampleSpec, tie: int | None = TIE) -> TwoVotes:
    """The chance that two different raters' votes on an item agree, averaged over items (n,) of `query` (n,).

    counts (n, k) are of the votes for each label. Items with fewer than two votes are left out, without ties those with
    fewer than two that are none. Labels from `tie` on are ties; it is None for labels without one.
    """

    return _both_ways(agreement_of_two, (counts,), query, resample, tie, FEW_VOTES)


def two_votes_between(
    one: Ints, other: Ints, query: Ints, *, resample: ResampleSpec, tie: int | None = TIE
) -> TwoVotes:
    """The chance that a vote of one group and a vote of the other agree on an item, averaged over items (n,).

    one and other (n, k) are counts of the groups' votes for each label on the same items, `query` (n,) is theirs. Items
    without a vote of both are left out, without ties those without one that is none. Raises TidyDataError where the
    groups do not have the same items and labels.
    """
    if one.shape != other.shape:
        raise TidyDataError("Two groups are compared by their counts of the same labels on the same items.")

    def shares(votes: Ints, others: Ints) -> Floats:
        pairs = votes.sum(axis=1) * others.sum(axis=1)
        return divide((votes * others).sum(axis=1).astype(np.float64), pairs.astype(np.float64))

    return _both_ways(shares, (one, other), query, resample, tie, ONE_GROUP_ONLY)


def _both_ways(
    shares: Callable[..., Floats],
    tables: tuple[Ints, ...],
    query: Ints,
    resample: ResampleSpec,
    tie: int | None,
    reasons: tuple[str, str],
) -> TwoVotes:
    tables = tuple(table.astype(np.int64) for table in tables)
    with_ties, by_chance = _mean(shares, tables, query, resample, reasons[0])
    if tie is None:
        return TwoVotes(with_ties, undefined(NO_TIES, level=resample.level), by_chance, None)
    chosen = tuple(table[:, :tie] for table in tables)
    without_ties, untied_by_chance = _mean(shares, chosen, query, resample, reasons[1])
    return TwoVotes(with_ties, without_ties, by_chance, untied_by_chance)


def _mean(
    shares: Callable[..., Floats], tables: tuple[Ints, ...], query: Ints, resample: ResampleSpec, reason: str
) -> tuple[Estimate, float | None]:
    """The mean over items, and what chance gives with the votes on them."""
    found = shares(*tables)
    known = np.isfinite(found)
    estimate = mean_estimate(
        found[known],
        query[known],
        unit="items",
        resample=resample,
        left_out=present({reason: int(np.count_nonzero(~known))}),
        empty=f"There are only {reason}.",
        share=True,
    )
    return estimate, two_by_chance(tables[0][known], tables[-1][known])

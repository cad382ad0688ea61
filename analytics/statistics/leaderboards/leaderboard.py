"""A leaderboard: expected win rates of systems, and ranks that respect their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import Estimate, present
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import split
from analytics.statistics.leaderboards.scores import SystemScores
from analytics.statistics.preferences.win_rates import NO_USABLE_JUDGMENT


@dataclass(frozen=True)
class Standing:
    """A system's expected win rate; its `place` by the rate alone, and its `rank`, which respects intervals.

    Both are among the systems of its `group` (from 0). All three are None where the rate is undefined.
    """

    system: str
    rate: Estimate
    place: int | None
    rank: int | None
    group: int | None


def leaderboard(scores: SystemScores, *, resample: ResampleSpec) -> tuple[Standing, ...]:
    """The standing of every system that has an item, best first (HREF, Tables 5 and 7).

    The rate is the mean over items of the system's mean score (HREF, section 4.2), with its interval over queries. The
    paper numbers systems by their rates; that is `place`. For `rank` see `interval_ranks`. Systems that were never
    compared, neither directly nor through others, are in groups of their own, one group after the other: their rates
    are against other opponents, so that no rank holds across groups.
    """
    rows = [(system, at) for system, at in enumerate(split(scores.system, len(scores.systems))) if len(at)]
    rates = []
    for _, at in rows:
        score = scores.score[at]
        used = np.isfinite(score)
        rates.append(
            mean_estimate(
                score[used],
                scores.query[at[used]],
                unit="items",
                resample=resample,
                left_out=present({NO_USABLE_JUDGMENT: int(np.count_nonzero(~used))}),
                empty="No item has a usable judgment.",
                share=True,
            )
        )
    groups = scores.groups()[np.array([system for system, _ in rows], dtype=np.int64)]
    known = np.array([rate.value is not None for rate in rates], dtype=bool)
    found = [
        Standing(scores.systems[system], rate, None, None, None)
        for (system, _), rate in zip(rows, rates, strict=True)
    ]
    for number, code in enumerate(dict.fromkeys(groups[known].tolist())):
        own = np.flatnonzero(known & (groups == code)).tolist()
        among = [rates[row] for row in own]
        for row, place, rank in zip(own, places(among), interval_ranks(among), strict=True):
            found[row] = replace(found[row], place=place, rank=rank, group=number)
    last = len(found) + 1
    return tuple(sorted(found, key=lambda each: (each.group or 0, each.place or last, each.system)))


def places(rates: Sequence[Estimate]) -> tuple[int | None, ...]:
    """1 + the number of systems with a higher rate; equal rates share a place."""
    values = [rate.value for rate in rates if rate.value is not None]
    return tuple(
        None if rate.value is None else 1 + sum(value > rate.value for value in values) for rate in rates
    )


def interval_ranks(rates: Sequence[Estimate]) -> tuple[int | None, ...]:
    """1 + the number of systems whose whole interval lies above the system's own.

    So systems share a rank where their intervals overlap, and a rank can only be too good. A rate without an interval
    has no rank.
    """
    lows = [rate.low for rate in rates if rate.low is not None]
    return tuple(
        None if rate.value is None or rate.high is None else 1 + sum(low > rate.high for low in lows)
        for rate in rates
    )

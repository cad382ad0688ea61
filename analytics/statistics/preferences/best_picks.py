"""The best of N responses: how often each system is picked, and how often raters pick the same response."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np

from analytics.statistics.core.estimates import (
    DuplicateJudgmentError,
    Estimate,
    ParameterError,
    TidyDataError,
    present,
)
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import Bools, Floats, Ints, _coerce, _Rows, connected
from analytics.statistics.core.values import NO_SYSTEM, Values, has_duplicates, n_distinct

NO_PICK = -1
FEW_RATERS = "items with fewer than {raters} picks"
NOT_OFFERED = "picks on items without a response of this system"


@dataclass(frozen=True, eq=False)
class Picks(_Rows):
    """The picks of one rater group, replicates reduced; arrays of shape (n,), one row per judgment.

    `item`, `query` and `rater` are codes. `response` is the place of the picked response among the item's canonical
    responses, from 0, and `system` its system's code; both are -1 where the rater called it a tie.
    """

    item: Ints
    query: Ints
    rater: Ints
    response: Ints
    system: Ints

    def __post_init__(self) -> None:
        n = len(self.item)
        for name, low in (
            ("item", 0),
            ("query", 0),
            ("rater", 0),
            ("response", NO_PICK),
            ("system", NO_SYSTEM),
        ):
            _coerce(self, name, n, np.int32, low, 2**31 - 1)
        if not np.array_equal(self.response < 0, self.system < 0):
            raise TidyDataError("A pick needs a response and its system, or neither where it is a tie.")
        if has_duplicates(self.item, self.rater):
            raise DuplicateJudgmentError("A rater has judged the same item twice.")


@dataclass(frozen=True)
class PickShare:
    """Share of the picks that went to a system (code), how many, and what picking at random would give it.

    `chance` is None where it was not said which systems each item offers. `test` is of a share equal to chance, by
    flipping the signs of queries, where it was asked for and there is a chance.
    """

    system: int
    share: Estimate
    n_picked: int
    chance: float | None
    test: Tested | None = None


@dataclass(frozen=True)
class PickShares:
    """Shares by system and of ties; they add up to one where every item offers every system."""

    systems: tuple[PickShare, ...]
    tie: Estimate
    n_items: int
    n_queries: int


@dataclass(frozen=True)
class AgreedSystem:
    """A system (code; -1 for ties) and the number of items of which all raters, and more than half, pick it."""

    system: int
    n_all_same: int
    n_majority: int


@dataclass(frozen=True)
class SamePick:
    """Share of items whose raters pick the same: all of them, and at least two of them, as shares of items.

    `by_most` counts items by the greatest number of raters who share a pick: entry k is for k raters. `agreed` says
    which systems more than half of an item's raters agree on, for those with an item. By chance is had each pick been
    drawn by the systems' shares of picks; None where it was not said which systems each item offers.
    """

    all_same: Estimate
    two_same: Estimate
    n_all_same: int
    n_two_same: int
    by_most: tuple[int, ...]
    agreed: tuple[AgreedSystem, ...]
    all_same_by_chance: float | None
    two_same_by_chance: float | None


def pick_shares(
    picks: Picks,
    n_systems: int,
    *,
    resample: ResampleSpec,
    offered: Ints | None = None,
    tests: Randomization | None = None,
) -> PickShares:
    """Share of all picks, ties among them, that went to each system, with intervals over queries.

    `offered` (n_items, n_systems) is the number of responses of each system on each item, by item code. With it, a
    system's share is over the picks on items that have a response of it. Without it, over all picks. To compare kinds
    of system, such as people and models, code `picks.system` by kind. Raises TidyDataError where `offered` has another
    shape, or a pick is of a system that its item does not offer.
    """
    _check_offered(picks, n_systems, offered)
    systems = tuple(_share_of_system(picks, system, offered, resample, tests) for system in range(n_systems))
    tie = mean_estimate(
        (picks.system < 0).astype(np.float64),
        picks.query,
        unit="picks",
        resample=resample,
        empty="There are no picks.",
        share=True,
    )
    return PickShares(systems, tie, n_distinct(picks.item), n_distinct(picks.query))


def offered_together(offered: Ints) -> Ints:
    """The number of each system's group (n_systems,) by the responses of each that items offer (n_items, n_systems).

    Systems of different groups were on no item together, neither directly nor through others, so that their shares
    are of different choices. Ours.
    """
    n_items, n_systems = offered.shape
    item, system = np.nonzero(offered)
    # Systems first, then the items that join them.
    return connected(system, n_systems + item, n_systems + n_items)[:n_systems]


def same_pick(
    picks: Picks, *, resample: ResampleSpec, raters: int = 2, offered: Ints | None = None
) -> SamePick:
    """Shares of items of which all raters pick the same response, and at least two of them (a tie is a pick too).

    Items with fewer than `raters` picks are left out; with two picks the two figures say the same of an item. `offered`
    is as in `pick_shares`. Raises ParameterError for fewer than two `raters`.
    """
    if raters < 2:
        raise ParameterError("Comparing raters' picks takes at least two raters.")
    items, first, item = np.unique(picks.item, return_index=True, return_inverse=True)
    width = int(picks.response.max(initial=NO_PICK)) + 2
    flat = item.astype(np.int64) * width + (picks.response + 1)
    counts = np.bincount(flat, minlength=len(items) * width).reshape(len(items), width)
    judged, most = counts.sum(axis=1), counts.max(axis=1, initial=0)
    used = judged >= raters
    all_same, two_same = (most == judged)[used], (most >= 2)[used]
    left_out = present({FEW_RATERS.format(raters=raters): int(np.count_nonzero(~used))})
    shares = [
        mean_estimate(
            same.astype(np.float64),
            picks.query[first][used],
            unit="items",
            resample=resample,
            left_out=left_out,
            empty=f"No item has {raters} picks to compare.",
            share=True,
        )
        for same in (all_same, two_same)
    ]
    by_most = tuple(int(n) for n in np.bincount(most[used]))
    # More than half agree on one response, so that the largest count is one only.
    system = np.full(counts.shape, NO_SYSTEM)
    system[item, picks.response + 1] = picks.system
    chosen = np.take_along_axis(system, counts.argmax(axis=1)[:, None], axis=1)[used, 0]
    agreed = _agreed(chosen, all_same, (2 * most > judged)[used])
    n_all, n_two = int(all_same.sum()), int(two_same.sum())
    by_chance: tuple[float | None, float | None] = (None, None)
    if offered is not None and used.any():
        by_chance = _same_by_chance(picks.where(used[item]), offered)
    return SamePick(shares[0], shares[1], n_all, n_two, by_most, agreed, *by_chance)


def picks_as_values(picks: Picks) -> Values:
    """The picked systems as values (-1 for a tie), of which nominal alpha is taken; the unit is the item."""
    nothing = np.zeros(len(picks), dtype=np.int32)
    return Values(
        unit=picks.item,
        query=picks.query,
        system=nothing + NO_SYSTEM,
        part=nothing,
        item=picks.item,
        rater=picks.rater,
        value=picks.system.astype(np.float64),
    )


def _same_by_chance(picks: Picks, offered: Ints) -> tuple[float, float]:
    """Shares of items of which all, and at least two, would pick the same.

    A system is drawn by its share of the picks on items that offer it, among those that the item offers, and then one
    of its responses there; a tie by its share of all picks.
    """
    tie = float(np.mean(picks.system < 0))
    picked = np.bincount(picks.system[picks.system >= 0], minlength=offered.shape[1])
    share = picked / np.maximum((offered[picks.item] > 0).sum(axis=0), 1)
    items, judged = np.unique(picks.item, return_counts=True)
    rows, times = np.unique(np.column_stack([judged, offered[items]]), axis=0, return_counts=True)
    found = []
    for n, *responses in rows.tolist():
        of_response = np.repeat(share / np.maximum(responses, 1), responses)
        chances = np.array([tie, *of_response]) / (tie + of_response.sum())
        found.append(_alike_by_chance(chances, n))
    all_same, two_same = np.average(found, axis=0, weights=times).tolist()
    return all_same, two_same


def _alike_by_chance(chances: Floats, n: int) -> tuple[float, float]:
    """The chance that `n` draws by `chances` (k,) are all the same, and that at least two of them are."""
    # Of each number of draws: the chance, whatever their order, that they are so many different ones.
    apart = np.ones(1)
    for chance in chances:
        apart = np.convolve(apart, [1.0, chance])[: n + 1]
    different = factorial(n) * float(apart[n]) if len(apart) > n else 0.0
    return float((chances**n).sum()), max(0.0, 1 - different)


def _agreed(chosen: Ints, all_same: Bools, majority: Bools) -> tuple[AgreedSystem, ...]:
    return tuple(
        AgreedSystem(
            int(code),
            int(np.count_nonzero(all_same & (chosen == code))),
            int(np.count_nonzero(chosen[majority] == code)),
        )
        for code in np.unique(chosen[majority])
    )


def _share_of_system(
    picks: Picks, system: int, offered: Ints | None, resample: ResampleSpec, tests: Randomization | None
) -> PickShare:
    kept, chance, test = picks, None, None
    picked = kept.system == system
    if offered is not None:
        kept = picks.where(offered[picks.item, system] > 0)
        picked = kept.system == system
        chances = offered[kept.item, system] / offered[kept.item].sum(axis=1)
        chance = float(chances.mean()) if len(kept) else None
        if tests is not None and len(kept):
            test = sign_flip(picked - chances, kept.query, tests.of(system)).two_sided
    share = mean_estimate(
        picked.astype(np.float64),
        kept.query,
        unit="picks",
        resample=resample,
        left_out=present({NOT_OFFERED: len(picks) - len(kept)}),
        empty="No item that was judged has a response of this system.",
        share=True,
    )
    return PickShare(system, share, int(picked.sum()), chance, test)


def _check_offered(picks: Picks, n_systems: int, offered: Ints | None) -> None:
    if len(picks) and int(picks.system.max()) >= n_systems:
        raise TidyDataError("A pick refers to a system that does not exist.")
    if offered is None:
        return
    if offered.ndim != 2 or offered.shape[1] != n_systems or len(offered) <= int(picks.item.max(initial=-1)):
        raise TidyDataError("What is offered needs a row for each item and a column for each system.")
    picked = picks.where(picks.system >= 0)
    if len(picked) and int(offered[picked.item, picked.system].min()) < 1:
        raise TidyDataError("A pick is of a system that its item does not offer.")

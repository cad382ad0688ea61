"""Scores of the systems that compete, from which leaderboards are made."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.resampling import divide, sum_by
from analytics.statistics.core.tidy import FIRST, SECOND, Bools, Floats, Ints, Items, connected

# The order in which splits are named.
SPLITS = ("private", "dev", "agreement")


@dataclass(frozen=True, eq=False)
class SystemScores:
    """One row per item and competing system, arrays (n,): `item` is a row of the items, `system` a code of `systems`.

    `opponent` is the code of the system that it met. `score` is the system's mean score over the item's judgments, from
    0 to 1, nan where none is usable.
    """

    systems: tuple[str, ...]
    item: Ints
    query: Ints
    system: Ints
    opponent: Ints
    score: Floats

    def where(self, mask: Bools) -> SystemScores:
        """The rows where `mask` (n,) is true, with the same systems."""
        return replace(
            self,
            **{name: getattr(self, name)[mask] for name in ("item", "query", "system", "opponent", "score")},
        )

    @property
    def competing(self) -> Ints:
        """The codes of the systems with a usable score."""
        return np.unique(self.system[np.isfinite(self.score)])

    def groups(self) -> Ints:
        """The number from 0 of each system's group (s,): who met, directly or through others, is in one group."""
        used = np.isfinite(self.score)
        return connected(self.system[used], self.opponent[used], len(self.systems))

    def rates(self) -> Floats:
        """Mean score of each system over its items (s,), nan without any."""
        used = np.isfinite(self.score)
        n = np.bincount(self.system[used], minlength=len(self.systems)).astype(np.float64)
        total = sum_by(self.system[used], self.score[used], len(self.systems))
        return divide(total, n)

    def by_query(self) -> Floats:
        """Mean score of each system over its items of each query (q, s), nan without any.

        Queries with usable scores of fewer than two systems are left out: they compare nobody.
        """
        used = np.isfinite(self.score)
        queries, code = np.unique(self.query[used], return_inverse=True)
        width = len(self.systems)
        cell = code.astype(np.int64) * width + self.system[used]
        n = np.bincount(cell, minlength=len(queries) * width).reshape(-1, width).astype(np.float64)
        total = sum_by(cell, self.score[used], n.size).reshape(-1, width)
        shared = (n > 0).sum(axis=1) > 1
        return divide(total[shared], n[shared])


def system_scores(items: Items, scores: Floats, baseline: str = "") -> SystemScores:
    """The scores of the systems of `items` from those of the two responses `scores` (n, 2) of `item_scores`.

    With a `baseline` that occurs only items against it are used, and it does not compete itself; otherwise every item
    whose responses are of two systems counts for both. Raises TidyDataError where the shapes differ.
    """
    if scores.shape != (len(items), 2):
        raise TidyDataError("Scores of systems are made from a score of each of an item's two responses.")
    row = np.arange(len(items))
    system = np.concatenate([items.system_1, items.system_2]).astype(np.int64)
    opponent = np.concatenate([items.system_2, items.system_1]).astype(np.int64)
    used = system != opponent
    if baseline in items.systems:
        used &= opponent == items.systems.index(baseline)
    item = np.concatenate([row, row])[used]
    score = np.concatenate([scores[:, FIRST], scores[:, SECOND]])[used]
    query = items.query[item].astype(np.int64)
    return SystemScores(items.systems, item, query, system[used], opponent[used], score)


def splits_of(items: Items) -> tuple[tuple[str, Bools], ...]:
    """Each split that occurs with its items as a mask (n,); nothing unless there are several."""
    if not items.splits:
        return ()
    of_item = np.array(items.splits, dtype=object)[items.query]
    found = [(name, np.asarray(of_item == name, dtype=bool)) for name in SPLITS]
    several = [(name, mask) for name, mask in found if mask.any()]
    return tuple(several) if len(several) > 1 else ()

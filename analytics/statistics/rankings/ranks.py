"""The arrays that the statistics of rankings are computed from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analytics.statistics.core.estimates import DuplicateJudgmentError, LeftOut, TidyDataError, present
from analytics.statistics.core.tidy import Bools, Distinct, Floats, Ints, _coerce, _Rows, _set, distinct
from analytics.statistics.core.values import coerce_numbers, has_duplicates

UNKNOWN_PLACE = -1
FEW_RATERS = "items ranked by fewer than two raters"
OTHER_SETS = "items whose raters ranked different responses"
ONE_RESPONSE = "items with a single response"


@dataclass(frozen=True, eq=False)
class Ranks(_Rows):
    """The rankings of one rater group, replicates reduced; arrays of shape (n,), a row per judgment and response.

    `judgment`, `item`, `query`, `rater` and `system` are codes, `response` is the response's place among the item's
    canonical ones, from 0. `rank` is 1 for the best; equals have one rank, the mean of the places that they share.
    `place` is where the response was shown, from 0, UNKNOWN_PLACE where that is not known.

    Raises TidyDataError where a column has the wrong shape or range, a judgment has two items, queries or raters, or
    its ranks are not the places 1 to m; DuplicateJudgmentError where it ranks a response twice, or a rater an item.
    Rows may be left out only with all others of their judgment.
    """

    judgment: Ints
    item: Ints
    query: Ints
    rater: Ints
    response: Ints
    system: Ints
    rank: Floats
    place: Ints

    def __post_init__(self) -> None:
        n = len(self.judgment)
        for name in ("judgment", "item", "query", "rater", "response", "system"):
            _coerce(self, name, n, np.int32, 0, 2**31)
        _coerce(self, "place", n, np.int32, UNKNOWN_PLACE, 2**31)
        coerce_numbers(self, "rank", n)
        _, first, inverse = self._judgments
        for name in ("item", "query", "rater"):
            column = getattr(self, name)
            if not np.array_equal(column[first][inverse], column):
                raise TidyDataError(f"A ranking has more than one {name}.")
        if has_duplicates(inverse, self.response):
            raise DuplicateJudgmentError("A ranking has the same response twice.")
        if has_duplicates(self.item[first], self.rater[first]):
            raise DuplicateJudgmentError("A rater has ranked the same item twice.")
        # Whole or half numbers to the last bit, so that equals are equal and sums exact.
        rank = np.round(2 * self.rank) / 2
        if not (np.allclose(self.rank, rank) and np.array_equal(rank, mid_ranks(rank, inverse))):
            raise TidyDataError(
                "Ranks must be the places from 1, and equals the mean of the places they share."
            )
        _set(self, "rank", rank)

    @cached_property
    def _judgments(self) -> Distinct:
        return distinct(self.judgment)

    @property
    def n_judgments(self) -> int:
        return len(self._judgments.first)

    @property
    def judgment_code(self) -> Ints:
        """Codes of the judgments (n,), from 0 without gaps."""
        return self._judgments.code

    @property
    def size(self) -> Ints:
        """Number of responses that the row's judgment ranks, shape (n,)."""
        return np.bincount(self.judgment_code, minlength=self.n_judgments)[self.judgment_code]


@dataclass(frozen=True, eq=False)
class RankBlock:
    """Items that as many raters have ranked and that have as many responses.

    `item` and `query` (b,), `rater` (b, m), `rank` (b, m, k): by item, rater, response.
    """

    item: Ints
    query: Ints
    rater: Ints
    rank: Floats


def mid_ranks(score: Floats, group: Ints) -> Floats:
    """The places from 1 of `score` (n,), ascending, within each code of `group` (n,); equals share their mean."""
    if not len(score):
        return np.zeros(0)
    order = np.lexsort((score, group))
    sorted_score, sorted_group = score[order], group[order]
    at = np.arange(len(score))
    new_group = np.r_[True, sorted_group[1:] != sorted_group[:-1]]
    new_run = new_group | np.r_[True, sorted_score[1:] != sorted_score[:-1]]
    start = np.flatnonzero(new_run)
    stop = np.r_[start[1:], len(score)]
    group_start = np.maximum.accumulate(np.where(new_group, at, 0))
    run = np.cumsum(new_run) - 1
    ranks = np.empty(len(score))
    ranks[order] = (start[run] + stop[run] + 1) / 2 - group_start
    return ranks


def shared_items(ranks: Ranks) -> tuple[Ints, Bools, tuple[LeftOut, ...]]:
    """Codes (n,) of the items from 0, which rows belong to items that can be compared, and what can't be.

    Those are the items that two raters or more have ranked, all of them the same two responses or more.
    """
    item = distinct(ranks.item).code
    n_items = int(item.max(initial=-1)) + 1
    pair = item.astype(np.int64) * (int(ranks.response.max(initial=0)) + 1) + ranks.response
    first = distinct(pair).first
    k = np.bincount(item[first], minlength=n_items)
    judgment_first = distinct(ranks.judgment).first
    m = np.bincount(item[judgment_first], minlength=n_items)
    rows = np.bincount(item, minlength=n_items)
    few = m < 2
    other = ~few & (rows != m * k)
    single = ~few & ~other & (k < 2)
    left_out = present(
        {FEW_RATERS: int(few.sum()), OTHER_SETS: int(other.sum()), ONE_RESPONSE: int(single.sum())}
    )
    return item, ~(few | other | single)[item], left_out


def blocks(ranks: Ranks) -> tuple[Iterator[RankBlock], tuple[LeftOut, ...]]:
    """The items whose raters all ranked the same responses, grouped by their shape, and the number of the others."""
    item, used, left_out = shared_items(ranks)
    return (_blocks(ranks, item) if used.all() else _blocks(ranks.where(used), item[used])), left_out


def _blocks(ranks: Ranks, item: Ints) -> Iterator[RankBlock]:
    # By item, judgment and response; sorting one column takes a third of the time of sorting by three.
    judgment = item.astype(np.int64) * ranks.n_judgments + ranks.judgment_code
    order = np.argsort(judgment * (int(ranks.response.max(initial=0)) + 1) + ranks.response, kind="stable")
    rows = np.bincount(item)
    k = ranks.size[order]
    m = rows[item[order]] // np.maximum(k, 1)
    shape = m * (int(k.max(initial=0)) + 1) + k
    for each in distinct(shape).values:
        same = shape == each
        at, raters, responses = order[same], m[same][0], k[same][0]
        first = at[:: raters * responses]
        rank = ranks.rank[at].reshape(-1, raters, responses)
        rater = ranks.rater[at[::responses]].reshape(-1, raters)
        yield RankBlock(ranks.item[first], ranks.query[first], rater, rank)

"""Concordance of rankings of the same responses: Kendall's W, and Kendall's tau-b between two rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, present
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate
from analytics.statistics.core.tidy import Bools, Floats, Ints, _Rows, distinct
from analytics.statistics.core.values import n_distinct
from analytics.statistics.rankings.ranks import RankBlock, Ranks, blocks

ALL_TIED = "items whose responses every rater ranked equal"
NO_TAU = "items without two rankings that put one response above another"
ONLY_PEOPLE = "items that only people ranked"
ONLY_JUDGE = "items that only the judge ranked"
OTHER_RESPONSES = "items whose rankings cover different responses"
NO_ORDER = "items whose responses one of the groups ranked equal"


@dataclass(frozen=True)
class SizeConcordance:
    """Mean W over the items that have this number of responses."""

    n_responses: int
    w: Estimate


@dataclass(frozen=True)
class Concordance:
    """Kendall's W and mean pairwise tau-b, each taken per item and averaged over items; W also by items' size.

    `n_judgments` counts the rankings of the items that have a W, and `chance_w` is what raters who rank at random
    would reach on them: the mean of 1 / m over the items, m being the raters of each; None without any.
    """

    w: Estimate
    tau: Estimate
    by_size: tuple[SizeConcordance, ...]
    n_judgments: int
    chance_w: float | None


class ItemConcordance(NamedTuple):
    """Query, number of responses and of raters, W and mean pairwise tau-b of each item (n,); nan where it has none."""

    query: Ints
    size: Ints
    raters: Ints
    w: Floats
    tau: Floats


def kendalls_w(rank: Floats) -> Floats:
    """Kendall's W of rankings (..., m, k) of k responses by m raters, corrected for ties; nan where all are equal.

    W = 12 S / (m^2 (k^3 - k) - m T), S the squared distances of the responses' rank sums from their mean and T the
    sum of t^3 - t over all groups of t equals (Kendall & Gibbons, "Rank Correlation Methods", chapter 6).
    """
    m, k = rank.shape[-2:]
    sums = rank.sum(axis=-2)
    squares = ((sums - m * (k + 1) / 2) ** 2).sum(axis=-1)
    most = m**2 * (k**3 - k) - m * tie_terms(rank).sum(axis=-1)
    return divide(12 * squares, np.where(most > 0.5, most, 0.0))  # terms are whole numbers


def tie_terms(rank: Floats) -> Floats:
    """The sum of t^3 - t over the groups of t equals of each ranking (..., k), shape (...)."""
    # Each member of a group of t adds t^2 - 1, so that the group adds t^3 - t.
    equals = (rank[..., :, None] == rank[..., None, :]).sum(axis=-1).astype(np.float64)
    return np.asarray((equals**2 - 1).sum(axis=-1))


def tau_b(one: Floats, other: Floats) -> Floats:
    """Kendall's tau-b of two rankings (..., k), nan where either has all equal (Kendall 1945)."""
    sign_1, sign_2 = _signs(one), _signs(other)
    both = np.sqrt((sign_1**2).sum(axis=-1) * (sign_2**2).sum(axis=-1))
    return np.asarray(divide((sign_1 * sign_2).sum(axis=-1), both))


def pair_taus(rank: Floats) -> Floats:
    """Tau-b of every two of m rankings (..., m, k), shape (..., m, m); nan where either has all equal."""
    signs = _signs(rank)
    across = signs @ np.swapaxes(signs, -1, -2)
    ordered = (signs**2).sum(axis=-1)
    return divide(across, np.sqrt(ordered[..., :, None] * ordered[..., None, :]))


def concordance(ranks: Ranks, *, resample: ResampleSpec) -> Concordance:
    """Kendall's W and the mean tau-b over pairs of raters, per item, averaged over items; intervals over queries.

    An item needs two raters who ranked the same two responses or more; the others are left out, and so are items
    without any order. A rater who ranks all responses of an item as equal enters its W but none of its pairs.
    """
    found, left_out = blocks(ranks)
    query, size, raters, w, tau = _per_item(list(found))
    has_w, has_tau = np.isfinite(w), np.isfinite(tau)
    tied = left_out + present({ALL_TIED: int(np.count_nonzero(~has_w))})
    untaken = left_out + present({NO_TAU: int(np.count_nonzero(~has_tau))})
    by_size = tuple(
        SizeConcordance(int(k), _mean(w, query, has_w & (size == k), (), resample, share=True))
        for k in np.unique(size[has_w])
    )
    return Concordance(
        w=_mean(w, query, has_w, tied, resample, share=True),
        tau=_mean(tau, query, has_tau, untaken, resample),
        by_size=by_size,
        n_judgments=int(raters[has_w].sum()),
        chance_w=float((1 / raters[has_w]).mean()) if has_w.any() else None,
    )


def item_concordance(ranks: Ranks) -> ItemConcordance:
    """Both agreements of each item that two raters ranked, in no order of the items."""
    return _per_item(list(blocks(ranks)[0]))


def sums_with_others(rank: Floats) -> tuple[Floats, Floats]:
    """Of each of m rankings (b, m, k) the sum of its tau-b with the others, and how many of these there are (b, m)."""
    taus = pair_taus(rank)
    itself = np.arange(taus.shape[1])
    taus[:, itself, itself] = np.nan
    has = np.isfinite(taus)
    return np.where(has, taus, 0.0).sum(axis=2), has.sum(axis=2).astype(np.float64)


def tau_with_others(ranks: Ranks) -> Floats:
    """The mean tau-b of each ranking with the others of its item, by ascending judgment (j,).

    nan where an item's raters ranked different responses, or no two of them put one response above another.
    """
    first = distinct(ranks.judgment).first
    width = int(ranks.rater.max(initial=0)) + 1
    key = ranks.item[first].astype(np.int64) * width + ranks.rater[first]
    order = np.argsort(key)
    found = np.full(len(first), np.nan)
    for block in blocks(ranks)[0]:
        total, n = sums_with_others(block.rank)
        ranked = block.item[:, None].astype(np.int64) * width + block.rater
        found[order[np.searchsorted(key, ranked, sorter=order)]] = divide(total, n)
    return found


def tau_with(people: Ranks, judge: Ranks, *, resample: ResampleSpec) -> Estimate:
    """Kendall's tau-b between people's and a judge's mean ranks of an item's responses, averaged over items.

    Item and response codes must mean the same in both. Items that one group ranked alone or as equal throughout are
    left out, and those whose rankings are not all of the same responses.
    """
    both = shared_ranks(people, judge)
    taus, queries = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for k in np.unique(both.size):
        at = both.size == k
        taus.append(tau_b(both.one[at].reshape(-1, k), both.other[at].reshape(-1, k)))
        queries.append(both.query[at][::k])
    tau, query = np.concatenate(taus), np.concatenate(queries)
    defined = np.isfinite(tau)
    return mean_estimate(
        tau[defined],
        query[defined],
        unit="items",
        resample=resample,
        left_out=both.left_out + present({NO_ORDER: int(np.count_nonzero(~defined))}),
        empty="There is no item whose responses both groups put in an order.",
    )


@dataclass(frozen=True, eq=False)
class SharedRanks(_Rows):
    """Mean ranks of two groups, `one` and `other` (n,), by item and response, of the items that both ranked whole.

    `query` and `system` are codes, `size` is the number of the item's responses.
    """

    query: Ints
    system: Ints
    size: Ints
    one: Floats
    other: Floats
    left_out: tuple[LeftOut, ...]


def shared_ranks(one: Ranks, other: Ranks) -> SharedRanks:
    """Two groups' mean ranks side by side; item and response codes must mean the same in both.

    Items that one group ranked alone are left out, and those whose rankings are not all of the same responses.
    """
    mine, yours = _mean_ranks(one), _mean_ranks(other)
    shared = np.intersect1d(mine.item, yours.item)
    n_mine, n_yours = n_distinct(mine.item) - len(shared), n_distinct(yours.item) - len(shared)
    mine, yours = mine.where(np.isin(mine.item, shared)), yours.where(np.isin(yours.item, shared))
    same = _same_responses(mine, yours)
    mine, yours = mine.where(same[mine.position]), yours.where(same[yours.position])
    # From here on the rows of the two are of the same items and responses.
    size = np.bincount(mine.position)[mine.position]
    left_out = {ONLY_PEOPLE: n_mine, ONLY_JUDGE: n_yours, OTHER_RESPONSES: int(np.count_nonzero(~same))}
    return SharedRanks(mine.query, mine.system, size, mine.mean, yours.mean, present(left_out))


@dataclass(frozen=True, eq=False)
class _MeanRanks(_Rows):
    """By item and response, ascending: query, system, mean rank over raters, and whether all its rankings have it."""

    item: Ints
    response: Ints
    query: Ints
    system: Ints
    mean: Floats
    complete: Bools

    @property
    def position(self) -> Ints:
        """Of each row, the position of its item among the items that occur."""
        return distinct(self.item).code


def _mean_ranks(ranks: Ranks) -> _MeanRanks:
    pair = ranks.item.astype(np.int64) * (int(ranks.response.max(initial=0)) + 1) + ranks.response
    _, first, code = distinct(pair)
    n = np.bincount(code, minlength=len(first))
    total = np.bincount(code, weights=ranks.rank, minlength=len(first))
    position = distinct(ranks.item).code
    one_row = distinct(ranks.judgment).first
    judged = np.bincount(position[one_row])
    # Ranks are whole or half numbers, so sums are exact and equal means stay equal.
    mean = total / np.maximum(n, 1)
    complete = np.equal(n, judged[position[first]]) if len(first) else np.zeros(0, dtype=np.bool_)
    item, response, query, system = (
        each[first] for each in (ranks.item, ranks.response, ranks.query, ranks.system)
    )
    return _MeanRanks(item, response, query, system, mean, complete)


def _same_responses(one: _MeanRanks, other: _MeanRanks) -> Bools:
    """Of each item, which both have, whether all rankings of both groups are of the same responses."""
    n = n_distinct(one.item)
    same = np.bincount(one.position, minlength=n) == np.bincount(other.position, minlength=n)
    for each in (one, other):
        same[each.position[~each.complete]] = False
    mine, yours = one.where(same[one.position]), other.where(same[other.position])
    at = one.position[same[one.position]]
    same[at[mine.response != yours.response]] = False
    return np.asarray(same)


def _signs(rank: Floats) -> Floats:
    """1, -1 or 0 for each pair of responses (..., pairs): the first is below, above or equal to the second."""
    upper = np.triu_indices(rank.shape[-1], k=1)
    return np.asarray(np.sign(rank[..., upper[0]] - rank[..., upper[1]]))


def _per_item(found: list[RankBlock]) -> ItemConcordance:
    whole = np.zeros(0, dtype=np.int64)
    columns: list[tuple[Ints, Ints, Ints, Floats, Floats]] = [(whole, whole, whole, np.zeros(0), np.zeros(0))]
    for block in found:
        n, m, k = block.rank.shape
        columns.append(
            (
                block.query,
                np.full(n, k),
                np.full(n, m),
                kendalls_w(block.rank),
                _mean_pairwise_tau(block.rank),
            )
        )
    query, size, raters, w, tau = (np.concatenate(column) for column in zip(*columns, strict=True))
    return ItemConcordance(query, size, raters, w, tau)


def _mean_pairwise_tau(rank: Floats) -> Floats:
    """Mean tau-b over the pairs of raters of rankings (b, m, k); nan where no pair has one."""
    taus = pair_taus(rank)
    one, other = np.triu_indices(rank.shape[-2], k=1)
    pairs = taus[..., one, other]
    defined = np.isfinite(pairs)
    return divide(np.where(defined, pairs, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(np.float64))


def _mean(
    figure: Floats,
    query: Ints,
    used: Bools,
    left_out: tuple[LeftOut, ...],
    resample: ResampleSpec,
    *,
    share: bool = False,
) -> Estimate:
    return mean_estimate(
        figure[used],
        query[used],
        unit="items",
        resample=resample,
        left_out=left_out,
        empty="No item was ranked by two raters who put the same responses in an order.",
        share=share,
    )

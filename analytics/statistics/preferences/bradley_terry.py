"""Bradley-Terry strengths of three systems or more, with intervals over queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import ParameterError, present
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints, ItemCell, Items, Judgments, check_items
from analytics.statistics.preferences.strengths import (
    Comparisons,
    Strength,
    no_strengths,
    strengths_of,
    why_undefined,
)
from analytics.statistics.preferences.win_rates import (
    NO_USABLE_JUDGMENT,
    UNUSABLE_JUDGMENTS,
    is_usable,
    item_scores,
)

UNIT = "judgments"
SELF_PAIRS = "items that compare a system with itself"


@dataclass(frozen=True)
class BradleyTerry:
    """Strengths of the systems of one cell, strongest first; `undefined` says why there are none.

    `prior` is the number of imagined ties, shared out evenly between the pairs that were compared.
    """

    arm: str | None
    category: str | None
    prior: float
    strengths: tuple[Strength, ...]
    undefined: str = ""


@dataclass(frozen=True, eq=False)
class _Votes:
    """By item: what either response won (n_items, 2), of how many judgments `n`, and how many more say nothing."""

    wins: Floats
    n: Ints
    unusable: Ints


def bradley_terry(
    items: Items,
    judgments: Judgments,
    *,
    resample: ResampleSpec,
    by: Sequence[str] = ("arm",),
    prior: float = 1.0,
) -> tuple[BradleyTerry, ...]:
    """Bradley-Terry strengths for each cell of `by` ("arm", "category") (Bradley and Terry 1952).

    A judgment is one comparison: ties are half wins, probabilities count as such. `prior` ties in all are added, an
    equal part to every pair that was compared: among hundreds of judgments they weigh nothing, but a system that never
    loses keeps a finite strength. Standard errors are robust to dependence within a query: each query is left out in
    one Newton step from the fit (the cluster-robust error CR3, Bell and McCaffrey 2002); ranks, which have none, have
    percentiles of a bootstrap over queries. Undefined for two systems (their win rate says it all) and where some
    systems are not connected by comparisons. Raises ParameterError for a prior that is not positive and for cells of a
    pair.
    """
    if prior <= 0:
        raise ParameterError("The prior must be positive, or strengths may be infinite.")
    if "pair" in by:
        raise ParameterError("Strengths can be divided by arm and category only.")
    check_items(items, judgments)
    votes = _votes(judgments, len(items))
    return tuple(_of_cell(cell, items, votes, index, prior, resample) for cell, index in items.cells(by))


def _votes(judgments: Judgments, n_items: int) -> _Votes:
    scores = item_scores(judgments, n_items)
    usable = is_usable(judgments)
    n = np.bincount(judgments.item[usable], minlength=n_items)
    unusable = np.bincount(judgments.item[~usable], minlength=n_items)
    return _Votes(np.where(n[:, None] > 0, scores, 0.0) * n[:, None], n, unusable)


def _of_cell(
    cell: ItemCell, items: Items, votes: _Votes, index: Ints, prior: float, resample: ResampleSpec
) -> BradleyTerry:
    judged = votes.n[index] > 0
    itself = items.system_1[index] == items.system_2[index]
    left_out = present(
        {
            NO_USABLE_JUDGMENT: int(np.count_nonzero(~judged)),
            UNUSABLE_JUDGMENTS: int(votes.unusable[index][judged].sum()),
            SELF_PAIRS: int(np.count_nonzero(judged & itself)),
        }
    )
    used = index[judged & ~itself]
    rng = resample.rng(cell.arm, cell.category)
    data = _comparisons(items.take(used), votes.wins[used], votes.n[used], rng)
    names = tuple(items.systems[code] for code in data.systems)
    if reason := why_undefined(data, names):
        none = no_strengths(data, names, reason, left_out, resample, unit=UNIT)
        return BradleyTerry(cell.arm, cell.category, prior, none, reason)
    return BradleyTerry(
        cell.arm, cell.category, prior, strengths_of(data, names, prior, left_out, resample, rng, unit=UNIT)
    )


def _comparisons(items: Items, wins: Floats, n: Ints, rng: np.random.Generator) -> Comparisons:
    import scipy

    codes = np.stack([items.system_1, items.system_2], axis=1).astype(np.int64)
    systems = np.flatnonzero(np.bincount(codes.ravel()))
    pair = items.pair
    pairs = np.zeros((len(items.pairs), 2), dtype=np.int64)
    pairs[pair] = np.searchsorted(systems, codes)
    queries, row = np.unique(items.query, return_inverse=True)
    table = scipy.sparse.csr_array(
        (wins.ravel(), (np.repeat(row, 2), np.stack([2 * pair, 2 * pair + 1], axis=1).ravel())),
        shape=(len(queries), 2 * len(pairs)),
    )
    # Queries are drawn by position, so their order must not be that in which they came.
    order = np.argsort(table @ rng.random(2 * len(pairs)), kind="stable")
    of_system = sum(np.bincount(pairs[pair, side], weights=n, minlength=len(systems)) for side in (0, 1))
    return Comparisons(systems, pairs, table[order], np.asarray(of_system).astype(np.int64))

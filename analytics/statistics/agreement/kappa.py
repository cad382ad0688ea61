"""Cohen's kappa between two raters on the items they share, plain or weighted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from analytics.statistics.core.estimates import (
    DuplicateJudgmentError,
    Estimate,
    LeftOut,
    ParameterError,
    TidyDataError,
    present,
    undefined,
)
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.jackknife import leave_out
from analytics.statistics.core.resampling import ResampleSpec, divide, estimates_from
from analytics.statistics.core.tidy import N_LABELS, Floats, Ints, Judgments, distinct

Weights: TypeAlias = Literal["nominal", "linear", "quadratic"]
FEW_SHARED = "pairs of raters with too few shared items"
TOO_MANY_RATERS = "pairs with a rater who is not among those with the most judgments"
ONE_LABEL_MISSING = "items without a label from both raters"


@dataclass(frozen=True)
class RaterPair:
    """Kappa between two raters, named by pseudonym."""

    rater_1: str
    rater_2: str
    kappa: Estimate


@dataclass(frozen=True)
class PairwiseKappa:
    """Kappa of every pair of raters that was compared, and how many pairs were not."""

    pairs: tuple[RaterPair, ...]
    left_out: tuple[LeftOut, ...]


def cohen_kappa(
    label_1: Ints,
    label_2: Ints,
    query: Ints,
    *,
    n_labels: int,
    resample: ResampleSpec,
    weights: Weights = "nominal",
) -> Estimate:
    """Cohen's kappa of two raters' labels (n,), (n,) on the same items, negative where missing.

    `weights` turns it into weighted kappa for ordered labels (Cohen 1960, 1968). The interval is over queries, `query`
    (n,) being that of each item. Undefined where no item is shared, or where both raters give one and the same label
    throughout. Raises TidyDataError where the shapes differ, or a label is beyond `n_labels`.
    """
    if not label_1.shape == label_2.shape == query.shape or label_1.ndim != 1:
        raise TidyDataError("Kappa needs one label of each rater and the query for every item.")
    if len(label_1) and max(int(label_1.max()), int(label_2.max())) >= n_labels:
        raise TidyDataError(f"Labels must lie between 0 and {n_labels - 1}.")
    shared = (label_1 >= 0) & (label_2 >= 0)
    cells = _cells_by_query(label_1[shared], label_2[shared], query[shared], n_labels)
    left_out = present({ONE_LABEL_MISSING: int(np.count_nonzero(~shared))})
    return _kappa_of_cells(cells, _disagreement(n_labels, weights), resample, left_out)


def pairwise_kappa(
    judgments: Judgments,
    query: Ints,
    *,
    resample: ResampleSpec,
    min_shared: int = 10,
    max_raters: int = 12,
    n_labels: int = N_LABELS,
) -> PairwiseKappa:
    """Cohen's kappa between the `max_raters` raters with most labels, where they share enough items.

    `query` (n_items,) is that of each item. Raises DuplicateJudgmentError where one of them judged an item twice.
    """
    labelled = judgments.where(judgments.vote >= 0)
    per_rater = np.bincount(labelled.rater, minlength=len(judgments.raters))
    active = np.flatnonzero(per_rater)
    chosen = active[np.argsort(-per_rater[active], kind="stable")][:max_raters]
    table = _label_table(labelled, chosen)
    disagreement = _disagreement(n_labels, "nominal")
    pairs, few = [], 0
    for one, other in combinations(range(len(chosen)), 2):
        shared = (table[one] >= 0) & (table[other] >= 0)
        if np.count_nonzero(shared) < max(min_shared, 1):
            few += 1
            continue
        of_items = query[: len(shared)][shared]
        cells = _cells_by_query(table[one][shared], table[other][shared], of_items, n_labels)
        kappa = _kappa_of_cells(cells, disagreement, resample, ())
        pairs.append(RaterPair(judgments.raters[chosen[one]], judgments.raters[chosen[other]], kappa))
    beyond = (len(active) * (len(active) - 1) - len(chosen) * (len(chosen) - 1)) // 2
    return PairwiseKappa(tuple(pairs), present({FEW_SHARED: few, TOO_MANY_RATERS: beyond}))


def _label_table(judgments: Judgments, chosen: Ints) -> Ints:
    """Labels of the chosen raters by item, shape (raters, items), -1 where a rater gave none."""
    position = np.full(len(judgments.raters), -1)
    position[chosen] = np.arange(len(chosen))
    kept = judgments.where(position[judgments.rater] >= 0)
    n_items = int(kept.item.max(initial=-1)) + 1
    flat = position[kept.rater] * n_items + kept.item
    table = np.full(len(chosen) * n_items, -1, dtype=np.int8)
    table[flat] = kept.vote
    if np.count_nonzero(table >= 0) < len(flat):
        raise DuplicateJudgmentError("A rater has judged the same item twice.")
    return table.reshape(len(chosen), n_items)


def disagreement_of(points: Sequence[float], weights: Weights) -> Floats:
    """Disagreement (k, k) of every two of the `points`, which ascend: any, their distance, or its square.

    Raises ParameterError for weights of another name.
    """
    distance = np.abs(np.subtract.outer(np.asarray(points, dtype=np.float64), np.asarray(points)))
    by_name = {"nominal": distance > 0, "linear": distance, "quadratic": distance**2}
    if weights not in by_name:
        raise ParameterError(f"Kappa has no weights named {weights}.")
    return np.asarray(by_name[weights], dtype=np.float64)


def _disagreement(n_labels: int, weights: Weights) -> Floats:
    """Weight of each cell of the confusion table as disagreement, flattened, shape (k * k,)."""
    return disagreement_of(range(n_labels), weights).ravel()


def kappas_of_cells(cells: Floats, disagreement: Floats) -> Floats:
    """Kappa of flattened confusion tables (r, k * k), nan where no disagreement could be expected."""
    k = int(np.sqrt(len(disagreement)))
    tables = cells.reshape(-1, k, k)
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    n = cells.sum(axis=1)
    return np.asarray(1 - divide(n * (cells @ disagreement), expected.reshape(-1, k * k) @ disagreement))


def _cells_by_query(label_1: Ints, label_2: Ints, query: Ints, n_labels: int) -> Floats:
    """Flattened confusion tables (q, k * k), one per query that occurs."""
    used, _, codes = distinct(query)
    width = n_labels**2
    flat = codes * width + label_1.astype(np.int64) * n_labels + label_2
    return np.bincount(flat, minlength=len(used) * width).reshape(-1, width).astype(np.float64)


def _kappa_of_cells(
    cells: Floats, disagreement: Floats, resample: ResampleSpec, left_out: tuple[LeftOut, ...]
) -> Estimate:
    n, n_labels = int(cells.sum()), int(np.sqrt(len(disagreement)))
    if not n:
        reason = "The two raters judged no item in common."
        return undefined(reason, level=resample.level, left_out=left_out)
    (kappa,) = estimates_from(
        leave_out(cells, lambda sums: kappas_of_cells(sums, disagreement)[:, None]),
        n=n,
        unit="items",
        level=resample.level,
        left_out=left_out,
        empty="Both raters gave the same label throughout, so they would agree by chance alone.",
        scales=["coefficient"],
    )
    by_cell = cells.sum(axis=0).reshape(n_labels, n_labels)
    return noted(kappa, by_cell.sum(axis=0) + by_cell.sum(axis=1), len(cells))

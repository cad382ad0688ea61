"""The composite judge: of several methods the one that agrees best with people in each category (HREF section 2.2).

A method that was picked because it did best looks better than it is. The honest figure is cross-fitted: the method of
each query is picked on the queries of other folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.folds import folds_by_query
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.design import generator

# Means that differ by less are equal: sums of shares are exact to about this.
SAME_MEAN = 1e-12
NONE = -1


@dataclass(frozen=True)
class ChosenAgreement:
    """The mean agreement (0 to 1) of the chosen methods over `n` items; None where they judged none of them.

    `n_left_out` items were not judged by the method that was chosen for them.
    """

    value: float | None
    n: int
    n_left_out: int


@dataclass(frozen=True, eq=False)
class Composite:
    """The choice of a method (column) for each of c categories.

    `choice` (c,) is the portable map, chosen on all items; `fold_choice` (folds, c) those of which `cross_fitted` is
    made, `fold` (n,) the fold of each item. `of_map` is the part of `cross_fitted` that is the map's own: of the
    categories for which every fold chose the method of the map. `takes_best_overall` (c,) tells the categories with
    too few judged queries or a tie for the best, which take `best_overall`. The figures by category are in the order of
    `categories` (codes).
    """

    categories: tuple[int, ...]
    choice: tuple[int, ...]
    takes_best_overall: tuple[bool, ...]
    best_overall: int
    fold: Ints
    fold_choice: tuple[tuple[int, ...], ...]
    cross_fitted: ChosenAgreement
    of_map: ChosenAgreement
    in_sample: ChosenAgreement
    cross_fitted_by_category: tuple[ChosenAgreement, ...]
    in_sample_by_category: tuple[ChosenAgreement, ...]
    least_judged: int


def composite(
    agreement: Floats,
    category: Ints,
    *,
    seed: int,
    query: Ints | None = None,
    n_folds: int = 5,
    least_judged: int = 30,
) -> Composite:
    """The best method of each category, with its cross-fitted agreement and, beside it, the inflated one in sample.

    `agreement` (n, methods) has each item's agreement of a method with people, 0 to 1, NaN where it did not judge;
    `category` (n,) codes; `query` (n,) codes, each item its own query if there are none: items of a query are in one
    fold. A method's mean is over the items that it judged. Categories in which fewer than `least_judged` queries, of
    all folds, were judged by any method, and those whose best mean several methods share, take the method with the
    best mean over all items: of several such the first.
    Raises TidyDataError where the arrays don't fit, a value is not a share, nothing was judged, or there are fewer
    queries than folds; ParameterError below two folds.
    """
    agreement, category = np.asarray(agreement, dtype=np.float64), np.asarray(category, dtype=np.int64)
    query = np.arange(len(agreement)) if query is None else np.asarray(query, dtype=np.int64)
    if agreement.ndim != 2 or category.shape != (len(agreement),) or query.shape != category.shape:
        raise TidyDataError("Agreement, categories and queries must have one row for each item.")
    judged = ~np.isnan(agreement)
    if not ((agreement[judged] >= 0) & (agreement[judged] <= 1)).all():
        raise TidyDataError("An agreement does not lie from 0 to 1.")
    if least_judged < 1:
        raise ParameterError("A category needs at least one judged query.")
    n = len(agreement)
    fold = folds_by_query(query, n_folds, generator(seed, "composite", "folds"))
    categories, code = np.unique(category, return_inverse=True)
    any_judged = judged.any(axis=1)
    judged_queries = np.unique(np.stack([code[any_judged], query[any_judged]]), axis=1)[0]
    enough = np.bincount(judged_queries, minlength=len(categories)) >= least_judged
    chosen, by_default, best = _choose(agreement, code, enough)
    if best == NONE:
        raise TidyDataError("No method judged an item that people judged.")
    by_fold = np.array(
        [_choose(agreement[fold != each], code[fold != each], enough)[0] for each in range(n_folds)]
    )
    rows = np.arange(n)
    # A fold whose others judged nothing has no choice: its queries are left out.
    method = by_fold[fold, code]
    crossed = np.where(method == NONE, np.nan, agreement[rows, method])
    inside = agreement[rows, chosen[code]]
    groups = [code == each for each in range(len(categories))]
    return Composite(
        categories=tuple(categories.tolist()),
        choice=tuple(chosen.tolist()),
        takes_best_overall=tuple(by_default.tolist()),
        best_overall=best,
        fold=fold,
        fold_choice=tuple(tuple(each) for each in by_fold.tolist()),
        cross_fitted=_mean(crossed),
        of_map=_mean(crossed[(by_fold == chosen).all(axis=0)[code]]),
        in_sample=_mean(inside),
        cross_fitted_by_category=tuple(_mean(crossed[group]) for group in groups),
        in_sample_by_category=tuple(_mean(inside[group]) for group in groups),
        least_judged=least_judged,
    )


def _choose(agreement: Floats, code: Ints, enough: np.ndarray) -> tuple[Ints, np.ndarray, int]:
    """The method of each category (c,), which of them take the best overall (c,), and that method."""
    overall = _means(agreement)
    best = NONE if np.isnan(overall).all() else int(_best(overall)[0])
    chosen = np.full(len(enough), best, dtype=np.int64)
    by_default = np.ones(len(enough), dtype=bool)
    for each in np.flatnonzero(enough):
        means = _means(agreement[code == each])
        leaders = _best(means)
        if len(leaders) == 1:
            chosen[each], by_default[each] = leaders[0], False
    return chosen, by_default, best


def _means(agreement: Floats) -> Floats:
    """The mean of each method over the items that it judged, NaN without any."""
    judged = ~np.isnan(agreement)
    counts = judged.sum(axis=0)
    means = np.full(agreement.shape[1], np.nan)
    np.divide(np.where(judged, agreement, 0.0).sum(axis=0), counts, out=means, where=counts > 0)
    return means


def _best(means: Floats) -> Ints:
    """The methods with the highest mean; none where all are NaN."""
    if np.isnan(means).all():
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(means >= np.nanmax(means) - SAME_MEAN)


def _mean(values: Floats) -> ChosenAgreement:
    known = values[~np.isnan(values)]
    value = float(known.mean()) if len(known) else None
    return ChosenAgreement(value, len(known), len(values) - len(known))

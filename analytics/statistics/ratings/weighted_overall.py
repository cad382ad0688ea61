"""The overall rating as a weighted sum of aspects: how far each lies from its ideal, without an intercept.

Source: the weighted overall score of long-form answers (the LFQA paper, section 4.1, equations 1 and 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.folds import folds_by_query
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.design import generator


@dataclass(frozen=True, eq=False)
class WeightedOverall:
    """A fit over n rows and k aspects.

    `weights` (k,), in points of the overall rating from one end of an aspect to its ideal, are fitted on all rows, and
    `fitted` (n,) are their overall ratings. `predicted` (n,) are those by weights that were fitted on the other folds,
    `fold_weights` (folds, k); `fold` (n,) is the fold of each row.
    """

    weights: Floats
    fitted: Floats
    fold: Ints
    fold_weights: Floats
    predicted: Floats
    n_queries: int


def distance_from_ideal(values: Floats, *, ideal: float, low: float, high: float) -> Floats:
    """Distances (n,) from the ideal as shares of the longest there is: (3 - value) / 3 on 0 to 3 with the ideal 3.

    Raises ParameterError where the ideal is not on the scale, TidyDataError where a value is not.
    """
    if not low <= ideal <= high or low == high:
        raise ParameterError("An ideal lies on a scale that has more than one point.")
    values = np.asarray(values, dtype=np.float64)
    if not ((values >= low) & (values <= high)).all():
        raise TidyDataError(f"A rating does not lie from {low:g} to {high:g}.")
    return np.abs(values - ideal) / max(ideal - low, high - ideal)


def least_squares_weights(distances: Floats, shortfall: Floats) -> Floats:
    """Weights (k,) of distances (n, k) that come nearest to the overall rating's shortfalls (n,), without intercept.

    Raises TidyDataError where there are fewer rows than aspects, or one aspect follows from the others.
    """
    n, k = distances.shape
    if n < k or k == 0:
        raise TidyDataError(
            f"The weights of {k} aspects need at least {max(k, 1)} rated answers; there are {n}."
        )
    # The singular values tell the rank, with numpy's own tolerance.
    weights, _, rank, _ = np.linalg.lstsq(distances, shortfall, rcond=None)
    if rank < k:
        raise TidyDataError(
            "The weights cannot be determined: an aspect is always at its ideal, or is a linear combination of "
            "the others."
        )
    return np.asarray(weights, dtype=np.float64)


def weighted_overall(
    distances: Floats,
    overall: Floats,
    query: Ints,
    *,
    ideal: float,
    seed: int,
    n_folds: int = 5,
) -> WeightedOverall:
    """The weights of aspects in the overall rating: overall = ideal - distances @ weights, not clipped to the scale.

    `distances` (n, k) are those of `distance_from_ideal`, `overall` (n,) ratings in points with their `ideal` (the best
    there is), `query` (n,) codes: rows of a query are never on both sides of a fold. Raises TidyDataError where the
    arrays don't fit, hold what is not finite, or determine no weights in a fold.
    """
    distances, overall = np.asarray(distances, dtype=np.float64), np.asarray(overall, dtype=np.float64)
    query = np.asarray(query, dtype=np.int64)
    if distances.ndim != 2 or overall.shape != (len(distances),) or query.shape != overall.shape:
        raise TidyDataError("Distances, overall ratings and queries must have one row for each answer.")
    if not (np.isfinite(distances).all() and np.isfinite(overall).all()):
        raise TidyDataError("A distance or an overall rating is not a number.")
    shortfall = ideal - overall
    weights = least_squares_weights(distances, shortfall)
    fold = folds_by_query(query, n_folds, generator(seed, "weighted overall", "folds"))
    fold_weights, predicted = np.empty((n_folds, distances.shape[1])), np.empty(len(overall))
    for each in range(n_folds):
        held = fold == each
        fold_weights[each] = least_squares_weights(distances[~held], shortfall[~held])
        predicted[held] = ideal - distances[held] @ fold_weights[each]
    return WeightedOverall(
        weights=weights,
        fitted=ideal - distances @ weights,
        fold=fold,
        fold_weights=fold_weights,
        predicted=predicted,
        n_queries=len(np.unique(query)),
    )

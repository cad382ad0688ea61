"""The weights of aspects in an overall rating, how well they predict it held out, and what each aspect adds.

Source: the LFQA paper, section 4.1, equations 1 and 2. Its one split of single ratings puts a query on both sides; here
every split is by query, and there are several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.folds import folds_by_query
from analytics.statistics.core.resampling import ResampleSpec, query_estimates
from analytics.statistics.core.tidy import Floats, Ints, distinct
from analytics.statistics.judges.ratings_vs_people import correlations
from analytics.statistics.ratings.weighted_overall import weighted_overall
from evaluation.design import generator

UNDETERMINED = "The aspects do not determine their weights."
# A determinant so far below that of independent aspects is that of aspects which follow from each other.
SINGULAR = 1e-10
# A fifth of the queries is held out, as in the paper; so many times, as one split says little.
TEST_FOLDS, N_SPLITS = 5, 20
# Sums of moments of the queries that weights are fitted on, and of those held out.
Split: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True)
class OverSplits:
    """A figure over random splits by query.

    `first` is that of the first split, which the seed alone decides. Mean, standard deviation, least and greatest are
    of the `n` splits that have one, None without any (the deviation with one only).
    """

    first: float | None
    mean: float | None
    standard_deviation: float | None
    least: float | None
    greatest: float | None
    n: int


@dataclass(frozen=True)
class AddedAspect:
    """Held-out R squared of one aspect by itself, and how much all aspects together have over all but this one."""

    alone: OverSplits
    gain: OverSplits


@dataclass(frozen=True)
class AspectWeights:
    """Weights (k) of aspects with intervals over queries, in points from an aspect's far end to its ideal.

    `weighted` and `equal` are Pearson's r of the overall rating with the scores by cross-fitted and by equal weights;
    `held_out` is that of a fifth of the queries by weights fitted on the rest, `r_squared` the share of its variance
    that they explain; both over random splits.
    """

    weights: tuple[Estimate, ...]
    weighted: Estimate
    equal: Estimate
    held_out: OverSplits
    r_squared: OverSplits
    added: tuple[AddedAspect, ...]


def aspect_weights(
    distances: Floats,
    overall: Floats,
    query: Ints,
    *,
    ideal: float,
    seed: int,
    resample: ResampleSpec,
    unit: str = "ratings",
) -> AspectWeights:
    """The weights of aspects at `distances` (n, k) from their ideals in `overall` (n,), whose best value is `ideal`.

    Rows of a query (n,) are never on both sides of a fold or split. Raises TidyDataError where the arrays don't fit, or
    there are too few queries or too little variation to determine weights (see `weighted_overall`).
    """
    found = weighted_overall(distances, overall, query, ideal=ideal, seed=seed)
    moments = _moments(distances, ideal - overall, query)
    weights = query_estimates(
        moments,
        np.arange(len(moments)),
        _weights,
        n=len(overall),
        unit=unit,
        resample=resample,
        empty=UNDETERMINED,
        scales=["plain"] * distances.shape[1],
    )
    weighted, equal = (
        correlations(scores, overall, query, resample=resample, unit=unit)[0]
        for scores in (found.predicted, -distances.sum(axis=1))
    )
    splits = list(_splits(moments, seed))
    held_out = over_splits([_held_out_r(train, test) for train, test in splits])
    r_squared, added = _added(splits, distances.shape[1])
    return AspectWeights(weights, weighted, equal, held_out, r_squared, added)


def over_splits(values: Sequence[float | None]) -> OverSplits:
    """The values of several splits in one record; None is a split without one."""
    known = np.array([each for each in values if each is not None])
    if not len(known):
        return OverSplits(None, None, None, None, None, 0)
    return OverSplits(
        values[0],
        float(known.mean()),
        float(known.std(ddof=1)) if len(known) > 1 else None,
        float(known.min()),
        float(known.max()),
        len(known),
    )


def _added(splits: Sequence[Split], k: int) -> tuple[OverSplits, tuple[AddedAspect, ...]]:
    every = tuple(range(k))
    wanted = [every, *((aspect,) for aspect in every), *(_but(every, aspect) for aspect in every)]
    table = np.array([[_r_squared(train, test, subset) for subset in wanted] for train, test in splits])
    added = tuple(
        AddedAspect(
            over_splits(_listed(table[:, 1 + aspect])),
            over_splits(_listed(table[:, 0] - table[:, 1 + k + aspect])),
        )
        for aspect in every
    )
    return over_splits(_listed(table[:, 0])), added


def _but(aspects: tuple[int, ...], left_out: int) -> tuple[int, ...]:
    return tuple(each for each in aspects if each != left_out)


def _listed(values: Floats) -> list[float | None]:
    return [each if np.isfinite(each) else None for each in values.tolist()]


def _moments(distances: Floats, shortfall: Floats, query: Ints) -> Floats:
    """Sums by query (q, (k + 2) squared) of the products of every two of 1, the distances and the shortfall."""
    code = distinct(query).code
    columns = [np.ones(len(shortfall)), *distances.T, shortfall]
    size, n = len(columns), int(code.max(initial=-1)) + 1
    found = np.empty((n, size, size))
    for one in range(size):
        for other in range(one + 1):
            sums = np.bincount(code, weights=columns[one] * columns[other], minlength=n)
            found[:, one, other] = found[:, other, one] = sums
    return found.reshape(n, -1)


def _tables(sums: Floats) -> Floats:
    size = round(sums.shape[1] ** 0.5)
    return sums.reshape(-1, size, size)


def _weights(sums: Floats) -> Floats:
    """Least-squares weights (r, k) without an intercept, from sums of moments; nan where they are not determined."""
    tables = _tables(sums)
    products, targets = tables[:, 1:-1, 1:-1], tables[:, 1:-1, -1]
    k = products.shape[1]
    independent = np.diagonal(products, axis1=1, axis2=2).prod(axis=1)
    determined = (independent > 0) & (np.linalg.det(products) > SINGULAR * independent)
    safe = np.where(determined[:, None, None], products, np.eye(k))
    solved = np.linalg.solve(safe, targets[:, :, None])[:, :, 0]
    return np.where(determined[:, None], solved, np.nan)


def _splits(moments: Floats, seed: int) -> Iterator[Split]:
    total, queries = moments.sum(axis=0), np.arange(len(moments))
    for split in range(N_SPLITS):
        fold = folds_by_query(queries, TEST_FOLDS, generator(seed, "weighted overall", "split", split))
        test = moments[fold == 0].sum(axis=0)
        yield total - test, test


def _held_out_r(train: Floats, test: Floats) -> float | None:
    """Pearson's r of given and predicted shortfalls in the held-out part; None where one of them does not vary."""
    [weights], [table] = _weights(train[None, :]), _tables(test[None, :])
    if not np.isfinite(weights).all():
        return None
    n, means, target = table[0, 0], table[0, 1:-1], table[0, -1]
    across = weights @ table[1:-1, -1] - (weights @ means) * target / n
    given = table[-1, -1] - target**2 / n
    predicted = weights @ table[1:-1, 1:-1] @ weights - (weights @ means) ** 2 / n
    if min(given, predicted) <= SINGULAR:
        return None
    return float(across / np.sqrt(given * predicted))


def _r_squared(train: Floats, test: Floats, subset: tuple[int, ...]) -> float:
    """1 - squared errors / squared distances from the mean, in the held-out part, by weights of a subset of aspects.

    Of no aspects the prediction is the ideal itself. nan where the held-out ratings are all the same.
    """
    size = round(len(train) ** 0.5)
    kept = [0, *(1 + aspect for aspect in subset), size - 1]
    train, test = (each.reshape(size, size)[np.ix_(kept, kept)] for each in (train, test))
    weights = _weights(train.reshape(1, -1))[0] if subset else np.zeros(0)
    products, targets = test[1:-1, 1:-1], test[1:-1, -1]
    errors = test[-1, -1] - 2 * weights @ targets + weights @ products @ weights
    spread = test[-1, -1] - test[0, -1] ** 2 / test[0, 0]
    return float(1 - errors / spread) if spread > SINGULAR else float("nan")

"""Folds and splits by query, for figures that are chosen or fitted on one part of the data and read off another."""

from __future__ import annotations

import numpy as np

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.tidy import Ints, distinct


def folds_by_query(query: Ints, n_folds: int, generator: np.random.Generator) -> Ints:
    """The fold, from 0, of each row: all rows (n,) of a query code are in one, and folds differ by a query at most.

    The order of the rows is of no account. Raises ParameterError below two folds, TidyDataError where there are fewer
    queries than folds.
    """
    if n_folds < 2:
        raise ParameterError("Cross-fitting needs at least two folds.")
    queries, _, code = distinct(query)
    if len(queries) < n_folds:
        raise TidyDataError(f"{n_folds} folds need at least {n_folds} queries; there are {len(queries)}.")
    fold = np.empty(len(queries), dtype=np.int64)
    fold[generator.permutation(len(queries))] = np.arange(len(queries)) % n_folds
    return fold[code]

"""Resampled queries as numbers of cells: for figures that are no function of a few sums over queries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy

from evaluation.analytics.resampling import CHUNK_BYTES, ResampleSpec, resample_weights
from evaluation.analytics.tidy import Floats, Ints


def cell_draws(query: Ints, cell: Ints, n_cells: int, resample: ResampleSpec) -> Iterator[Floats]:
    """How often each cell occurs in a resample of queries, in chunks (c, n_cells) of replicates.

    `query` (n,) and `cell` (n,) say of each row to which query and to which cell it belongs: rows that a figure
    can't tell apart are one cell. With fewer than two queries there is nothing to resample, and no chunk.
    """
    used, codes = np.unique(query, return_inverse=True)
    if len(used) < 2 or not resample.replicates:
        return
    # A query has few of the cells.
    table = scipy.sparse.csr_array((np.ones(len(cell)), (codes, cell)), shape=(len(used), n_cells))
    rows = max(1, CHUNK_BYTES // (8 * max(n_cells, 1)))
    once = np.ones(len(used), dtype=np.int64)
    for drawn in resample_weights(once, rng=resample.rng, replicates=resample.replicates):
        for start in range(0, len(drawn), rows):
            yield np.asarray(drawn[start : start + rows] @ table)

"""Standard errors over queries by leaving out one at a time, and t intervals on a scale that fits the figure.

Every statistic of this package is a function of sums over queries, or of how often each of a few cells occurs in them:
the items of one query share it and are therefore dependent, so a query is left out with all of its items. Nothing is
drawn at random (Efron and Tibshirani 1993, chapter 11), so the same judgments in another order have the same interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from analytics.statistics.core.narrow import column_sums
from analytics.statistics.core.tidy import Floats, Ints, distinct

CHUNK_BYTES = 48 * 2**20
# Tables of cells are left out in so many groups of queries at most: each group costs a pass over all cells.
MAX_GROUPS = 1000
GROUPS_SEED = 1
# Figures closer together than this differ by rounding only.
SAME = 1e-12

Statistic = Callable[[Floats], Floats]
"""From sums (r, d) to figures (r, k), nan where undefined."""
Scale: TypeAlias = Literal["plain", "share", "coefficient", "positive"]
"""Any number; one from 0 to 1, whose interval is taken of the logit; one from -1 to 1, of Fisher's z; one above 0, of
the logarithm."""
SCALES: dict[Scale, str] = {
    "plain": "",
    "share": " of the logit",
    "coefficient": " of Fisher's z",
    "positive": " of the logarithm",
}
# Where a figure lies at an end of its scale, it has no interval.
ENDS: dict[Scale, tuple[float, float]] = {
    "plain": (-np.inf, np.inf),
    "share": (0, 1),
    "coefficient": (-1, 1),
    "positive": (0, np.inf),
}


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Figures (k,), their standard errors (k,), nan where a figure is undefined without one of the queries.

    `groups` is how many times something was left out: the number of `queries`, or fewer, of several each.
    """

    value: Floats
    error: Floats
    queries: int
    groups: int

    @property
    def method(self) -> str:
        """The making of the interval as a noun phrase, without its scale."""
        in_groups = f" in {self.groups:,} groups" if self.groups < self.queries else ""
        return f"jackknife over {self.queries:,} queries{in_groups}"


def leave_out(vectors: Floats, statistic: Statistic) -> Jackknife:
    """The figures of `statistic` on the sums of `vectors` (q, d), a row per query, each query left out once."""
    total = column_sums(vectors)
    rows = max(1, CHUNK_BYTES // (8 * max(vectors.shape[1], 1)))
    chunks = (vectors[start : start + rows] for start in range(0, len(vectors), rows))
    return _left_out(total, chunks, statistic, len(vectors), len(vectors))


def leave_out_rows(group: Ints, row: Ints, table: Floats, total: Floats, statistic: Statistic) -> Jackknife:
    """The same where each group takes rows of a `table` (t, d) away from the sums `total` (d,).

    `group` (n,) and `row` (n,) say which of the groups, from 0 without gaps, takes which row. Groups are laid out some
    at a time, as there may be nearly as many of them as judgments.
    """
    import scipy

    groups = int(group.max(initial=-1)) + 1
    rows_of = scipy.sparse.csr_array((np.ones(len(row)), (group, row)), shape=(groups, len(table)))
    size = max(1, CHUNK_BYTES // (8 * max(table.shape[1], 1)))
    chunks = (rows_of[start : start + size] @ table for start in range(0, groups, size))
    return _left_out(total, chunks, statistic, groups, groups)


def leave_out_cells(query: Ints, cell: Ints, n_cells: int, statistic: Statistic) -> Jackknife:
    """The same of a statistic of the number of each cell (r, n_cells), for figures that are no function of few sums.

    `query` (n,) and `cell` (n,) say of each row to which query and to which cell it belongs: rows that a figure can't
    tell apart are one cell. Above `MAX_GROUPS` queries, groups of them drawn at random are left out: anew from the same
    seed every time, so that one figure has one interval wherever it is computed.
    """
    import scipy

    used, _, codes = distinct(query)
    table = scipy.sparse.csr_array((np.ones(len(cell)), (codes, cell)), shape=(len(used), n_cells))
    groups = min(len(used), MAX_GROUPS)
    if groups < len(used):
        rng = np.random.default_rng(GROUPS_SEED)
        # Queries are drawn from an order of what is in them, so that it does not matter in which they came.
        order = np.argsort(table @ rng.random(n_cells), kind="stable")
        group = np.empty(len(used), dtype=np.int64)
        group[order] = rng.permutation(len(used)) % groups
        table = (
            scipy.sparse.csr_array(
                (np.ones(len(used)), (group, np.arange(len(used)))), shape=(groups, len(used))
            )
            @ table
        )
    rows = max(1, CHUNK_BYTES // (8 * max(n_cells, 1)))
    chunks = (table[start : start + rows].toarray() for start in range(0, groups, rows))
    return _left_out(np.asarray(table.sum(axis=0)), chunks, statistic, len(used), groups)


def error_of(deviations: Floats) -> Floats:
    """The standard error (k,) of figures that are off by `deviations` (g, k) without one query, or group, each."""
    groups = len(deviations)
    centred = deviations - deviations.mean(axis=0)
    return np.asarray(np.sqrt((groups - 1) / groups * (centred**2).sum(axis=0)))


def t_interval(value: float, error: float, groups: float, scale: Scale, level: float) -> tuple[float, float]:
    """The limits of a figure inside its scale: a t interval with `groups` - 1 degrees of freedom.

    On a transformed scale the standard error is carried over by the slope at the value (delta method), which stays
    finite where leaving out a query takes the figure to an end of its scale.
    """
    import scipy

    half = float(scipy.special.stdtrit(groups - 1, (1 + level) / 2)) * error
    if scale == "share":
        middle, half = scipy.special.logit(value), half / (value * (1 - value))
        low, high = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    elif scale == "coefficient":
        middle, half = np.arctanh(value), half / (1 - value**2)
        low, high = np.tanh(middle - half), np.tanh(middle + half)
    elif scale == "positive":
        low, high = value * np.exp(-half / value), value * np.exp(half / value)
    else:
        low, high = value - half, value + half
    # There and back again, a value may be off in its last bit.
    return min(float(low), value), max(float(high), value)


def _left_out(
    total: Floats, chunks: Iterator[Floats], statistic: Statistic, queries: int, groups: int
) -> Jackknife:
    value = statistic(total[None, :])[0]
    sums, squares = np.zeros(len(value)), np.zeros(len(value))
    for vectors in chunks if groups > 1 else ():
        deviations = statistic(total - vectors) - value
        sums += column_sums(deviations)
        squares += column_sums(deviations**2)
    if groups < 2:
        return Jackknife(value, np.full(len(value), np.nan), queries, groups)
    variance = (groups - 1) / groups * np.maximum(squares - sums**2 / groups, 0.0)
    return Jackknife(value, np.sqrt(variance), queries, groups)

"""Kendall's tau-b and Spearman's rho of two ordered answers to the same thing.

Source: Kendall (1945) for ties; AGENT-CQ correlates its aspects with the overall rating so (section 3.3, Table 3 and
Figure 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, undefined
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.jackknife import leave_out_cells
from analytics.statistics.core.resampling import ResampleSpec, divide, estimates_from
from analytics.statistics.core.tidy import Floats, Ints

# A table of more cells is not left out query by query: each cell would cost a number for each group of queries.
MOST_CELLS = 20_000
TOO_MANY_VALUES = "There are too many different values for an interval."
NO_VARIATION = "One of the two has the same value throughout."
NOTHING = "No {unit} have an answer to both."


@dataclass(frozen=True)
class OrderedAssociation:
    """Kendall's tau-b and Spearman's rho, each with its interval over queries."""

    tau: Estimate
    rho: Estimate


def ordered_association(
    x: Ints,
    y: Ints,
    query: Ints,
    *,
    resample: ResampleSpec,
    unit: str = "ratings",
    left_out: tuple[LeftOut, ...] = (),
) -> OrderedAssociation:
    """Tau-b and rho of two columns of codes (n,), which ascend with the values and begin at 0, and of `query` (n,).

    Both are functions of how often each two codes meet; equals share their ranks. Undefined with a reason where a
    column does not vary. Raises TidyDataError where the shapes differ.
    """
    import scipy

    if not x.shape == y.shape == query.shape or x.ndim != 1:
        raise TidyDataError("An association needs two codes and a query in every row.")
    n, level = len(x), resample.level
    width = int(x.max(initial=0)) + 1, int(y.max(initial=0)) + 1
    if not n or np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = NO_VARIATION if n else NOTHING.format(unit=unit)
        nothing = undefined(reason, n=n, unit=unit, level=level, left_out=left_out)
        return OrderedAssociation(nothing, nothing)
    if width[0] * width[1] > MOST_CELLS:
        told = scipy.stats.kendalltau(x, y).statistic, scipy.stats.spearmanr(x, y).statistic
        tau, rho = (
            Estimate(float(value), None, None, n, unit, level, "", left_out, TOO_MANY_VALUES)
            for value in told
        )
        return OrderedAssociation(tau, rho)
    cell = x.astype(np.int64) * width[1] + y
    found = leave_out_cells(
        query, cell, width[0] * width[1], lambda counts: _of_tables(counts.reshape(-1, *width))
    )
    tau, rho = estimates_from(
        found,
        n=n,
        unit=unit,
        level=level,
        left_out=left_out,
        empty=NO_VARIATION,
        scales=["coefficient", "coefficient"],
    )
    # The less varied of the two decides.
    totals = max((np.bincount(x), np.bincount(y)), key=lambda counts: int(counts.max()))
    return OrderedAssociation(noted(tau, totals, found.queries), noted(rho, totals, found.queries))


def _of_tables(tables: Floats) -> Floats:
    """Tau-b and rho (r, 2) of tables of counts (r, a, b), nan where one side does not vary."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    varied = [n**2 - (side**2).sum(axis=1) for side in (rows, columns)]
    below = np.cumsum(np.cumsum(tables, axis=1), axis=2)
    # Of cell i, j: all cells of a lower row and a lower column, and of a lower row and a higher column.
    concordant = np.zeros_like(tables)
    concordant[:, 1:, 1:] = below[:, :-1, :-1]
    before = np.zeros_like(tables)
    before[:, 1:] = below[:, :-1, -1:] - below[:, :-1]
    surplus = 2 * (tables * (concordant - before)).sum(axis=(1, 2))
    tau = divide(surplus, np.sqrt(np.maximum(varied[0] * varied[1], 0.0)))
    ranks = [np.cumsum(side, axis=1) - side / 2 - n[:, None] / 2 for side in (rows, columns)]
    across = np.einsum("rab,ra,rb->r", tables, ranks[0], ranks[1])
    spread = [(side * rank**2).sum(axis=1) for side, rank in zip((rows, columns), ranks, strict=True)]
    rho = divide(across, np.sqrt(spread[0] * spread[1]))
    defined = (varied[0] > 0) & (varied[1] > 0)
    return np.where(defined[:, None], np.clip(np.column_stack([tau, rho]), -1, 1), np.nan)

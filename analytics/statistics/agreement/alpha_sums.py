"""Krippendorff's alpha as a function of sums over queries, by which two studies are compared.

The coincidences of a unit of m values are its pairs of values, each weighing 1 / (m - 1); alpha is made of their sums
over units (Krippendorff 2011), and so of sums over queries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analytics.statistics.agreement.alpha import LEVELS, Level, alpha_of
from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.jackknife import Statistic
from analytics.statistics.core.matched import QuerySums
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import Values, value_counts

# Expected disagreement below this part of what its terms add up to is what rounding leaves of none.
ROUNDING = 1e-12


def alpha_sums(
    counts: Ints, query: Ints, *, level: Level, values: Sequence[float] | None = None, unit: str = "items"
) -> QuerySums:
    """The alpha of `krippendorff_alpha`: value counts (n, k) of units of `query` (n,), `values` (k,) in ascending
    order (default 0..k-1). Units with fewer than two values are left out.

    Raises ParameterError for an unknown level.
    """
    if level not in LEVELS:
        raise ParameterError(f"There is no alpha for the level of measurement {level}.")
    pairable = counts.sum(axis=1) >= 2
    used = counts[pairable].astype(np.float64)
    domain = np.arange(counts.shape[1], dtype=float) if values is None else np.asarray(values, dtype=float)
    columns, statistic = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}[level](
        used, domain
    )
    return QuerySums(
        columns,
        query[pairable],
        statistic,
        unit,
        "coefficient",
        counts=counts[pairable],
        distances=level == "interval",
    )


def alpha_sums_of_values(
    values: Values, *, level: Level, points: Sequence[float] | None = None, unit: str = "items"
) -> QuerySums:
    """The same of what was rated, as in `alpha_of_values`."""
    table = value_counts(values, level=level, points=points)
    return alpha_sums(table.counts, table.query, level=level, values=table.points, unit=unit)


def _nominal(counts: Floats, domain: Floats) -> tuple[Floats, Statistic]:
    """Disagreeing pairs, and how often each value was given."""
    size = counts.sum(axis=1)
    observed = (size**2 - (counts**2).sum(axis=1)) / (size - 1)

    def statistic(sums: Floats) -> Floats:
        totals = sums[:, 1:]
        n = totals.sum(axis=1)
        return _alpha(sums[:, 0], n**2 - (totals**2).sum(axis=1), n, n**2)

    return np.column_stack([observed, counts]), statistic


def _ordinal(counts: Floats, domain: Floats) -> tuple[Floats, Statistic]:
    """Coincidences of every two values, since how far apart they are depends on how often others are given."""
    k = counts.shape[1]
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(k), np.arange(k)] -= counts
    coincidences = (pairs / (counts.sum(axis=1) - 1)[:, None, None]).reshape(len(counts), k * k)

    def statistic(sums: Floats) -> Floats:
        together = sums.reshape(-1, k, k)
        totals = together.sum(axis=2)
        n = totals.sum(axis=1)
        ranks = np.cumsum(totals, axis=1) - totals / 2
        distance = (ranks[:, :, None] - ranks[:, None, :]) ** 2
        apart = totals[:, :, None] * totals[:, None, :] * distance
        return _alpha((together * distance).sum(axis=(1, 2)), apart.sum(axis=(1, 2)), n, n**4)

    return coincidences, statistic


def _interval(counts: Floats, domain: Floats) -> tuple[Floats, Statistic]:
    """Moments of the values, however many there are."""
    # Centred, the squares do not cancel where values lie far from zero.
    middle = (domain[0] + domain[-1]) / 2 if len(domain) else 0.0
    scores = domain - middle
    size, total, square = counts.sum(axis=1), counts @ scores, counts @ scores**2
    observed = 2 * (size * square - total**2) / (size - 1)
    widest = float((scores**2).max(initial=0.0))

    def statistic(sums: Floats) -> Floats:
        seen, n, of_values, of_squares = sums.T
        return _alpha(seen, 2 * (n * of_squares - of_values**2), n, n**2 * widest)

    return np.column_stack([observed, size, total, square]), statistic


def _alpha(observed: Floats, expected: Floats, n: Floats, scale: Floats) -> Floats:
    """Alpha (r, 1), nan where all values are the same."""
    varied = np.where(expected > ROUNDING * scale, expected, 0.0)
    return alpha_of(observed, varied, n)[:, None]

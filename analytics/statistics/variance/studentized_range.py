"""The distribution of the studentized range (Tukey 1953), by quadrature.

scipy has it too, and gives the same numbers; but there every probability takes about 30 ms, and a report needs one for
each two systems of every question and group.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.tidy import Floats

# From so many degrees of freedom on the variance is as good as known.
MANY = 100_000
NODES = 96
CHUNK = 64
# Beyond these lies a part of both distributions that no p-value shows.
FARTHEST, RAREST = 9.0, 1e-13
GREATEST = 1e6


def range_sf(q: Floats, k: int, degrees: float) -> Floats:
    """The chance (n,) of a studentized range of k means above `q` (n,), with so many degrees of freedom.

    Raises ParameterError for fewer than two means or one degree of freedom.
    """
    if k < 2 or degrees < 1:
        raise ParameterError("A studentized range needs two means and a degree of freedom at least.")
    if degrees >= MANY:
        return np.clip(1 - _range_cdf(np.asarray(q, dtype=np.float64), k), 0.0, 1.0)
    scale, weight = _scales(float(degrees))
    found = np.empty(len(q))
    for start in range(0, len(q), CHUNK):
        part = np.asarray(q[start : start + CHUNK], dtype=np.float64)
        inside = _range_cdf(np.multiply.outer(part, scale).ravel(), k).reshape(len(part), -1)
        found[start : start + CHUNK] = 1 - inside @ weight
    return np.clip(found, 0.0, 1.0)


@lru_cache(maxsize=1024)
def range_quantile(level: float, k: int, degrees: float) -> float:
    """The studentized range of k means that is not exceeded with the chance `level`.

    Raises ParameterError for a level that does not lie between 0 and 1.
    """
    import scipy

    if not 0 < level < 1:
        raise ParameterError("The level of an interval must lie between 0 and 1.")

    def above(q: float) -> float:
        return float(range_sf(np.array([q]), k, degrees)[0]) - (1 - level)

    upper = 4.0
    while above(upper) > 0 and upper < GREATEST:
        upper *= 2
    return float(scipy.optimize.brentq(above, 0.0, upper, xtol=1e-8))


def _range_cdf(width: Floats, k: int) -> Floats:
    """The chance (n,) that k standard normal numbers lie within such widths (n,)."""
    import scipy

    z, weight = _nodes(-FARTHEST, FARTHEST)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * weight
    above = scipy.special.ndtr(z)
    below = scipy.special.ndtr(z - width[:, None])
    return np.asarray(k * ((above - below) ** (k - 1) @ density))


@lru_cache(maxsize=256)
def _scales(degrees: float) -> tuple[Floats, Floats]:
    """Nodes of the standard deviation's distribution around the true one, and their weights, which add up to 1."""
    import scipy

    low, high = np.sqrt(scipy.stats.chi2.ppf([RAREST, 1 - RAREST], degrees) / degrees)
    scale, weight = _nodes(float(low), float(high))
    density = weight * scipy.stats.chi2.pdf(degrees * scale**2, degrees) * 2 * degrees * scale
    return scale, density / density.sum()


def _nodes(low: float, high: float) -> tuple[Floats, Floats]:
    node, weight = _legendre()
    half = (high - low) / 2
    return low + half * (node + 1), half * weight


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    node, weight = np.polynomial.legendre.leggauss(NODES)
    return np.asarray(node), np.asarray(weight)

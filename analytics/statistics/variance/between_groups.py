"""One-way analysis of variance of ratings between systems, with Tukey's honestly significant differences.

Source: AGENT-CQ (section 4.2 and appendix D.3) tests its seven aspects so. It takes every rating for an independent
one: several raters of one text, and the texts of one query, are not, so that its p-values do not hold where queries
differ.
`repeated_measures` asks the same with queries as what is repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analytics.statistics.core.estimates import LeftOut, TidyDataError, present
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.variance.studentized_range import range_quantile, range_sf

ONE_VALUE = "{unit} of systems that have no other one"
NO_SYSTEM = "{unit} that are of no system"
MOST_COMPARED = 30


@dataclass(frozen=True)
class TukeyDifference:
    """Two systems (codes): the second's mean less the first's, its simultaneous interval, and Tukey's p-value."""

    system_1: int
    system_2: int
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class BetweenGroups:
    """An analysis of variance of `n` values between `systems` (codes); `counts` and `means` are theirs.

    `eta_squared` is the share of the sum of squares that lies between systems. Numbers are None where the analysis is
    undefined; `undefined` then says why.
    """

    systems: tuple[int, ...]
    counts: tuple[int, ...]
    means: tuple[float, ...]
    n: int
    f: float | None
    df_between: int | None
    df_within: int | None
    p_value: float | None
    eta_squared: float | None
    level: float
    pairs: tuple[TukeyDifference, ...]
    left_out: tuple[LeftOut, ...]
    undefined: str = ""


def between_groups(
    value: Floats, system: Ints, *, level: float = 0.95, unit: str = "ratings"
) -> BetweenGroups:
    """Analysis of variance of values (n,) by their systems (n,), and Tukey's test of every two of up to `MOST_COMPARED`
    (Tukey-Kramer): of more there are so many that nobody reads them, and each takes an integral.

    Values of no system (a negative code) are left out and counted, as are those of a system that has only one. Raises
    TidyDataError where the shapes differ.
    """
    import scipy

    if value.shape != system.shape or value.ndim != 1:
        raise TidyDataError("An analysis of variance needs a system for each value.")
    known = system >= 0
    sizes = np.bincount(system[known]) if known.any() else np.zeros(0, dtype=np.int64)
    systems = np.flatnonzero(sizes > 1)
    used = known & np.isin(system, systems)
    left_out = present(
        {
            NO_SYSTEM.format(unit=unit): int(np.count_nonzero(~known)),
            ONE_VALUE.format(unit=unit): int(np.count_nonzero(sizes == 1)),
        }
    )
    code = np.searchsorted(systems, system[used])
    k, n = len(systems), int(used.sum())
    # Shifted by the mean of all, which changes nothing: sums of squares lose no digits.
    middle = float(value[used].mean()) if n else 0.0
    own = value[used] - middle
    counts = np.bincount(code, minlength=k)
    means = np.bincount(code, weights=own, minlength=k) / np.maximum(counts, 1)
    within = float(((own - means[code]) ** 2).sum())
    between = float((counts * means**2).sum())
    codes = tuple(int(each) for each in systems)
    told = tuple(float(each) for each in means + middle)
    if reason := _why_undefined(k, within, between + within, unit):
        sized = tuple(int(each) for each in counts)
        return BetweenGroups(codes, sized, told, n, None, None, None, None, None, level, (), left_out, reason)
    mean_square = within / (n - k)
    f = between / (k - 1) / mean_square
    return BetweenGroups(
        systems=codes,
        counts=tuple(int(each) for each in counts),
        means=told,
        n=n,
        f=f,
        df_between=k - 1,
        df_within=n - k,
        p_value=float(scipy.stats.f.sf(f, k - 1, n - k)),
        eta_squared=between / (between + within),
        level=level,
        pairs=_tukey(codes, counts, means, mean_square, n - k, level) if k <= MOST_COMPARED else (),
        left_out=left_out,
    )


def _why_undefined(k: int, within: float, total: float, unit: str) -> str:
    if k < 2:
        return f"An analysis of variance needs two systems with two {unit} each."
    if within <= 1e-12 * max(total, 1e-300):
        return f"All {unit} of a system are the same, so there is no variance to compare with."
    return ""


def _tukey(
    systems: Sequence[int], counts: Ints, means: Floats, mean_square: float, degrees: int, level: float
) -> tuple[TukeyDifference, ...]:
    k = len(systems)
    pairs = np.array(list(combinations(range(k), 2)))
    one, two = pairs.T
    difference = means[two] - means[one]
    error = np.sqrt(mean_square / 2 * (1 / counts[one] + 1 / counts[two]))
    p = range_sf(np.abs(difference) / error, k, degrees)
    half = range_quantile(level, k, degrees) * error
    return tuple(
        TukeyDifference(systems[i], systems[j], float(d), float(d - h), float(d + h), float(chance))
        for (i, j), d, h, chance in zip(pairs.tolist(), difference, half, p, strict=True)
    )

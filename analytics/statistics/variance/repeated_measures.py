"""Analysis of variance of repeated measures: systems compared on the same queries.

What systems are given on one query hangs together; here the query is what is measured repeatedly, once for each system,
so that differences between queries are no noise. Degrees of freedom are corrected for a lack of sphericity by the
epsilon of Greenhouse and Geisser (1959), and every two systems are compared by a paired t-test, corrected by Holm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from analytics.statistics.core.effect_sizes import paired_effect
from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.randomization import holm
from analytics.statistics.core.tidy import Floats, Ints

INCOMPLETE = "queries that lack a system"
SAME = 1e-12


@dataclass(frozen=True)
class PairedDifference:
    """Two systems (codes): the second's mean less the first's, its paired t interval, p before and after Holm, and the
    `effect`: Cohen's d of paired measures (d_z), the mean of the differences over their standard deviation."""

    system_1: int
    system_2: int
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    p_corrected: float | None
    effect: Estimate
    undefined: str = ""


@dataclass(frozen=True)
class RepeatedMeasures:
    """An analysis over `n` queries that have all `systems` (codes).

    `epsilon` is that of Greenhouse and Geisser, and `p_value` is of F with both degrees of freedom times it;
    `p_uncorrected` with the degrees themselves. Numbers are None where the analysis is undefined; `undefined` then says
    why.
    """

    systems: tuple[int, ...]
    means: tuple[float, ...]
    n: int
    f: float | None
    df_systems: int | None
    df_error: int | None
    epsilon: float | None
    p_value: float | None
    p_uncorrected: float | None
    partial_eta_squared: float | None
    level: float
    pairs: tuple[PairedDifference, ...]
    left_out: tuple[LeftOut, ...]
    undefined: str = ""


def repeated_measures(value: Floats, system: Ints, query: Ints, *, level: float = 0.95) -> RepeatedMeasures:
    """Analysis of the mean of values (n,) by system (n,) within each query (n,), over the complete queries.

    A value of no system (a negative code) belongs to none. Queries that lack a system are left out and counted. Raises
    TidyDataError where the shapes differ.
    """
    if not value.shape == system.shape == query.shape or value.ndim != 1:
        raise TidyDataError("Repeated measures need a system and a query for each value.")
    known = system >= 0
    systems, column = np.unique(system[known], return_inverse=True)
    queries, row = np.unique(query[known], return_inverse=True)
    shape = (len(queries), len(systems))
    cell = row * max(len(systems), 1) + column
    cells = shape[0] * shape[1]
    times = np.bincount(cell, minlength=cells).reshape(shape)
    sums = np.bincount(cell, weights=value[known], minlength=cells).reshape(shape)
    complete = (times > 0).all(axis=1)
    table = sums[complete] / times[complete]
    left_out = present({INCOMPLETE: int(np.count_nonzero(~complete))})
    codes = tuple(int(each) for each in systems)
    return _analysed(table, codes, left_out, level)


def greenhouse_geisser(table: Floats) -> float:
    """Epsilon of measures (n, k): 1 where all differences vary alike, 1 / (k - 1) where one of them is all there is."""
    covariance = np.cov(table.T)
    centred = covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None] + covariance.mean()
    k = table.shape[1]
    epsilon = np.trace(centred) ** 2 / ((k - 1) * (centred**2).sum())
    return float(np.clip(epsilon, 1 / (k - 1), 1.0))


def _analysed(
    table: Floats, systems: tuple[int, ...], left_out: tuple[LeftOut, ...], level: float
) -> RepeatedMeasures:
    import scipy

    n, k = table.shape
    means = tuple(table.mean(axis=0).tolist()) if n else ()
    deviation = table - table.mean() if n else table
    of_systems = n * float((deviation.mean(axis=0) ** 2).sum()) if n else 0.0
    rest = deviation - deviation.mean(axis=0) - deviation.mean(axis=1, keepdims=True) if n else table
    error = float((rest**2).sum())
    reason = _why_undefined(n, k, error, of_systems)
    pairs = _paired(table, systems, level) if n > 1 and k > 1 else ()
    if reason:
        nothing = (None, None, None, None, None, None, None)
        return RepeatedMeasures(systems, means, n, *nothing, level, pairs, left_out, reason)
    df_systems, df_error = k - 1, (k - 1) * (n - 1)
    f = of_systems / df_systems / (error / df_error)
    epsilon = greenhouse_geisser(table)
    return RepeatedMeasures(
        systems=systems,
        means=means,
        n=n,
        f=f,
        df_systems=df_systems,
        df_error=df_error,
        epsilon=epsilon,
        p_value=float(scipy.stats.f.sf(f, epsilon * df_systems, epsilon * df_error)),
        p_uncorrected=float(scipy.stats.f.sf(f, df_systems, df_error)),
        partial_eta_squared=of_systems / (of_systems + error),
        level=level,
        pairs=pairs,
        left_out=left_out,
    )


def _why_undefined(n: int, k: int, error: float, of_systems: float) -> str:
    if k < 2:
        return "Repeated measures need at least two systems."
    if n < 2:
        return "Repeated measures need at least two queries that have every system."
    if error <= SAME * max(of_systems, 1.0):
        return "Systems differ by the same on every query, so there is no variance to compare with."
    return ""


def _paired(table: Floats, systems: Sequence[int], level: float) -> tuple[PairedDifference, ...]:
    import scipy

    n, k = table.shape
    found = []
    for one, two in combinations(range(k), 2):
        gaps = table[:, two] - table[:, one]
        effect = paired_effect(gaps, np.arange(n), level=level)
        mean, error = float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(n))
        if error <= SAME * max(abs(mean), 1.0):
            reason = "The difference is the same on every query."
            nothing = (None, None, None, None)
            found.append(PairedDifference(systems[one], systems[two], mean, *nothing, effect, reason))
            continue
        half = float(scipy.special.stdtrit(n - 1, (1 + level) / 2)) * error
        p = float(2 * scipy.special.stdtr(n - 1, -abs(mean / error)))
        limits = mean - half, mean + half
        found.append(PairedDifference(systems[one], systems[two], mean, *limits, p, None, effect))
    tested = [at for at, each in enumerate(found) if each.p_value is not None]
    corrected = holm([float(found[at].p_value or 0.0) for at in tested])
    for at, p in zip(tested, corrected, strict=True):
        found[at] = replace(found[at], p_corrected=p)
    return tuple(found)

"""Differences of systems in their ranks: Friedman's test, and Nemenyi's of every two of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from analytics.statistics.core.estimates import LeftOut, ParameterError, present
from analytics.statistics.core.tidy import Floats, Ints, distinct
from analytics.statistics.rankings.concordance import tie_terms
from analytics.statistics.rankings.ranks import Ranks, mid_ranks

Blocks: TypeAlias = Literal["judgments", "queries"]
NOT_EVERY_SYSTEM = "rankings that do not include every system exactly once"


@dataclass(frozen=True)
class RankDifference:
    """Two systems (codes): the second's mean rank less the first's, and Nemenyi's p-value of it."""

    system_1: int
    system_2: int
    difference: float
    p_value: float


@dataclass(frozen=True)
class Friedman:
    """Friedman's test over `n` blocks; `mean_ranks` in the order of `systems` (codes).

    `w` is Kendall's W of all blocks as raters of the systems: the statistic over n (k - 1), an effect size.
    `critical_difference` is the least difference of mean ranks that Nemenyi's test calls significant at 1 - `level`.
    Figures are None where the test is undefined; `undefined` then says why.
    """

    systems: tuple[int, ...]
    n: int
    unit: Blocks
    mean_ranks: tuple[float, ...]
    statistic: float | None
    degrees_of_freedom: int | None
    p_value: float | None
    w: float | None
    critical_difference: float | None
    level: float
    pairs: tuple[RankDifference, ...]
    left_out: tuple[LeftOut, ...]
    undefined: str = ""


def friedman(ranks: Ranks, *, unit: Blocks = "judgments", level: float = 0.95) -> Friedman:
    """Friedman's test of the systems' ranks, corrected for ties, and Nemenyi's test of every two systems.

    The systems are all that occur; rankings that do not have each of them just once are left out. The blocks of the
    test are rankings or, with `unit="queries"`, the queries, whose systems are ranked anew by their mean ranks. Blocks
    are taken as independent; rankings of the same query are not, so where a query is ranked more than once the test
    over queries is the careful one. Nemenyi's test (Demsar 2006, section 3.2.2) is not corrected for ties, which makes
    it cautious where there are any. Raises ParameterError for another `unit`.
    """
    import scipy

    if unit not in ("judgments", "queries"):
        raise ParameterError("Friedman's test is over judgments or over queries.")
    systems, _, column = distinct(ranks.system)
    table, query, dropped = _complete(ranks, column, len(systems))
    if unit == "queries":
        table = _by_query(table, query)
    left_out = present({NOT_EVERY_SYSTEM: dropped})
    codes = tuple(int(system) for system in systems)
    n, k = table.shape
    reason = _why_undefined(table)
    if reason:
        means = tuple(table.mean(axis=0).tolist()) if n else ()
        return Friedman(codes, n, unit, means, None, None, None, None, None, level, (), left_out, reason)
    means = table.mean(axis=0)
    statistic = friedman_statistic(table)
    error = np.sqrt(k * (k + 1) / (6 * n))
    critical = float(scipy.stats.studentized_range.ppf(level, k, np.inf) / np.sqrt(2) * error)
    return Friedman(
        systems=codes,
        n=n,
        unit=unit,
        mean_ranks=tuple(means.tolist()),
        statistic=statistic,
        degrees_of_freedom=k - 1,
        p_value=float(scipy.stats.chi2.sf(statistic, k - 1)),
        w=statistic / (n * (k - 1)),
        critical_difference=critical,
        level=level,
        pairs=_nemenyi(codes, table, float(error)),
        left_out=left_out,
    )


def friedman_statistic(table: Floats) -> float:
    """Friedman's chi-square of ranks (n, k), corrected for ties (Conover 1999, section 5.8)."""
    n, k = table.shape
    squares = float(((table.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    correction = 1 - float(tie_terms(table).sum()) / (n * (k**3 - k))
    return float(12 * n * squares / (k * (k + 1) * correction))


def _complete(ranks: Ranks, column: Ints, k: int) -> tuple[Floats, Ints, int]:
    """Ranks (n, k) of the rankings that have every system once, their queries (n,), and the number of the others."""
    has = np.zeros((ranks.n_judgments, k), dtype=np.int64)
    np.add.at(has, (ranks.judgment_code, column), 1)
    complete = (has == 1).all(axis=1) if k else np.zeros(ranks.n_judgments, dtype=bool)
    table, query = np.zeros((ranks.n_judgments, k)), np.zeros(ranks.n_judgments, dtype=np.int64)
    table[ranks.judgment_code, column] = ranks.rank
    query[ranks.judgment_code] = ranks.query
    return table[complete], query[complete], int(np.count_nonzero(~complete))


def _by_query(table: Floats, query: Ints) -> Floats:
    """Ranks (q, k) of the systems' mean ranks within each query."""
    queries, _, code = distinct(query)
    sums = np.zeros((len(queries), table.shape[1]))
    np.add.at(sums, code, table)
    # Sums of mid-ranks are multiples of a half and so exact: equal sums are equal.
    rows = np.repeat(np.arange(len(queries)), table.shape[1])
    return mid_ranks(sums.ravel(), rows).reshape(sums.shape)


def _why_undefined(table: Floats) -> str:
    n, k = table.shape
    if k < 2:
        return "Friedman's test needs at least two systems."
    if n < 2:
        return "Friedman's test needs at least two rankings that include every system exactly once."
    if float(np.ptp(table, axis=1).max()) == 0:
        return "Every ranking gives all systems the same rank, so there is nothing to test."
    return ""


def _nemenyi(systems: tuple[int, ...], table: Floats, error: float) -> tuple[RankDifference, ...]:
    import scipy

    means = table.mean(axis=0)
    pairs = list(combinations(range(len(systems)), 2))
    differences = np.array([means[two] - means[one] for one, two in pairs])
    p_values = scipy.stats.studentized_range.sf(
        np.abs(differences) / error * np.sqrt(2), len(systems), np.inf
    )
    return tuple(
        RankDifference(systems[one], systems[two], float(difference), min(1.0, float(p)))
        for (one, two), difference, p in zip(pairs, differences, p_values, strict=True)
    )

"""Log-strengths of systems from comparisons of pairs of them, with intervals over queries and ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, undefined
from analytics.statistics.core.jackknife import Jackknife
from analytics.statistics.core.resampling import ONE_QUERY, ResampleSpec, draw_queries, estimate_from
from analytics.statistics.core.tidy import Floats, Ints, connected

if TYPE_CHECKING:
    import scipy

MAX_STEPS = 200
MAX_STEP = 2.0
TOLERANCE = 1e-9
BATCH_CELLS = 2_000_000
"""Cells of the matrices that are solved at once, about 16 MB for each array of the solver."""
# Strengths closer together than this share a rank: they differ by where the solver stopped only.
SAME_STRENGTH = 1e-6


@dataclass(frozen=True)
class Strength:
    """A system's log-strength, centred at 0 over the systems, its chance to beat an average one, and its rank.

    `n` of each estimate is the number of judgments that compare this system. Rank 1 is the strongest.
    """

    system: str
    score: Estimate
    win_probability: Estimate
    rank: Estimate


@dataclass(frozen=True, eq=False)
class Comparisons:
    """The comparisons: systems (codes), pairs (m, 2) as positions in them, wins by query.

    `wins` is sparse, one row per query and two columns per pair: what the first and what the second won. The order of
    its rows is that of what is in them. `n` (systems,) counts the judgments that compare each system.
    """

    systems: Ints
    pairs: Ints
    wins: scipy.sparse.csr_array
    n: Ints


def fit_strengths(pairs: Ints, wins: Floats, n_systems: int) -> Floats:
    """Maximum-likelihood log-strengths, centred at 0, shape (r, n_systems), nan where not converged.

    `pairs` (m, 2) are positions of systems, `wins` (r, m, 2) what either side won, all of it positive on a
    connected graph. Newton's method from equal strengths, its steps limited, on all replicates at once.
    """
    import scipy

    beaten = np.zeros((len(wins), n_systems, n_systems))
    beaten[:, pairs[:, 0], pairs[:, 1]] = wins[:, :, 0]
    beaten[:, pairs[:, 1], pairs[:, 0]] = wins[:, :, 1]
    compared = beaten + beaten.transpose(0, 2, 1)
    won = beaten.sum(axis=2)
    theta = np.zeros((len(wins), n_systems))
    step = np.full(len(wins), np.inf)
    diagonal = np.arange(n_systems)
    for _ in range(MAX_STEPS):
        chance = scipy.special.expit(theta[:, :, None] - theta[:, None, :])
        gradient = won - (compared * chance).sum(axis=2)
        information = -compared * chance * (1 - chance)
        information[:, diagonal, diagonal] = -information.sum(axis=2)
        # Strengths are determined up to a constant; the added matrix fixes it without changing the step.
        move = np.linalg.solve(information + 1.0, gradient[:, :, None])[:, :, 0]
        step = np.abs(move).max(axis=1)
        theta += move * np.minimum(1.0, MAX_STEP / np.maximum(step, TOLERANCE))[:, None]
        if step.max() < TOLERANCE:
            break
    theta[step >= TOLERANCE] = np.nan
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def no_strengths(
    data: Comparisons,
    names: tuple[str, ...],
    reason: str,
    left_out: tuple[LeftOut, ...],
    resample: ResampleSpec,
    *,
    unit: str,
) -> tuple[Strength, ...]:
    """Of each system the number of its comparisons, and why it has no strength."""
    nothing = (
        undefined(reason, n=int(n), unit=unit, level=resample.level, left_out=left_out) for n in data.n
    )
    return tuple(Strength(name, each, each, each) for name, each in zip(names, nothing, strict=True))


def why_undefined(data: Comparisons, names: tuple[str, ...]) -> str:
    """Why these systems have no strengths, as a sentence; empty where they have."""
    if len(names) < 3:
        return "Strengths need more than two systems."
    group = connected(data.pairs[:, 0], data.pairs[:, 1], len(names))
    if not group.any():
        return ""
    apart = names[int(np.flatnonzero(group != group[0])[0])]
    return f"{names[0]} and {apart} were never compared, neither directly nor through other systems."


def never_beaten(data: Comparisons, names: tuple[str, ...]) -> str:
    """Why strengths have no interval: some systems never lost to the others, so that only the prior holds them."""
    import scipy

    won = data.wins.sum(axis=0).reshape(-1, 2)
    winner = np.concatenate([data.pairs[won[:, 0] > 0, 0], data.pairs[won[:, 1] > 0, 1]])
    loser = np.concatenate([data.pairs[won[:, 0] > 0, 1], data.pairs[won[:, 1] > 0, 0]])
    edges = scipy.sparse.coo_array((np.ones(len(winner)), (loser, winner)), shape=(len(names), len(names)))
    groups, group = scipy.sparse.csgraph.connected_components(edges, directed=True, connection="strong")
    if groups == 1:
        return ""
    leaves = np.unique(group[loser[group[loser] != group[winner]]])
    top = np.setdiff1d(group, leaves)
    leading = [name for name, of in zip(names, group, strict=True) if of in top]
    unbeaten, others = ", ".join(leading), "any other system" if len(leading) == 1 else "any of the others"
    return f"{unbeaten} never lost to {others}, so strengths have no upper limit and no interval."


def strengths_of(
    data: Comparisons,
    names: tuple[str, ...],
    prior: float,
    left_out: tuple[LeftOut, ...],
    resample: ResampleSpec,
    rng: np.random.Generator,
    *,
    unit: str,
) -> tuple[Strength, ...]:
    """The strengths that maximise the likelihood of the comparisons and of `prior` ties, strongest first; a `unit` in
    the plural is what `n` counts."""
    per_side = prior / len(data.pairs) / 2

    values = fit_strengths(data.pairs, data.wins.sum(axis=0).reshape(1, -1, 2) + per_side, len(names))[0]
    n_queries = data.wins.shape[0]
    moves = leave_out_queries(data, values, per_side)
    covariance = moves.covariance()
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0)) if n_queries > 1 else np.full(len(values), np.nan)
    found = Jackknife(values, error, n_queries, n_queries)
    apart = never_beaten(data, names)
    ranks = 1 + (values[None, :] > values[:, None] + SAME_STRENGTH).sum(axis=1)
    drawn = moves.drawn(rng, resample.replicates)
    strengths = []
    for position in strongest_first(values):
        n = int(data.n[position])
        score = estimate_from(
            values[position],
            found.error[position],
            found,
            n=n,
            unit=unit,
            level=resample.level,
            left_out=left_out,
        )
        if apart:
            score = replace(score, low=None, high=None, method="", undefined=apart)
        rank = _rank_estimate(
            int(position), float(ranks[position]), values, covariance, drawn, score, n_queries
        )
        strengths.append(Strength(names[position], score, _win_probability(score), rank))
    return tuple(strengths)


def strongest_first(values: Floats) -> Ints:
    """Positions (k,) in descending order of `values`; those that differ by rounding alone stay as they are."""
    return np.argsort(-np.round(values / SAME_STRENGTH), kind="stable")


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves of the strengths by each query, in a Newton step from where they are without it: `pull` (q, k), of the
    systems that it compares, times `spread` (k, k), by which a pull at one system moves all others."""

    pull: scipy.sparse.csr_array
    spread: Floats

    def covariance(self) -> Floats:
        """The jackknife's covariances (k, k) of the strengths."""
        queries = self.pull.shape[0]
        mean = np.asarray(self.pull.sum(axis=0)) / queries
        squares = (self.pull.T @ self.pull).toarray() - queries * np.outer(mean, mean)
        return np.asarray((queries - 1) / queries * self.spread @ squares @ self.spread)

    def drawn(self, rng: np.random.Generator, replicates: int) -> Floats:
        """Deviations (r, k) of the strengths in resamples of the queries: a query that is drawn twice moves them once
        more, and one that is not drawn takes its move back."""
        queries, k = self.pull.shape
        pulls = [(drawn - 1) @ self.pull for drawn in draw_queries(queries, rng=rng, replicates=replicates)]
        return np.asarray(np.concatenate([np.zeros((0, k)), *pulls]) @ self.spread)


def leave_out_queries(data: Comparisons, values: Floats, per_side: float) -> Moves:
    """A query compares few of many systems: only among these is the step solved, by the formula of Sherman, Morrison
    and Woodbury."""
    import scipy

    k, m, n_queries = len(values), len(data.pairs), data.wins.shape[0]
    one, two = data.pairs.T
    chance = scipy.special.expit(values[one] - values[two])
    variance = chance * (1 - chance)
    compared = np.asarray(data.wins.sum(axis=0)).reshape(m, 2).sum(axis=1) + 2 * per_side
    information = np.zeros((k, k))
    information[one, two] = information[two, one] = -compared * variance
    np.fill_diagonal(information, -information.sum(axis=1))
    # Strengths are determined up to a constant; the added matrix fixes it without changing the step.
    spread: Floats = np.asarray(np.linalg.inv(information + 1.0), dtype=np.float64)

    wins = data.wins.tocoo()
    table = scipy.sparse.csr_array((wins.data, (wins.row, wins.col // 2)), shape=(n_queries, m)).tocoo()
    first = wins.col % 2 == 0
    won = scipy.sparse.csr_array(
        (wins.data[first], (wins.row[first], wins.col[first] // 2)), shape=(n_queries, m)
    )
    query, pair, judged = table.row, table.col, table.data
    pulled = np.asarray(won[query, pair]).ravel() - judged * chance[pair]
    weight = judged * variance[pair]
    # The systems of a query are numbered from 0.
    keys, code = np.unique(
        np.concatenate([query * k + one[pair], query * k + two[pair]]), return_inverse=True
    )
    of_query, system = np.divmod(keys, k)
    begin = np.searchsorted(of_query, np.arange(n_queries + 1))
    at_one, at_two = np.split(code, 2)
    pull = np.zeros(len(keys))
    for size in np.unique(np.diff(begin)):
        for rows in _batches(np.flatnonzero(np.diff(begin) == size), BATCH_CELLS // max(1, int(size) ** 2)):
            mine = np.full(n_queries, -1)
            mine[rows] = np.arange(len(rows))
            here = np.flatnonzero(mine[query] >= 0)
            row, i, j = (
                mine[query[here]],
                at_one[here] - begin[query[here]],
                at_two[here] - begin[query[here]],
            )
            taken, gradient = np.zeros((len(rows), size, size)), np.zeros((len(rows), size))
            for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                np.add.at(taken, (row, a, b), sign * weight[here])
            np.add.at(gradient, (row, i), pulled[here])
            np.add.at(gradient, (row, j), -pulled[here])
            at = begin[rows][:, None] + np.arange(size)
            among = spread[system[at][:, :, None], system[at][:, None, :]]
            solved = np.linalg.solve(np.eye(size) - taken @ among, gradient[:, :, None])
            pull[at] = solved[:, :, 0]
    return Moves(scipy.sparse.csr_array((pull, (of_query, system)), shape=(n_queries, k)), spread)


def _batches(rows: Ints, size: int) -> Iterator[Ints]:
    for start in range(0, len(rows), max(1, size)):
        yield rows[start : start + max(1, size)]


def _rank_limits(
    system: int, values: Floats, covariance: Floats, drawn: Floats, level: float
) -> tuple[float, float]:
    """The ranks that simultaneous intervals of the system's differences to all others leave open: below those that are
    stronger by theirs, above those that are weaker (Mogstad, Romano, Shaikh and Wilhelm 2024).

    They are as wide as the largest of the differences, each in its standard error, varies over resamples.
    """
    others = np.flatnonzero(np.arange(len(values)) != system)
    gap = values[others] - values[system]
    squared = covariance[others, others] + covariance[system, system] - 2 * covariance[others, system]
    error = np.sqrt(np.maximum(squared, 0.0))
    varies = error > SAME_STRENGTH
    off = np.abs(drawn[:, others] - drawn[:, [system]])[:, varies] / error[varies]
    reach = np.quantile(off.max(axis=1, initial=0), level, method="higher") * error + SAME_STRENGTH
    return 1.0 + (gap > reach).sum(), float(len(values) - (gap < -reach).sum())


def _rank_estimate(
    system: int,
    rank: float,
    values: Floats,
    covariance: Floats,
    drawn: Floats,
    score: Estimate,
    queries: int,
) -> Estimate:
    if queries < 2 or not len(drawn):
        reason = ONE_QUERY if queries < 2 else "No replicates were drawn."
        return replace(score, value=rank, low=None, high=None, method="", undefined=reason)
    low, high = _rank_limits(system, values, covariance, drawn, score.level)
    method = (
        f"simultaneous intervals of differences to the others, bootstrap over {queries:,} queries, "
        f"{len(drawn):,} replicates"
    )
    return replace(score, value=rank, low=low, high=high, method=method, undefined="")


def _win_probability(score: Estimate) -> Estimate:
    import scipy

    def chance(strength: float | None) -> float | None:
        return None if strength is None else float(scipy.special.expit(strength))

    return replace(score, value=chance(score.value), low=chance(score.low), high=chance(score.high))

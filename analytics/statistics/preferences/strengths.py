"""Log-strengths of systems from comparisons of pairs of them, with intervals over queries and ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, undefined
from analytics.statistics.core.jackknife import CHUNK_BYTES, Jackknife, error_of
from analytics.statistics.core.resampling import ONE_QUERY, ResampleSpec, draw_queries, estimate_from
from analytics.statistics.core.tidy import Floats, Ints

if TYPE_CHECKING:
    import scipy

MAX_STEPS = 200
MAX_STEP = 2.0
TOLERANCE = 1e-9
BATCH_CELLS = 2_000_000
"""Cells of the win matrices that are solved at once, about 16 MB for each array of the solver."""
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
    import scipy

    n = len(names)
    if n < 3:
        return "Strengths need more than two systems."
    edges = scipy.sparse.coo_array((np.ones(len(data.pairs)), data.pairs.T), shape=(n, n))
    groups, group = scipy.sparse.csgraph.connected_components(edges, directed=False)
    if groups == 1:
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

    def fit(wins: Floats) -> Floats:
        return fit_strengths(data.pairs, wins.reshape(-1, len(data.pairs), 2) + per_side, len(names))

    values = fit(data.wins.sum(axis=0))[0]
    n_queries = data.wins.shape[0]
    moves = _moves(data, values, per_side)
    error = error_of(moves) if n_queries > 1 else np.full(len(values), np.nan)
    found = Jackknife(values, error, n_queries, n_queries)
    apart = never_beaten(data, names)
    ranks = 1 + (values[None, :] > values[:, None] + SAME_STRENGTH).sum(axis=1)
    drawn = _drawn_strengths(data, fit, rng, resample.replicates)
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
        rank = _rank_estimate(int(position), float(ranks[position]), values, moves, drawn, score)
        strengths.append(Strength(names[position], score, _win_probability(score), rank))
    return tuple(strengths)


def strongest_first(values: Floats) -> Ints:
    """Positions (k,) in descending order of `values`; those that differ by rounding alone stay as they are."""
    return np.argsort(-np.round(values / SAME_STRENGTH), kind="stable")


def _moves(data: Comparisons, values: Floats, per_side: float) -> Floats:
    """Moves (q, k) of the strengths in a Newton step without each query."""
    import scipy

    k, m, n_queries = len(values), len(data.pairs), data.wins.shape[0]
    if n_queries < 2:
        return np.zeros((n_queries, k))
    design = np.zeros((m, k))
    design[np.arange(m), data.pairs[:, 0]], design[np.arange(m), data.pairs[:, 1]] = 1, -1
    outer = (design[:, :, None] * design[:, None, :]).reshape(m, k * k)
    chance = scipy.special.expit(design @ values)
    variance = chance * (1 - chance)
    compared = data.wins.sum(axis=0).reshape(m, 2).sum(axis=1) + 2 * per_side
    # Strengths are determined up to a constant; the added matrix fixes it without changing the step.
    information = ((compared * variance) @ outer).reshape(k, k) + 1.0
    moves = np.empty((n_queries, k))
    rows = max(1, CHUNK_BYTES // (8 * max(k * k, 2 * m)))
    for start in range(0, n_queries, rows):
        wins = data.wins[start : start + rows].toarray().reshape(-1, m, 2)
        judged = wins.sum(axis=2)
        gradient = (wins[:, :, 0] - judged * chance) @ design
        without = information - ((judged * variance) @ outer).reshape(-1, k, k)
        moves[start : start + rows] = np.linalg.solve(without, gradient[:, :, None])[:, :, 0]
    return moves


def _drawn_strengths(
    data: Comparisons, fit: Callable[[Floats], Floats], rng: np.random.Generator, replicates: int
) -> Floats:
    """Strengths (r, k) in resamples of the queries, without those in which the fit does not converge."""
    k, n_queries = len(data.systems), data.wins.shape[0]
    samples = [np.zeros((0, k))]
    batch = max(1, BATCH_CELLS // k**2)
    for drawn in draw_queries(n_queries, rng=rng, replicates=replicates):
        wins = drawn @ data.wins
        samples += [fit(wins[start : start + batch]) for start in range(0, len(wins), batch)]
    strengths = np.concatenate(samples)
    return strengths[np.isfinite(strengths).all(axis=1)]


def _rank_limits(
    system: int, values: Floats, moves: Floats, drawn: Floats, level: float
) -> tuple[float, float]:
    """The ranks that simultaneous intervals of the system's differences to all others leave open: below those that are
    stronger by theirs, above those that are weaker (Mogstad, Romano, Shaikh and Wilhelm 2024).

    They are as wide as the largest of the differences, each in its standard error, varies over resamples.
    """
    others = np.flatnonzero(np.arange(len(values)) != system)
    gap = values[others] - values[system]
    error = error_of(moves[:, others] - moves[:, [system]])
    varies = error > SAME_STRENGTH
    off = np.abs(drawn[:, others] - drawn[:, [system]] - gap)[:, varies] / error[varies]
    reach = np.quantile(off.max(axis=1, initial=0), level, method="higher") * error + SAME_STRENGTH
    return 1.0 + (gap > reach).sum(), float(len(values) - (gap < -reach).sum())


def _rank_estimate(
    system: int, rank: float, values: Floats, moves: Floats, drawn: Floats, score: Estimate
) -> Estimate:
    if len(moves) < 2 or not len(drawn):
        reason = ONE_QUERY if len(moves) < 2 else "No replicates were drawn."
        return replace(score, value=rank, low=None, high=None, method="", undefined=reason)
    low, high = _rank_limits(system, values, moves, drawn, score.level)
    method = (
        f"simultaneous intervals of differences to the others, bootstrap over {len(moves):,} queries, "
        f"{len(drawn):,} replicates"
    )
    return replace(score, value=rank, low=low, high=high, method=method, undefined="")


def _win_probability(score: Estimate) -> Estimate:
    import scipy

    def chance(strength: float | None) -> float | None:
        return None if strength is None else float(scipy.special.expit(strength))

    return replace(score, value=chance(score.value), low=chance(score.low), high=chance(score.high))

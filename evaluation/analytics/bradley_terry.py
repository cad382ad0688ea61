"""Bradley-Terry strengths of three systems or more, with intervals over queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from evaluation.analytics.estimates import Estimate, LeftOut, ParameterError, present, undefined
from evaluation.analytics.resampling import ResampleSpec, estimate_from, resample_weights
from evaluation.analytics.tidy import Cell, Floats, Ints, Items, Judgments, check_items
from evaluation.analytics.win_rates import NO_USABLE_JUDGMENT, item_scores

SELF_PAIRS = "items that compare a system with itself"
MAX_STEPS = 200
MAX_STEP = 2.0
TOLERANCE = 1e-9
BATCH_CELLS = 2_000_000
"""Cells of the win matrices that are solved at once, about 16 MB for each array of the solver."""


@dataclass(frozen=True)
class Strength:
    """A system's log-strength, centred at 0 over the systems, and its chance to beat an average one."""

    system: str
    score: Estimate
    win_probability: Estimate


@dataclass(frozen=True)
class BradleyTerry:
    """Strengths of the systems of one cell, strongest first; `undefined` says why there are none."""

    arm: str | None
    category: str | None
    prior: float
    strengths: tuple[Strength, ...]
    undefined: str = ""


@dataclass(frozen=True, eq=False)
class _Comparisons:
    """Who was compared with whom: systems (codes), pairs (m, 2) as positions in them, wins by query.

    `wins` is sparse, one row per query and two columns per pair: what the first and what the second won.
    """

    systems: Ints
    pairs: Ints
    wins: scipy.sparse.csr_array
    n_items: int


def bradley_terry(
    items: Items,
    judgments: Judgments,
    *,
    resample: ResampleSpec,
    by: Sequence[str] = ("arm",),
    prior: float = 0.5,
) -> tuple[BradleyTerry, ...]:
    """Bradley-Terry strengths for each cell of `by` ("arm", "category") (Bradley and Terry 1952).

    An item is one comparison, divided between its systems by the mean score of its judgments: ties are
    half wins, probabilities count as such. `prior` wins are added to both sides of every pair that was
    compared, so that a system that never loses keeps a finite strength. Undefined for two systems (their
    win rate says it all) and where some systems are not connected by comparisons.
    """
    if prior <= 0:
        raise ParameterError("The prior must be positive, or strengths may be infinite.")
    if "pair" in by:
        raise ParameterError("Strengths can be divided by arm and category only.")
    check_items(items, judgments)
    scores = item_scores(judgments, len(items))
    return tuple(
        _of_cell(cell, items.take(index), scores[index], prior, resample) for cell, index in items.cells(by)
    )


def fit_strengths(pairs: Ints, wins: Floats, n_systems: int) -> Floats:
    """Maximum-likelihood log-strengths, centred at 0, shape (r, n_systems), nan where not converged.

    `pairs` (m, 2) are positions of systems, `wins` (r, m, 2) what either side won, all of it positive on a
    connected graph. Newton's method from equal strengths, its steps limited, on all replicates at once.
    """
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


def _of_cell(cell: Cell, items: Items, scores: Floats, prior: float, resample: ResampleSpec) -> BradleyTerry:
    usable = np.isfinite(scores[:, 0])
    itself = items.system_1 == items.system_2
    left_out = present(
        {
            NO_USABLE_JUDGMENT: int(np.count_nonzero(~usable)),
            SELF_PAIRS: int(np.count_nonzero(usable & itself)),
        }
    )
    used = usable & ~itself
    data = _comparisons(items.where(used), scores[used])
    names = tuple(items.systems[code] for code in data.systems)
    if reason := _why_undefined(data, names):
        nothing = undefined(reason, n=data.n_items, level=resample.level, left_out=left_out)
        strengths = tuple(Strength(name, nothing, nothing) for name in names)
        return BradleyTerry(cell.arm, cell.category, prior, strengths, reason)
    strengths = _strengths(data, names, prior, left_out, resample)
    return BradleyTerry(cell.arm, cell.category, prior, strengths)


def _comparisons(items: Items, scores: Floats) -> _Comparisons:
    codes = np.stack([items.system_1, items.system_2], axis=1).astype(np.int64)
    systems = np.unique(codes)
    pair = items.pair
    pairs = np.zeros((len(items.pairs), 2), dtype=np.int64)
    pairs[pair] = np.searchsorted(systems, codes)
    queries, row = np.unique(items.query, return_inverse=True)
    wins = scipy.sparse.csr_array(
        (scores.ravel(), (np.repeat(row, 2), np.stack([2 * pair, 2 * pair + 1], axis=1).ravel())),
        shape=(len(queries), 2 * len(pairs)),
    )
    return _Comparisons(systems, pairs, wins, len(items))


def _why_undefined(data: _Comparisons, names: tuple[str, ...]) -> str:
    n = len(names)
    if n < 3:
        return "Strengths need more than two systems."
    edges = scipy.sparse.coo_array((np.ones(len(data.pairs)), data.pairs.T), shape=(n, n))
    groups, group = scipy.sparse.csgraph.connected_components(edges, directed=False)
    if groups == 1:
        return ""
    apart = names[int(np.flatnonzero(group != group[0])[0])]
    return f"{names[0]} and {apart} were never compared, neither directly nor through other systems."


def _strengths(
    data: _Comparisons,
    names: tuple[str, ...],
    prior: float,
    left_out: tuple[LeftOut, ...],
    resample: ResampleSpec,
) -> tuple[Strength, ...]:
    n_queries = data.wins.shape[0]
    shape = (-1, len(data.pairs), 2)

    def fit(wins: Floats) -> Floats:
        return fit_strengths(data.pairs, wins.reshape(shape) + prior, len(names))

    values = fit(data.wins.sum(axis=0))[0]
    samples = [np.zeros((0, len(names)))]
    if n_queries > 1:
        ones = np.ones(n_queries, dtype=np.int64)
        batch = max(1, BATCH_CELLS // len(names) ** 2)
        for drawn in resample_weights(ones, rng=resample.rng, replicates=resample.replicates):
            wins = drawn @ data.wins
            samples += [fit(wins[start : start + batch]) for start in range(0, len(wins), batch)]
    replicates = np.concatenate(samples)

    def estimate(value: float, drawn: Floats) -> Estimate:
        return estimate_from(
            value,
            drawn,
            n=data.n_items,
            unit="items",
            units=n_queries,
            level=resample.level,
            left_out=left_out,
        )

    return tuple(
        Strength(
            names[position],
            estimate(values[position], replicates[:, position]),
            estimate(scipy.special.expit(values[position]), scipy.special.expit(replicates[:, position])),
        )
        for position in np.argsort(-values, kind="stable")
    )

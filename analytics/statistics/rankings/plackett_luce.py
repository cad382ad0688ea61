"""Plackett-Luce worths from rankings, whole or partial, with intervals over queries.

Source: Luce (1959) and Plackett (1975): a ranking is a row of choices, each of the best of what is left, with chances
in proportion to the systems' worths. AGENT-CQ has people rank questions so (appendix C).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, ParameterError, present, undefined
from analytics.statistics.core.jackknife import CHUNK_BYTES, Jackknife, error_of
from analytics.statistics.core.resampling import ResampleSpec, estimate_from
from analytics.statistics.core.tidy import Bools, Floats, Ints, distinct
from analytics.statistics.preferences.strengths import (
    MAX_STEP,
    MAX_STEPS,
    TOLERANCE,
    Comparisons,
    never_beaten,
    strongest_first,
    why_undefined,
)
from analytics.statistics.rankings.ranked_strengths import compared_in_pairs
from analytics.statistics.rankings.ranks import Ranks

if TYPE_CHECKING:
    import scipy

UNIT = "rankings"
TIED = "rankings with equals above the last place"
REPEATED = "rankings of several responses of one system"
SINGLE = "rankings of a single response"
# Sets of systems are bits of a number.
MOST_SYSTEMS = 60


@dataclass(frozen=True)
class Worth:
    """A system's log-worth, centred at 0 over the systems, and its chance to be ranked first among all of them.

    `n` of each estimate is the number of rankings that have the system.
    """

    system: str
    score: Estimate
    first: Estimate


@dataclass(frozen=True)
class PlackettLuce:
    """Worths, highest first; `undefined` says why there are none. `prior` is the number of imagined ties."""

    prior: float
    worths: tuple[Worth, ...]
    n: int
    left_out: tuple[LeftOut, ...]
    undefined: str = ""


@dataclass(frozen=True, eq=False)
class _Choices:
    """The rows of choices: `member` (m, k) says which systems each distinct set has, `sets` (q, m) how often each query
    chose from it, `chosen` (q, k) how often each system was chosen; `prior` (m,) imagined choices from each set, and
    `held` (k,) how many of these went to each system."""

    member: Floats
    sets: scipy.sparse.csr_array
    chosen: Floats
    prior: Floats
    held: Floats


def plackett_luce(
    ranks: Ranks, systems: Sequence[str], *, resample: ResampleSpec, prior: float = 1.0
) -> PlackettLuce:
    """Worths of the `systems` (names by code) that rankings have.

    A ranking may have some of the systems only; equals in the last place are a partial ranking, whose last choices are
    not known. Rankings with other equals, or with two responses of one system, are left out and counted. `prior` ties
    in all are added, an equal part to each two systems that were ranked together, so that a system that is always first
    keeps a finite worth. Standard errors leave out each query in one Newton step from the fit. Undefined for two
    systems, and where some were never ranked together, directly or through others; where one never came behind another,
    worths have no interval. Raises ParameterError for a prior that is not positive.
    """
    if prior <= 0:
        raise ParameterError("The prior must be positive, or worths may be infinite.")
    used, left_out = _usable(ranks)
    # Rows are checked anew where some are left out, which takes seconds of a million rankings.
    ranks = ranks if used.all() else ranks.where(used)
    data, _ = compared_in_pairs(ranks, resample.rng("plackett-luce"))
    names, n = tuple(systems[code] for code in data.systems), ranks.n_judgments
    reason = why_undefined(data, names)
    if not reason and len(names) > MOST_SYSTEMS:
        reason = f"Worths are computed of up to {MOST_SYSTEMS} systems."
    if reason:
        nothing = undefined(reason, unit=UNIT, level=resample.level, left_out=left_out)
        return PlackettLuce(
            prior, tuple(Worth(each, nothing, nothing) for each in names), n, left_out, reason
        )
    return PlackettLuce(prior, _worths(ranks, data, names, prior, left_out, resample), n, left_out)


def fit_worths(choices: Ints | Floats, member: Floats, chosen: Floats) -> Floats:
    """Log-worths (k,), centred at 0, of so many `choices` (m,) from sets with `member` (m, k).

    `chosen` (k,) is how often each system was. The maximum of the likelihood, by Newton's method from equal worths with
    steps limited; nan where it does not converge.
    """
    theta, step = np.zeros(member.shape[1]), np.inf
    for _ in range(MAX_STEPS):
        chance = _chances(member, theta)
        information = _information(choices[None, :], chance)[0]
        # Worths are determined up to a constant; the added matrix fixes it without changing the step.
        move = np.linalg.solve(information + 1.0, chosen - choices @ chance)
        step = float(np.abs(move).max())
        theta = theta + move * min(1.0, MAX_STEP / max(step, TOLERANCE))
        if step < TOLERANCE:
            return np.asarray(theta - theta.mean())
    return np.full(len(theta), np.nan)


def _usable(ranks: Ranks) -> tuple[Bools, tuple[LeftOut, ...]]:
    """Rows (n,) of the rankings that the model is of, and the others by reason."""
    import pandas as pd

    code, n = ranks.judgment_code, ranks.n_judgments
    last = np.zeros(n)
    np.maximum.at(last, code, ranks.rank)
    order = _by_rank(ranks)
    same = (code[order][1:] == code[order][:-1]) & (ranks.rank[order][1:] == ranks.rank[order][:-1])
    above = order[1:][same & (ranks.rank[order][1:] < last[code[order][1:]])]
    tied = np.bincount(code[above], minlength=n) > 0
    pair = code * (int(ranks.system.max(initial=0)) + 1) + ranks.system
    repeated = np.bincount(code[pd.Series(pair).duplicated().to_numpy()], minlength=n) > 0
    single = np.bincount(code, minlength=n) < 2
    parts = {
        SINGLE: int(single.sum()),
        REPEATED: int((repeated & ~single).sum()),
        TIED: int((tied & ~repeated).sum()),
    }
    return ~(tied | repeated | single)[code], present(parts)


def _by_rank(ranks: Ranks) -> Ints:
    """The rows' order by ranking and rank, which are whole or half numbers."""
    steps = 2 * int(ranks.size.max(initial=0)) + 1
    return np.argsort(ranks.judgment_code * steps + np.round(2 * ranks.rank).astype(np.int64), kind="stable")


def _choices(ranks: Ranks, data: Comparisons, prior: float) -> _Choices:
    import scipy

    order = _by_rank(ranks)
    code, rank = ranks.judgment_code[order], ranks.rank[order]
    system = np.searchsorted(data.systems, ranks.system[order])
    queries, _, query = distinct(ranks.query[order])
    bits = np.left_shift(np.int64(1), system.astype(np.int64))
    # What is left at a choice: all of the ranking's systems but those chosen before.
    whole = np.zeros(ranks.n_judgments, dtype=np.int64)
    np.add.at(whole, code, bits)
    before = np.cumsum(bits) - bits
    begin = np.zeros(ranks.n_judgments, dtype=np.int64)
    begin[code[::-1]] = before[::-1]
    left = whole[code] - (before - begin[code])
    last = np.zeros(ranks.n_judgments)
    np.maximum.at(last, code, rank)
    made = rank < last[code]
    k = len(data.systems)
    pair_bits = np.left_shift(np.int64(1), data.pairs).sum(axis=1)
    masks = np.unique(np.concatenate([left[made], pair_bits]))
    member = ((masks[:, None] >> np.arange(k)) & 1).astype(np.float64)
    at = np.searchsorted(masks, left[made])
    sets = scipy.sparse.csr_array((np.ones(len(at)), (query[made], at)), shape=(len(queries), len(masks)))
    chosen = np.bincount(query[made] * k + system[made], minlength=len(queries) * k).reshape(-1, k)
    part = prior / len(data.pairs)
    imagined = np.bincount(np.searchsorted(masks, pair_bits), minlength=len(masks)).astype(np.float64) * part
    held = np.bincount(data.pairs.ravel(), minlength=k).astype(np.float64) * part / 2
    return _Choices(member, sets, chosen.astype(np.float64), imagined, held)


def _chances(member: Floats, theta: Floats) -> Floats:
    weight = member * np.exp(theta - theta.max())
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _information(choices: Floats | Ints, chance: Floats) -> Floats:
    """Information (r, k, k) of choices (r, m) from sets in which systems have such chances (m, k)."""
    across = np.einsum("rm,mi,mj->rij", choices, chance, chance, optimize=True)
    found = -across
    diagonal = np.arange(chance.shape[1])
    found[:, diagonal, diagonal] += choices @ chance
    return np.asarray(found)


def _worths(
    ranks: Ranks,
    data: Comparisons,
    names: tuple[str, ...],
    prior: float,
    left_out: tuple[LeftOut, ...],
    resample: ResampleSpec,
) -> tuple[Worth, ...]:
    choices = _choices(ranks, data, prior)
    totals = np.asarray(choices.sets.sum(axis=0)) + choices.prior
    theta = fit_worths(totals, choices.member, choices.chosen.sum(axis=0) + choices.held)
    moves = _moves(choices, theta, totals)
    first = _softmax(theta[None, :])[0]
    n_queries = len(choices.chosen)
    several = n_queries > 1
    errors = [
        error_of(each) if several else np.full(len(names), np.nan)
        for each in (moves, _softmax(theta - moves) - first)
    ]
    apart = never_beaten(data, names)
    times = np.bincount(np.searchsorted(data.systems, ranks.system), minlength=len(names))
    made = []
    for at in strongest_first(theta):
        score, chance = (
            estimate_from(
                float(value[at]),
                float(error[at]),
                Jackknife(value, error, n_queries, n_queries),
                n=int(times[at]),
                unit=UNIT,
                level=resample.level,
                left_out=left_out,
                scale="plain" if value is theta else "share",
            )
            for value, error in zip((theta, first), errors, strict=True)
        )
        if apart:
            score, chance = (
                replace(each, low=None, high=None, method="", undefined=apart, note="")
                for each in (score, chance)
            )
        made.append(Worth(names[at], score, chance))
    return tuple(made)


def _moves(choices: _Choices, theta: Floats, totals: Floats) -> Floats:
    """The Newton step (q, k) from the fit that leaving out each query takes back."""
    chance = _chances(choices.member, theta)
    information = _information(totals[None, :], chance)[0] + 1.0
    n_queries, k = choices.chosen.shape
    moves = np.zeros((n_queries, k))
    rows = max(1, CHUNK_BYTES // (8 * max(k * k, choices.member.shape[0])))
    for start in range(0, n_queries, rows):
        part = choices.sets[start : start + rows].toarray()
        gradient = choices.chosen[start : start + rows] - part @ chance
        without = information - _information(part, chance)
        moves[start : start + rows] = np.linalg.solve(without, gradient[:, :, None])[:, :, 0]
    return moves


def _softmax(theta: Floats) -> Floats:
    weight = np.exp(theta - theta.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))

"""Bradley-Terry strengths from rankings: every two responses of a ranking are one comparison of their systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analytics.statistics.core.estimates import LeftOut, ParameterError, present
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints, distinct
from analytics.statistics.preferences.strengths import (
    Comparisons,
    Strength,
    no_strengths,
    strengths_of,
    why_undefined,
)
from analytics.statistics.rankings.ranks import Ranks

if TYPE_CHECKING:
    import scipy

UNIT = "comparisons"
MOST_DENSE = 2**22
OF_ITSELF = "comparisons of two responses of one system"


@dataclass(frozen=True)
class RankedStrengths:
    """Strengths, strongest first; `undefined` says why there are none. `prior` is the number of imagined ties."""

    prior: float
    strengths: tuple[Strength, ...]
    left_out: tuple[LeftOut, ...]
    undefined: str = ""


def ranked_strengths(
    ranks: Ranks, systems: Sequence[str], *, resample: ResampleSpec, prior: float = 1.0
) -> RankedStrengths:
    """Strengths of the `systems` (names by code) that rankings have; equals are half a win for each.

    A ranking of k responses is k (k - 1) / 2 comparisons. They depend on each other, which the errors, robust within a
    query, allow for; but they pull strengths towards each other or apart, where raters don't rank as the model has it.
    Raises ParameterError for a prior that is not positive.
    """
    if prior <= 0:
        raise ParameterError("The prior must be positive, or strengths may be infinite.")
    rng = resample.rng("ranked")
    data, dropped = compared_in_pairs(ranks, rng)
    names = tuple(systems[code] for code in data.systems)
    left_out = present({OF_ITSELF: dropped})
    if reason := why_undefined(data, names):
        none = no_strengths(data, names, reason, left_out, resample, unit=UNIT)
        return RankedStrengths(prior, none, left_out, reason)
    found = strengths_of(data, names, prior, left_out, resample, rng, unit=UNIT)
    return RankedStrengths(prior, found, left_out)


def compared_in_pairs(ranks: Ranks, rng: np.random.Generator) -> tuple[Comparisons, int]:
    """The comparisons that rankings make, and how many of a system with itself they do not."""
    import scipy

    systems, _, code = distinct(ranks.system)
    queries, _, query = distinct(ranks.query)
    k = len(systems)
    shape, dropped = (len(queries), k * k), 0
    # A dense table is filled in a fraction of the time, where there is room for it.
    wins = np.zeros(shape) if shape[0] * shape[1] <= MOST_DENSE else scipy.sparse.csr_array(shape)
    for at_one, at_two in _pairs_of_rows(ranks):
        one, two = code[at_one], code[at_two]
        apart = one != two
        dropped += int(np.count_nonzero(~apart))
        rank_one, rank_two = ranks.rank[at_one][apart], ranks.rank[at_two][apart]
        credit = np.where(rank_one < rank_two, 1.0, np.where(rank_one > rank_two, 0.0, 0.5))
        row, cells = query[at_one][apart], (one[apart] * k + two[apart], two[apart] * k + one[apart])
        for cell, won in zip(cells, (credit, 1 - credit), strict=True):
            if isinstance(wins, np.ndarray):
                flat = np.bincount(row * k * k + cell, weights=won, minlength=wins.size)
                wins += flat.reshape(shape)
            else:
                wins = wins + scipy.sparse.csr_array((won, (row, cell)), shape=shape)
    return _comparisons(systems, scipy.sparse.csr_array(wins), k, rng), dropped


def _pairs_of_rows(ranks: Ranks) -> Iterator[tuple[Ints, Ints]]:
    """Rows of every two responses of a ranking, one distance between their places at a time."""
    order = np.argsort(ranks.judgment_code, kind="stable")
    judgment = ranks.judgment_code[order]
    for step in range(1, int(ranks.size.max(initial=1))):
        same = judgment[step:] == judgment[:-step]
        yield order[:-step][same], order[step:][same]


def _comparisons(
    systems: Ints, wins: scipy.sparse.csr_array, k: int, rng: np.random.Generator
) -> Comparisons:
    import scipy

    total: Floats = np.asarray(wins.sum(axis=0)).reshape(k, k)
    compared = total + total.T
    pairs = np.argwhere(np.triu(compared, 1) > 0)
    columns = np.stack([pairs[:, 0] * k + pairs[:, 1], pairs[:, 1] * k + pairs[:, 0]], axis=1).ravel()
    chosen = wins[:, columns] if len(pairs) else scipy.sparse.csr_array((wins.shape[0], 0))
    # Queries are drawn by position, so their order must not be that in which they came.
    order = np.argsort(chosen @ rng.random(2 * len(pairs)), kind="stable")
    return Comparisons(systems, pairs, chosen[order], np.round(compared.sum(axis=1)).astype(np.int64))

"""Simulated studies of a jury beside people, as AGENT-CQ has them: questions that are rated, preferred and ranked."""

import numpy as np
import numpy.typing as npt

from analytics.statistics.agreement.majorities import majority_agreement
from analytics.statistics.agreement.mean_kappa import mean_kappas
from analytics.statistics.associations.ordered import ordered_association
from analytics.statistics.rankings.plackett_luce import plackett_luce
from analytics.statistics.rankings.ranked_strengths import ranked_strengths
from analytics.statistics.rankings.ranks import Ranks
from analytics.statistics.rankings.scores_vs_ranks import scores_vs_ranks
from analytics.statistics.replacement.source_bias import source_bias
from benchmarks.simulated import (
    NO_TESTS,
    POINTS,
    RATERS,
    Design,
    Figures,
    counts_of,
    labels,
    no_replicates,
    of_query_and_item,
    on_points,
)

Floats = npt.NDArray[np.float64]
SYSTEMS = tuple("abcd")


def jury_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Three jurors and three people with more or less noise, on the same items."""
    query, shared, spec = (
        np.repeat(np.arange(queries), items),
        of_query_and_item(rng, queries, items),
        no_replicates(),
    )
    ours, theirs = (counts_of(labels(rng, shared + 0.3, noise)) for _ in range(2))
    majorities = majority_agreement(ours, theirs, query, resample=spec)
    n = len(query)
    rated = on_points(3.2 + shared[:, None] + noise * rng.standard_normal((n, RATERS)))
    overall = on_points(0.7 * rated + 1 + noise * rng.standard_normal((n, RATERS)))
    unit, rater = np.divmod(np.arange(n * RATERS), RATERS)
    codes = rated.ravel().astype(np.int64) - 1
    kappas = mean_kappas(
        unit, rater, codes, query[unit], POINTS, ("nominal", "linear", "quadratic"), resample=spec
    )
    beside = ordered_association(codes, overall.ravel().astype(np.int64) - 1, query[unit], resample=spec)
    by_model = np.arange(n) % 2 == 0 if items > 1 else rng.random(n) < 0.5
    gap = 0.3 * by_model + noise * rng.standard_normal(n) + 0.5 * rng.standard_normal(queries)[query]
    bias = source_bias(gap, by_model, query, resample=spec, tests=NO_TESTS, unit="responses")
    return {
        "mean kappa of three": kappas.kappas[0],
        "mean kappa, linear": kappas.kappas[1],
        "mean kappa, quadratic": kappas.kappas[2],
        "agreement of majorities": majorities.agreement,
        "kappa of majorities": majorities.kappa,
        "tau-b of two questions": beside.tau,
        "rho of two questions": beside.rho,
        "bias by source": bias.bias,
    }


def question_rankings(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Rankings of some of four systems' questions by three raters, more or less far apart, and scores of them."""
    n, k = queries * items, len(SYSTEMS)
    query = np.repeat(np.arange(queries), items)
    of_query = apart * np.arange(k, 0, -1) + 0.5 * rng.standard_normal((queries, k))
    seen = of_query[query][:, None] + rng.gumbel(size=(n, RATERS, k))
    # One system of four is missing in every third item.
    missing = np.where(np.arange(n) % 3 == 0, rng.integers(0, k, n), -1)
    seen[np.arange(n)[missing >= 0], :, missing[missing >= 0]] = -np.inf
    rank = np.argsort(np.argsort(-seen, axis=2), axis=2) + 1.0
    at = np.argwhere(np.isfinite(seen))
    ranks = Ranks(
        judgment=at[:, 0] * RATERS + at[:, 1],
        item=at[:, 0],
        query=query[at[:, 0]],
        rater=at[:, 1],
        response=at[:, 2],
        system=at[:, 2],
        rank=rank[tuple(at.T)],
        place=np.full(len(at), -1),
    )
    worths = {each.system: each for each in plackett_luce(ranks, SYSTEMS, resample=no_replicates()).worths}
    pairs = ranked_strengths(ranks, SYSTEMS, resample=no_replicates()).strengths
    [best] = (each for each in pairs if each.system == "a")
    cells = of_query + 0.7 * rng.standard_normal((queries, k))
    places = (
        np.argsort(np.argsort(-(of_query + 0.7 * rng.standard_normal((queries, k))), axis=1), axis=1) + 1.0
    )
    of_cell, system = np.divmod(np.arange(queries * k), k)
    held = scores_vs_ranks(cells.ravel(), places.ravel(), system, of_cell, resample=no_replicates())
    return {
        "Plackett-Luce, best system": worths["a"].score,
        "Plackett-Luce, chance of first": worths["a"].first,
        "Bradley-Terry from rankings": best.score,
        "tau-b of scores and ranks": held.tau,
        "kappa of places, quadratic": held.quadratic,
    }


JURIES: tuple[Design, ...] = (
    Design("juries", (1.5, 0.8, 0.3), jury_figures),
    Design("question rankings", (0.1, 0.5, 1.2), question_rankings),
)

"""The rule before, for `benchmarks.family_errors`: percentile bootstraps and t-tests, one by one, without correction.

Every function says whether a study has at least one such sentence.
"""

from itertools import combinations
from typing import Any

import numpy as np
import scipy

from analytics.figures.families import ALPHA
from analytics.statistics.agreement.percentage import item_agreement, majority
from analytics.statistics.core.resampling import divide
from analytics.statistics.core.tidy import Floats
from analytics.statistics.preferences.win_rates import item_scores
from analytics.statistics.rankings.friedman import friedman
from benchmarks.null_studies import Judged, counts_by_item

REPLICATES = 400


def _weights(n: int, rng: np.random.Generator) -> Floats:
    return rng.multinomial(n, np.full(n, 1 / n), size=REPLICATES).astype(np.float64)


def _votes(study: Judged) -> tuple[Floats, Floats]:
    """Votes (arms, pairs, queries) of the items' majorities, 1, -1 or 0, and whether there is a majority."""
    design, judgments = study.design, study.judgments
    label = majority(counts_by_item(judgments)).reshape(design.arms, len(design.pairs), design.queries)
    return (label == 0) * 1.0 - (label == 1), (label >= 0) * 1.0


def flip(study: Any, rng: np.random.Generator) -> bool:
    """Majorities differ, and the bootstrap of the margin's change leaves zero out."""
    votes, decided = _votes(study)
    weights = _weights(votes.shape[2], rng)
    margin = divide(votes.sum(axis=2), decided.sum(axis=2))
    drawn = divide(np.einsum("rq,apq->apr", weights, votes), np.einsum("rq,apq->apr", weights, decided))
    for one, other in combinations(range(len(votes)), 2):
        change = drawn[other] - drawn[one]
        tail = np.minimum((change <= 0).sum(axis=1), (change >= 0).sum(axis=1))
        p = 2 * (tail + 1) / (REPLICATES + 1)
        flat = np.ptp(change, axis=1) < 1e-12
        if ((margin[one] * margin[other] < 0) & (p < ALPHA) & ~flat).any():
            return True
    return False


def winner(study: Any, rng: np.random.Generator) -> bool:
    design, items, judgments = study.design, study.items, study.judgments
    scores = item_scores(judgments, len(items)).reshape(design.arms, len(design.pairs), design.queries, 2)
    weights = _weights(design.queries, rng)
    for arm in range(design.arms):
        for system in range(design.systems):
            sides = [(at, pair.index(system)) for at, pair in enumerate(design.pairs) if system in pair]
            means = np.mean([scores[arm, at, :, side] for at, side in sides], axis=0)
            if np.quantile(weights @ means / design.queries, ALPHA / 2) > 0.5:
                return True
    return False


def agreement(study: Any, rng: np.random.Generator) -> bool:
    design, judgments = study.design, study.judgments
    shares = item_agreement(counts_by_item(judgments)).reshape(design.arms, len(design.pairs), -1)
    gaps = (shares[1:] - shares[:1]).reshape(-1, design.queries)
    return bool((scipy.stats.ttest_1samp(gaps, 0, axis=1).pvalue < ALPHA).any())


def position(study: Any, rng: np.random.Generator) -> bool:
    items, judgments = study.items, study.judgments
    used = judgments.label < 2
    query = items.query[judgments.item][used]
    n = len(items.queries)
    wins = np.bincount(query, weights=judgments.label[used] == judgments.first[used], minlength=n)
    weights = _weights(n, rng)
    shares = weights @ wins / (weights @ np.bincount(query, minlength=n))
    low, high = np.quantile(shares, [ALPHA / 2, 1 - ALPHA / 2])
    return bool(low > 0.5 or high < 0.5)


def picked(picks: Any, rng: np.random.Generator) -> bool:
    systems, n = int(picks.system.max()) + 1, int(picks.query.max()) + 1
    weights = _weights(n, rng)
    shares = [
        np.bincount(picks.query, weights=picks.system == system, minlength=n) for system in range(systems)
    ]
    low = np.quantile(weights @ np.stack(shares, axis=1) / np.bincount(picks.query).sum(), ALPHA / 2, axis=0)
    return bool((low > 1 / systems).any())


def ranked(ranks: Any, rng: np.random.Generator) -> bool:
    p = friedman(ranks, unit="queries").p_value
    return p is not None and p < ALPHA


def rated(questions: Any, rng: np.random.Generator) -> bool:
    """The best system against each of the others by paired t-tests, times the number of those."""
    for values in questions:
        systems = int(values.system.max()) + 1
        cell = values.query * systems + values.system
        table = (np.bincount(cell, values.value) / np.bincount(cell)).reshape(-1, systems)
        best = int(table.mean(axis=0).argmax())
        p = [
            scipy.stats.ttest_rel(table[:, best], table[:, at]).pvalue for at in range(systems) if at != best
        ]
        if (systems - 1) * max(p) < ALPHA:
            return True
    return False

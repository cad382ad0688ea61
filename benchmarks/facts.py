"""Simulated studies of facts that responses state, of which more or fewer are relevant, for the coverage of shares."""

import numpy as np

from analytics.statistics.ratings.chosen_shares import ChosenAnswers, chosen_share
from benchmarks.simulated import RATERS, Design, Figures, no_replicates, of_query_and_item

MOST_FACTS = 8


def fact_figures(rng: np.random.Generator, queries: int, items: int, relevant: float) -> Figures:
    """Facts of an item, of which raters call a part relevant, and a part correct: where more is relevant, more is
    correct, so that the share over all and the mean of items' shares are two numbers."""
    shared = of_query_and_item(rng, queries, items)
    n_facts = rng.integers(1, MOST_FACTS + 1, size=len(shared))
    item = np.repeat(np.arange(len(shared)), n_facts)
    of_fact = shared[item] + rng.standard_normal(len(item))
    noise = rng.logistic(size=(2, len(item), RATERS))
    among = of_fact[:, None] + noise[0] > np.log((1 - relevant) / relevant)
    counted = 0.5 + 0.7 * of_fact[:, None] + noise[1] > 0
    row = np.repeat(item, RATERS)
    answers = ChosenAnswers(
        item=row,
        query=np.repeat(np.arange(queries), items)[row],
        among=among.ravel(),
        counted=counted.ravel().astype(np.float64),
    )
    found = chosen_share(answers, resample=no_replicates())
    return {"share among chosen, over all": found.pooled, "share among chosen, per item": found.per_item}


FACTS: tuple[Design, ...] = (Design("facts", (0.1, 0.5, 0.9), fact_figures),)

"""Simulated studies in which what raters answer moves along their own work, for the intervals of order effects.

Every rater has an order of their own over all items of the study. What they see of an item moves, more or less, from
the first to the last of them, and in some queries more than in others.
"""

import numpy as np

from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import FIRST, SECOND, TIE, Floats, Ints
from analytics.statistics.raters.order_effects import order_effect, share_of_others
from analytics.statistics.raters.times import THIRDS
from benchmarks.simulated import (
    NO_TESTS,
    POINTS,
    RATERS,
    Design,
    Figures,
    no_replicates,
    of_query_and_item,
    on_points,
)

ENDS = (POINTS[0], POINTS[-1])


def thirds_of(rng: np.random.Generator, n: int, raters: int) -> tuple[Floats, Ints]:
    """Progress of each rater, from -1 to 1, at each of n items (n, raters), and the third of the work."""
    at = np.argsort(np.argsort(rng.random((n, raters)), axis=0), axis=0)
    return 2 * (at + 0.5) / n - 1, at * THIRDS // n


def work_figures(rng: np.random.Generator, queries: int, items: int, tired: float) -> Figures:
    """Ratings that sink, ties that become more and labels that become worse as raters tire, more or less."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    n = len(query)
    far, third = thirds_of(rng, n, RATERS)
    # Work on some queries tires more.
    moved = tired * far * (1 + 0.5 * rng.standard_normal(queries))[query][:, None]
    strict = np.linspace(-0.4, 0.4, RATERS)
    value = on_points(3.2 + shared[:, None] + strict - moved + 0.7 * rng.standard_normal((n, RATERS)))
    margin = np.exp(0.4 * moved - 0.5)
    seen = shared[:, None] + 0.7 * np.exp(0.3 * moved) * rng.logistic(size=(n, RATERS))
    label = np.where(seen > margin, FIRST, np.where(seen < -margin, SECOND, TIE))
    unit = np.repeat(np.arange(n), RATERS)
    counts = count_matrix(unit, label.ravel(), n, 3)
    measures = {
        "mean": (value.ravel(), ENDS, "ratings"),
        "share": ((label == TIE).ravel().astype(np.float64), SHARE, "judgments"),
        "share of others alike": (share_of_others(counts, unit, label.ravel()), SHARE, "answers"),
    }
    found = {
        name: order_effect(
            of_each,
            third.ravel(),
            query[unit],
            within=within,
            unit=counted,
            resample=no_replicates(),
            tests=NO_TESTS,
        )
        for name, (of_each, within, counted) in measures.items()
    }
    return {f"{name}, last less first third": each.difference for name, each in found.items()} | {
        f"{name} in the last third": each.thirds[-1] for name, each in found.items()
    }


WORK: tuple[Design, ...] = (Design("work", (0.0, 0.5, 1.2), work_figures),)

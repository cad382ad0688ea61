"""Simulated studies of conditions and entries, for the coverage of the intervals of their figures."""

import numpy as np

from analytics.statistics.conditions.value_correlation import correlation_within_items
from analytics.statistics.core.tidy import Ints
from analytics.statistics.core.values import Values
from analytics.statistics.entries.calibrators import set_agreement
from analytics.statistics.ratings.contrast import CodedSide, contrast
from benchmarks.simulated import (
    NO_TESTS,
    RATERS,
    Design,
    Figures,
    Floats,
    no_replicates,
    of_query_and_item,
    on_points,
)

VALUES = 5


def value_figures(rng: np.random.Generator, queries: int, items: int, like: float) -> Figures:
    """Ratings of five values of an attribute by three people, and by a judge who is more or less like them."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    of_value = shared[:, None] + rng.standard_normal((len(query), VALUES))
    noise = rng.standard_normal((len(query), VALUES, RATERS))
    people = on_points(3.2 + of_value[:, :, None] + 0.7 * noise)
    judge = on_points(3.4 + like * of_value + np.sqrt(1 - like**2) * rng.standard_normal(of_value.shape))
    found = correlation_within_items(
        _of_values(query, people), _of_values(query, judge[:, :, None]), resample=no_replicates()
    )
    return {"correlation within responses": found}


def contrast_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Texts by people and by models on the same queries, some of which have a code, one side's more often."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    first, second = (
        CodedSide((shared + move + rng.logistic(size=len(query)) > 0).astype(np.float64), query, query)
        for move in (0.4, 0.4 - apart)
    )
    found = contrast(first, second, resample=no_replicates(), tests=NO_TESTS, unit="queries")
    return {"difference of shares of a code": found.difference} if found else {}


def set_figures(rng: np.random.Generator, queries: int, items: int, hard: float) -> Figures:
    """Sets of entries by three calibrators, of which more or fewer conditions match."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    pairs = np.repeat(np.arange(len(query)), RATERS)
    alike = 1 / (1 + np.exp(hard - 2 - shared[pairs] - rng.standard_normal(len(pairs))))
    matched = np.round(3 * alike) / 3
    found = set_agreement(pairs, query[pairs], matched, alike, resample=no_replicates())
    return {"F1 of matched conditions": found.matched}


def _of_values(query: Ints, ratings: Floats) -> Values:
    """From ratings (items, values, raters)."""
    item, part, rater = (each.ravel() for each in np.indices(ratings.shape))
    return Values(
        unit=item * ratings.shape[1] + part,
        query=query[item],
        system=np.zeros(len(item), dtype=np.int64),
        part=part,
        item=item,
        rater=rater,
        value=ratings.ravel(),
    )


CONDITIONS: tuple[Design, ...] = (
    Design("values", (0.2, 0.5, 0.9), value_figures),
    Design("contrast", (0.0, 0.8, 2.0), contrast_figures),
    Design("sets", (0.0, 1.0, 3.0), set_figures),
)

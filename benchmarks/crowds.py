"""Simulated studies of twelve raters, drawn anew for each of them, for the intervals over queries and raters.

Four of the raters answer each item. Each leans to a side of their own, more or less; what raters of a query and of an
item share is drawn as in `simulated`. The truth is of ever new raters.
"""

import numpy as np
import numpy.typing as npt

from analytics.statistics.agreement.two_ways import two_way_agreement, two_way_alpha, two_way_tau
from analytics.statistics.core.tidy import Ints
from analytics.statistics.core.values import Values
from analytics.statistics.rankings.ranks import Ranks
from benchmarks.simulated import (
    MANY_QUERIES,
    POINTS,
    Design,
    Figures,
    Floats,
    no_replicates,
    of_query_and_item,
    on_points,
)

CROWD, ASKED = 12, 4
OPTIONS = 4
DRAFTS = 3
# Decisions from the worst draft to the best one: rejected, merged, edited, accepted.
DECIDED_AT = (-1.2, -0.4, 0.8)


def crowd(rng: np.random.Generator, n: int, queries: int) -> tuple[Ints, int]:
    """The raters (n, ASKED) of n items, and how many there are to lean: for the truth as many as there are queries."""
    if queries >= MANY_QUERIES:
        first = rng.integers(0, queries, (n, 1))
        return (first + np.arange(ASKED) * (queries // ASKED)) % queries, queries
    return np.argsort(rng.random((n, CROWD)), axis=1)[:, :ASKED], CROWD


def leaning(
    rng: np.random.Generator, queries: int, items: int, apart: float, width: int
) -> tuple[Floats, Ints, Ints]:
    """Raters' views of `width` things of each item (n, ASKED, width), with the raters and the items' queries."""
    query = np.repeat(np.arange(queries), items)
    shared = np.stack([of_query_and_item(rng, queries, items) for _ in range(width)], axis=1)
    who, raters = crowd(rng, len(query), queries)
    lean = apart * rng.standard_normal((raters, width))
    return shared[:, None] + lean[who] + 0.7 * rng.standard_normal((*who.shape, width)), who, query


def rated(value: Floats, who: Ints, query: Ints) -> Values:
    """Values (n, ASKED) of items, or (n, ASKED, parts) of their parts."""
    parts = value[..., None] if value.ndim == 2 else value
    item, at, part = (each.ravel() for each in np.indices(parts.shape))
    return Values(
        unit=item * parts.shape[2] + part,
        query=query[item],
        system=np.full(len(item), -1),
        part=part,
        item=item,
        rater=who[item, at],
        value=parts.ravel(),
    )


def crowd_ratings(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Ratings on five points."""
    seen, who, query = leaning(rng, queries, items, apart, 1)
    values, spec = rated(on_points(3.2 + seen[..., 0]), who, query), no_replicates()
    ordinal = two_way_alpha(values, level="ordinal", points=POINTS, resample=spec)
    interval = two_way_alpha(values, level="interval", points=POINTS, resample=spec)
    return {
        "ordinal alpha, over queries and raters": ordinal.over_both,
        "interval alpha, over queries and raters": interval.over_both,
    }


def crowd_choices(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Choices among four options, of which raters find some more likely, and decisions about three drafts."""
    seen, who, query = leaning(rng, queries, items, apart, OPTIONS)
    chosen = agreed(seen.argmax(axis=2), who, query, OPTIONS)
    # A rater is strict or lenient with all drafts alike.
    worth, judges, query = leaning(rng, queries, items, 0.0, DRAFTS)
    strict = apart * rng.standard_normal(int(judges.max()) + 1)[judges]
    decision = len(DECIDED_AT) - np.digitize(worth - strict[..., None], DECIDED_AT)
    decided = agreed(decision, judges, query, len(DECIDED_AT) + 1)
    return {
        **{f"{name} of choices, over queries and raters": each for name, each in chosen.items()},
        **{f"{name} of decisions, over queries and raters": each for name, each in decided.items()},
    }


def crowd_rankings(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Rankings of four responses, and picks of the best; raters lean to one system or another."""
    seen, who, query = leaning(rng, queries, items, apart, OPTIONS)
    rank = (-seen).argsort(axis=2).argsort(axis=2) + 1.0
    item, at, response = (each.ravel() for each in np.indices(rank.shape))
    ranks = Ranks(
        judgment=item * ASKED + at,
        item=item,
        query=query[item],
        rater=who[item, at],
        response=response,
        system=response,
        rank=rank.ravel(),
        place=np.full(rank.size, -1),
    )
    # The responses of an item have an order of their own, so that the first is now of one system, now of another.
    order = np.argsort(rng.random((len(query), OPTIONS)), axis=1)
    picked = np.take_along_axis(order[:, None], seen.argmax(axis=2)[..., None], axis=2)[..., 0]
    picks = agreed(picked, who, query, OPTIONS)
    return {
        "tau-b, over queries and raters": two_way_tau(ranks, resample=no_replicates()).over_both,
        **{f"{name} of picks, over queries and raters": each for name, each in picks.items()},
    }


def agreed(label: npt.NDArray[np.int64], who: Ints, query: Ints, n_labels: int) -> Figures:
    """Both figures of labels (n, ASKED) of items, or (n, ASKED, parts) of their parts."""
    given = rated(label.astype(np.float64), who, query)
    found = two_way_agreement(
        given.value.astype(np.int64), given.unit, given.rater, given.query, n_labels, resample=no_replicates()
    )
    return {"pairwise": found.pairwise.over_both, "alpha": found.alpha.over_both}


CROWDS: tuple[Design, ...] = (
    Design("crowds' ratings", (0.0, 0.5, 1.5), crowd_ratings),
    Design("crowds' choices", (0.0, 0.5, 1.5), crowd_choices),
    Design("crowds' rankings", (0.0, 0.5, 1.5), crowd_rankings),
)

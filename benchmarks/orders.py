"""Simulated studies whose raters are moved by the place at which a response stands, more or less."""

import numpy as np

from analytics.statistics.core.values import Values
from analytics.statistics.preferences.best_picks import Picks
from analytics.statistics.ratings.places import picked_places, place_means
from benchmarks.simulated import (
    POINTS,
    RATERS,
    Design,
    Figures,
    no_replicates,
    of_query_and_item,
    on_points,
)

RESPONSES = 3


def place_figures(rng: np.random.Generator, queries: int, items: int, lean: float) -> Figures:
    """Ratings and picks of three responses in an order drawn for every rater, who lean to the first place."""
    n = queries * items
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    of_response = (
        shared[:, None] + 0.5 * rng.standard_normal((n, RESPONSES)) + np.linspace(0.4, -0.4, RESPONSES)
    )
    place = np.argsort(rng.random((n, RATERS, RESPONSES)), axis=2)
    seen = of_response[:, None] + lean * (place == 0) + 0.7 * rng.standard_normal(place.shape)
    item, rater, part = np.indices(place.shape).reshape(3, -1)
    values = Values(
        unit=item * RESPONSES + part,
        query=query[item],
        system=part,
        part=part,
        item=item,
        rater=rater,
        value=on_points(3.3 + seen).ravel(),
    )
    best = seen.argmax(axis=2)
    at = np.take_along_axis(place, best[:, :, None], axis=2)[:, :, 0].ravel()
    picks = Picks(
        item=np.repeat(np.arange(n), RATERS),
        query=np.repeat(query, RATERS),
        rater=np.tile(np.arange(RATERS), n),
        response=best.ravel(),
        system=best.ravel(),
    )
    spec = no_replicates()
    first = place_means(values, place.ravel(), within=(POINTS[0], POINTS[-1]), resample=spec).places[0]
    picked = picked_places(picks, at, np.full(len(at), RESPONSES), resample=spec).places[0]
    return {
        "mean at the first place": first.mean,
        "first place less all": first.difference,
        "picks of the first place": picked.share,
    }


ORDERS: tuple[Design, ...] = (Design("places", (0.0, 0.4, 1.0), place_figures),)

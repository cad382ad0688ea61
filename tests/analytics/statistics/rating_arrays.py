"""Small sets of ratings, picks and rankings for the tests of analytics, as the arrays that statistics take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from analytics.statistics.core.values import Values, unit_codes
from analytics.statistics.preferences.best_picks import Picks
from analytics.statistics.rankings.ranks import Ranks

Row = tuple[int, int, int, float]


def make_values(
    rows: Iterable[Row], query: Sequence[int] | None = None, system: Sequence[int] | None = None
) -> Values:
    """From rows (item, part, rater, value); `query` by item, by default its own; `system` by part, by default it."""
    table = list(rows)
    item, part, rater = (np.array([row[k] for row in table], dtype=np.int64) for k in range(3))
    return Values(
        unit=unit_codes(item, part),
        query=item if query is None else np.array(query, dtype=np.int64)[item],
        system=part if system is None else np.array(system, dtype=np.int64)[part],
        part=part,
        item=item,
        rater=rater,
        value=np.array([row[3] for row in table], dtype=np.float64),
    )


def random_rows(
    rng: np.random.Generator, points: Sequence[float], n_items: int = 30, n_parts: int = 3, n_raters: int = 4
) -> list[Row]:
    """Two thirds of the ratings that `n_raters` could give to every part of every item."""
    return [
        (item, part, rater, float(rng.choice(points)))
        for item in range(n_items)
        for part in range(n_parts)
        for rater in range(n_raters)
        if rng.random() < 2 / 3
    ]


def make_picks(responses: Sequence[Sequence[int]], query: Sequence[int] | None = None) -> Picks:
    """The picks of each item, by place among its responses, -1 for a tie; a response's system is its place."""
    flat = [
        (item, rater, pick) for item, of_item in enumerate(responses) for rater, pick in enumerate(of_item)
    ]
    item, rater, pick = (np.array([row[k] for row in flat], dtype=np.int64) for k in range(3))
    return Picks(
        item=item,
        query=item if query is None else np.array(query)[item],
        rater=rater,
        response=pick,
        system=pick,
    )


def make_ranks(
    rankings: Sequence[Sequence[Sequence[float]]],
    query: Sequence[int] | None = None,
    places: Sequence[Sequence[Sequence[int]]] | None = None,
) -> Ranks:
    """The rankings of each item: a rank per response, 0 where it was not ranked. A response's system is its place."""
    flat = [
        (item, rater, response, rank)
        for item, of_item in enumerate(rankings)
        for rater, ranking in enumerate(of_item)
        for response, rank in enumerate(ranking)
        if rank
    ]
    item, rater, response = (np.array([row[k] for row in flat], dtype=np.int64) for k in range(3))
    n_raters = max((len(of_item) for of_item in rankings), default=0)
    shown = [places[i][r][k] if places else -1 for i, r, k, _ in flat]
    return Ranks(
        judgment=item * n_raters + rater,
        item=item,
        query=item if query is None else np.array(query)[item],
        rater=rater,
        response=response,
        system=response,
        rank=np.array([row[3] for row in flat], dtype=np.float64),
        place=np.array(shown, dtype=np.int64),
    )


def slow_mid_ranks(scores: Sequence[float]) -> list[float]:
    """The places from 1; equals share the mean of theirs."""
    ordered = sorted(scores)
    return [ordered.index(score) + (ordered.count(score) + 1) / 2 for score in scores]


def random_rankings(rng: np.random.Generator, n_items: int, n_raters: int, k: int, levels: int) -> list:
    """Rankings of k responses, with ties where `levels` is small."""
    return [
        [slow_mid_ranks(rng.integers(0, levels, k).tolist()) for _ in range(n_raters)] for _ in range(n_items)
    ]

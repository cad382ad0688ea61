"""Simulated studies of rankings and of analyses of variance, for the coverage of intervals that other designs lack.

What raters of a query share is drawn for the query, what they share of an item for the item (see `simulated`).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate
from analytics.statistics.core.tidy import Ints
from analytics.statistics.preferences.bradley_terry import bradley_terry
from analytics.statistics.preferences.strengths import Strength
from analytics.statistics.rankings.concordance import concordance, shared_ranks, tau_with
from analytics.statistics.rankings.ndcg import mean_ndcg
from analytics.statistics.rankings.ranked_strengths import ranked_strengths
from analytics.statistics.rankings.rankings import place_bias
from analytics.statistics.rankings.ranks import Ranks
from analytics.statistics.rankings.scores_vs_ranks import scores_vs_ranks
from analytics.statistics.replacement.difference import judge_minus_people
from analytics.statistics.variance.between_groups import BetweenGroups, between_groups
from analytics.statistics.variance.repeated_measures import repeated_measures
from benchmarks.simulated import (
    MANY_QUERIES,
    NO_TESTS,
    RATERS,
    Design,
    Figures,
    Floats,
    judgments_of,
    labels,
    no_replicates,
    on_points,
    pairwise_items,
)

SYSTEMS = tuple("abcd")
RANK_REPLICATES = 200
DOCUMENTS, CUT, TOPICS_AT_ONCE = 12, 5, 500
# Means of systems, in parts of how far they are apart.
APART = np.array([0.0, 0.6, 1.0])


def rank_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Comparisons and rankings of four systems that are more or less far apart, and their ranks by strength."""
    pairs, n, k = np.array(list(combinations(range(4), 2))), queries * items, len(SYSTEMS)
    query, pair = np.repeat(np.arange(queries), items), np.arange(n) % len(pairs)
    of_query = np.linspace(apart, -apart, k) + 0.5 * rng.standard_normal((queries, k))
    gap = of_query[query, pairs[pair, 0]] - of_query[query, pairs[pair, 1]]
    label = labels(rng, gap + 0.5 * rng.standard_normal(n), 1.0, tie=0.3)
    # The truth needs no interval.
    spec = ResampleSpec(0, replicates=RANK_REPLICATES if queries < MANY_QUERIES else 0)
    (compared,) = bradley_terry(
        pairwise_items(query, pair, systems=SYSTEMS), judgments_of(label), resample=spec
    )
    seen = of_query[query][:, None] + rng.gumbel(size=(n, RATERS, k))
    ranked = ranked_strengths(ranks_of(seen, query), SYSTEMS, resample=spec)
    return {
        "Bradley-Terry rank, best system": rank_of("a", compared.strengths),
        "Bradley-Terry rank, second system": rank_of("b", compared.strengths),
        "rank from rankings, best system": rank_of("a", ranked.strengths),
        "rank from rankings, second system": rank_of("b", ranked.strengths),
    }


def rank_of(system: str, strengths: Sequence[Strength]) -> Estimate:
    (found,) = (each.rank for each in strengths if each.system == system)
    return found


def ranks_of(seen: Floats, query: Ints, place: npt.NDArray[np.int64] | None = None) -> Ranks:
    """Rankings by what is seen (items, raters, responses), minus infinity where an item lacks a response.

    `place` of the same shape is where a response was shown.
    """
    rank = (np.argsort(np.argsort(-seen, axis=2), axis=2) + 1).astype(np.float64)
    item, rater, response = at = np.nonzero(np.isfinite(seen))
    return Ranks(
        judgment=item * seen.shape[1] + rater,
        item=item,
        query=query[item],
        rater=rater,
        response=response,
        system=response,
        rank=rank[at],
        place=np.full(len(item), -1) if place is None else place[at],
    )


def judged_rankings(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Rankings of three or four responses by three people and by a judge, with more or less noise, and its scores."""
    n, k, spec = queries * items, len(SYSTEMS), no_replicates()
    query = np.repeat(np.arange(queries), items)
    of_query = np.linspace(0.5, -0.5, k) + 0.5 * rng.standard_normal((queries, k))
    shared = of_query[query] + 0.5 * rng.standard_normal((n, k))
    # Every other item has three responses.
    shared[::2, -1] = -np.inf
    people = shared[:, None] + noise * rng.standard_normal((n, RATERS, k))
    own = shared + noise * rng.standard_normal((n, k))
    ranks, judge = ranks_of(people, query), ranks_of(own[:, None], query)
    three, four = (each.w for each in concordance(ranks, resample=spec).by_size)
    return {
        "Kendall's W, three responses": three,
        "Kendall's W, four responses": four,
        "tau-b with a judge": tau_with(ranks, judge, resample=spec),
        "kappa of places, linear": linear_kappa(own, ranks, query),
        **favoured_ranks(rng, own, ranks, query),
    }


def favoured_ranks(rng: np.random.Generator, own: Floats, ranks: Ranks, query: Ints) -> Figures:
    """Mean ranks of the first system's responses by people and by a judge that favours them, in some queries more."""
    of_query = 0.5 + 0.4 * rng.standard_normal(int(query.max()) + 1)
    seen = own + of_query[query][:, None] * (np.arange(own.shape[1]) == 0)
    both = shared_ranks(ranks, ranks_of(seen[:, None], query))
    first = both.where(both.system == 0)
    last = float(own.shape[1])
    found = judge_minus_people(
        first.one,
        first.other,
        first.query,
        within=(1.0, last),
        unit="items",
        resample=no_replicates(),
        tests=NO_TESTS,
    )
    return {
        "people's mean rank beside a judge": found.people,
        "judge's mean rank beside people": found.judge,
        "judge less people, mean rank": found.difference,
    }


def linear_kappa(own: Floats, ranks: Ranks, query: Ints) -> Estimate:
    """Kappa of the places within a query by a judge's scores on points and by people's ranks, both means over items."""
    k = own.shape[1]
    item, response = np.nonzero(np.isfinite(own))
    cell, of_people = query[item] * k + response, ranks.query * k + ranks.response
    score = np.bincount(cell, weights=on_points(3 + own[item, response])) / np.maximum(np.bincount(cell), 1)
    rank = np.bincount(of_people, weights=ranks.rank) / np.maximum(np.bincount(of_people), 1)
    used = np.unique(cell)
    return scores_vs_ranks(score[used], rank[used], used % k, used // k, resample=no_replicates()).linear


def place_figures(rng: np.random.Generator, queries: int, items: int, lean: float) -> Figures:
    """Rankings of three or four responses in an order drawn for every rater, who lean to the first place."""
    n, k = queries * items, len(SYSTEMS)
    query, spec = np.repeat(np.arange(queries), items), no_replicates()
    of_query = np.linspace(0.4, -0.4, k) + 0.5 * rng.standard_normal((queries, k))
    shared = of_query[query] + 0.5 * rng.standard_normal((n, k))
    missing = np.zeros((n, 1, k))
    missing[::3, :, -1] = np.inf
    place = np.argsort(np.argsort(rng.random((n, RATERS, k)) + missing, axis=2), axis=2)
    of_lean = lean * (1 + 0.5 * rng.standard_normal(queries))[query][:, None, None]
    seen = shared[:, None] + of_lean * (place == 0) + rng.standard_normal(place.shape) - missing
    first = place_bias(ranks_of(seen, query, place), resample=spec).places[0]
    return {
        "mean rank at the first place": first.mean_rank,
        "rank at the first place less chance": first.bias,
        "share of first places at the first place": first.first,
    }


def retrieval_figures(rng: np.random.Generator, queries: int, items: int, better: float) -> Figures:
    """Runs that rank twelve documents of a topic by their grades, more or less; some topics are easier than others."""
    of_topic = 0.5 * rng.standard_normal((queries, 1))
    grade = np.clip(np.round(rng.standard_normal((queries, DOCUMENTS)) + of_topic), 0, 3)
    ease = np.maximum(better + 0.5 * rng.standard_normal(queries), 0)[:, None, None]
    seen = ease * grade[:, None] + rng.standard_normal((queries, items, DOCUMENTS))
    order = np.argsort(-seen, axis=2)
    starts = range(0, queries, TOPICS_AT_ONCE)
    # Many topics in parts, as the time it takes grows with their square; only the truth has so many.
    parts = [
        mean_of_topics(grade[at : at + TOPICS_AT_ONCE], order[at : at + TOPICS_AT_ONCE]) for at in starts
    ]
    n = sum(each.n for each in parts)
    mean = sum(each.n * (each.value or 0) for each in parts) / n
    # The search for the query alone is one for all of its items.
    alone = 0.3 * ease[:, 0] * grade + rng.standard_normal((queries, DOCUMENTS))
    gain = gains(grade, order) - gains(grade, np.argsort(-alone, axis=1)[:, None])
    found = ~np.isnan(gain)
    more = mean_estimate(
        gain[found],
        np.indices(gain.shape)[0][found],
        unit="items",
        resample=no_replicates(),
        empty="Nothing was searched for.",
    )
    return {
        "mean nDCG": parts[0] if len(parts) == 1 else Estimate(mean, None, None, n, parts[0].unit),
        "nDCG less that of the query alone": more,
    }


def gains(grade: Floats, order: npt.NDArray[np.int64]) -> Floats:
    """nDCG (topics, runs) of orders (topics, runs, documents), nan for a topic without a relevant document."""
    discount = 1 / np.log2(np.arange(2, CUT + 2))
    found = np.take_along_axis(grade[:, None], order, axis=2)[..., :CUT] @ discount
    best = np.sort(grade, axis=1)[:, ::-1][:, :CUT] @ discount
    return divide(found, np.broadcast_to(best[:, None], found.shape))


def mean_of_topics(grade: Floats, order: npt.NDArray[np.int64]) -> Estimate:
    names = tuple(map(str, range(DOCUMENTS)))
    relevance = {
        str(topic): dict(zip(names, of_topic, strict=True)) for topic, of_topic in enumerate(grade.tolist())
    }
    rankings = [
        (str(topic), [names[each] for each in run])
        for topic, runs in enumerate(order.tolist())
        for run in runs
    ]
    return mean_ndcg(rankings, relevance, CUT, resample=no_replicates())


def independent_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Independent ratings, as Tukey's test takes them, of three systems that are more or less far apart."""
    means = apart * APART
    system = np.repeat(np.arange(len(means)), queries * items)
    found = between_groups(means[system] + rng.standard_normal(len(system)), system)
    return {
        "Tukey's difference, independent ratings": difference_of(found),
        "Tukey's differences at once, independent ratings": all_of(found, means),
    }


def dependent_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """The same differences from ratings that share texts and queries, as raters give them."""
    means = apart * APART
    value, system, _ = ratings_of_texts(rng, queries, items, means)
    found = between_groups(value, system)
    return {
        "Tukey's difference, ratings that share a query": difference_of(found),
        "Tukey's differences at once, ratings that share a query": all_of(found, means),
    }


def paired_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Ratings on five points that share texts and queries; one in ten is missing."""
    value, system, query = ratings_of_texts(rng, queries, items, apart * APART)
    rated = rng.random(len(value)) < 0.9
    pair = repeated_measures(on_points(3.2 + value)[rated], system[rated], query[rated]).pairs[0]
    return {
        "paired difference of systems": Estimate(
            pair.difference, pair.low, pair.high, queries, "queries", undefined=pair.undefined
        ),
        "effect size of a paired difference": pair.effect,
    }


def ratings_of_texts(
    rng: np.random.Generator, queries: int, items: int, means: Floats
) -> tuple[Floats, Ints, Ints]:
    """Ratings (n,) by three raters of each system's texts on each query, with their systems and queries."""
    shape = (queries, items, RATERS, len(means))
    query, _, _, system = (each.ravel() for each in np.indices(shape))
    of_query = 0.7 * rng.standard_normal((queries, 1, 1, 1))
    of_query = of_query + 0.5 * rng.standard_normal((queries, 1, 1, len(means)))
    of_text = 0.5 * rng.standard_normal((queries, items, 1, len(means)))
    value = means + of_query + of_text + 0.7 * rng.standard_normal(shape)
    return value.ravel(), system, query


def difference_of(found: BetweenGroups) -> Estimate:
    pair = found.pairs[0]
    return Estimate(pair.difference, pair.low, pair.high, found.n, "ratings")


def all_of(found: BetweenGroups, means: Floats) -> Estimate:
    """Zero, between limits that hold it where every difference's interval holds that of the true `means`."""
    true = [float(means[pair.system_2] - means[pair.system_1]) for pair in found.pairs]
    low = max(pair.low - gap for pair, gap in zip(found.pairs, true, strict=True))
    high = min(pair.high - gap for pair, gap in zip(found.pairs, true, strict=True))
    return replace(difference_of(found), value=0.0, low=low, high=high)


RANKED: tuple[Design, ...] = (
    Design("ranks", (0.1, 0.4, 1.2), rank_figures),
    Design("judged rankings", (2.0, 0.8, 0.3), judged_rankings),
    Design("ranked places", (0.0, 0.5, 1.2), place_figures),
    Design("retrieval", (0.1, 0.6, 1.5), retrieval_figures),
    Design("independent ratings", (0.0, 0.5, 1.5), independent_figures),
    Design("paired ratings", (0.0, 0.5, 1.5), paired_figures),
)
# Tukey's intervals are not made for such ratings: how far they fall short is what this one says.
DEPENDENT: tuple[Design, ...] = (Design("dependent ratings", (0.0, 0.5, 1.5), dependent_figures),)

"""Simulated studies whose items of a query depend, for the coverage of intervals: one design per kind of task.

Every design has a parameter with three values, from which its figures have three true values each. What raters of a
query share is drawn for the query, what they share of an item for the item, and the rest for each judgment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.coefficients import COEFFICIENTS
from analytics.statistics.agreement.icc import intraclass_correlations
from analytics.statistics.agreement.kappa import cohen_kappa
from analytics.statistics.agreement.leave_one_out import inner_agreement, outer_agreement
from analytics.statistics.agreement.percentage import agreement, agreement_difference
from analytics.statistics.agreement.rating_rates import rating_rates
from analytics.statistics.agreement.two_votes import two_votes_between, two_votes_within
from analytics.statistics.agreement.two_ways import two_way_agreement
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.aspects.weights import aspect_weights
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate, TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import FIRST, SECOND, TIE, Ints, Items, Judgments
from analytics.statistics.core.values import Values
from analytics.statistics.judges.drift import drift, drift_of_numbers, self_agreement
from analytics.statistics.judges.labels_vs_people import kappa_with_majority
from analytics.statistics.judges.ratings_vs_people import compare_means
from analytics.statistics.leaderboards.length_control import LengthRows, length_controlled
from analytics.statistics.preferences.bias import length_bias, position_bias
from analytics.statistics.preferences.bradley_terry import bradley_terry
from analytics.statistics.preferences.flips import pair_flips, query_flips
from analytics.statistics.preferences.win_rates import expected_win_rates, majority_win_rates
from analytics.statistics.rankings.concordance import concordance
from analytics.statistics.rankings.rankings import ranked_pairs, system_ranks
from analytics.statistics.rankings.ranks import Ranks
from analytics.statistics.ratings.scales import distribution, mean_value

RATERS = 3
# Tests are no part of what is simulated here, but figures come with theirs.
NO_TESTS = Randomization(0)
POINTS = (1.0, 2.0, 3.0, 4.0, 5.0)
Floats = npt.NDArray[np.float64]
Figures = dict[str, Estimate]


@dataclass(frozen=True)
class Design:
    """A kind of study: its parameter's three values, and the figures of one study drawn with one of them."""

    name: str
    values: tuple[float, float, float]
    figures: Callable[[np.random.Generator, int, int, float], Figures]


def of_query_and_item(rng: np.random.Generator, queries: int, items: int, spread: float = 0.7) -> Floats:
    """What all judgments of an item share (queries * items,): a part of the query, and as much of the item."""
    of_query = np.repeat(spread * rng.standard_normal(queries), items)
    return of_query + spread * rng.standard_normal(queries * items)


def labels(rng: np.random.Generator, shared: Floats, noise: float, tie: float = 0.4) -> npt.NDArray[np.int8]:
    """Preferences (n, RATERS) for the first response where it is clearly better, the second, or neither."""
    seen = shared[:, None] + noise * rng.logistic(size=(len(shared), RATERS))
    return np.where(seen > tie, FIRST, np.where(seen < -tie, SECOND, TIE)).astype(np.int8)


def pairwise_items(
    query: npt.NDArray[np.int64],
    pair: npt.NDArray[np.int64] | None = None,
    arm: npt.NDArray[np.int64] | None = None,
    systems: tuple[str, ...] = ("a", "b"),
    lengths: tuple[int, int] = (200, 100),
) -> Items:
    n = len(query)
    sides = np.array(list(combinations(range(len(systems)), 2)))[
        np.zeros(n, dtype=int) if pair is None else pair
    ]
    zeros = np.zeros(n, dtype=np.int64)
    return Items(
        key=np.full(n, ""),
        query=query,
        queries=tuple(map(str, range(int(query.max()) + 1))),
        arm=zeros if arm is None else arm,
        arms=("before", "after"),
        category=zeros,
        categories=("",),
        system_1=sides[:, 0],
        system_2=sides[:, 1],
        systems=systems,
        length_1=np.full(n, lengths[0]),
        length_2=np.full(n, lengths[1]),
    )


def judgments_of(label: npt.NDArray[np.int8]) -> Judgments:
    n, raters = label.shape
    return Judgments(
        item=np.repeat(np.arange(n), raters),
        rater=np.tile(np.arange(raters), n),
        raters=tuple(map(str, range(raters))),
        vote=label.ravel(),
        number=np.full(n * raters, np.nan),
        first=np.tile(np.array([0, 1, 0]), n),
    )


def counts_of(label: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
    n, raters = label.shape
    return count_matrix(np.repeat(np.arange(n), raters), label.ravel(), n, 3)


def no_replicates() -> ResampleSpec:
    return ResampleSpec(0, replicates=0)


def agreement_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Preferences of three raters and a judge, with more or less noise."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items) + 0.3
    label, judge = labels(rng, shared, noise), labels(rng, shared, noise)[:, 0]
    counts, spec = counts_of(label), no_replicates()
    found, votes = agreement(counts, query, resample=spec), two_votes_within(counts, query, resample=spec)
    beside = two_votes_between(counts, counts_of(judge[:, None]), query, resample=spec)
    return {
        "agreement, with ties": found.with_ties,
        "agreement, without ties": found.without_ties,
        "two votes, with ties": votes.with_ties,
        "two votes, without ties": votes.without_ties,
        "two votes, person and judge": beside.with_ties,
        "leave-one-out agreement": inner_agreement(counts, query, resample=spec),
        "leave-one-out, judge": outer_agreement(counts, judge, query, resample=spec),
        "alpha, nominal": krippendorff_alpha(counts, query, level="nominal", resample=spec),
        **{name: of(counts, query, resample=spec).estimate for name, of in COEFFICIENTS.items()},
        "kappa of two raters": cohen_kappa(label[:, 0], label[:, 1], query, n_labels=3, resample=spec),
        "kappa with the majority": kappa_with_majority(counts, judge, query, resample=spec),
    }


def preference_figures(rng: np.random.Generator, queries: int, items: int, better: float) -> Figures:
    """Preferences of three raters where the first system, whose responses are longer, is more or less better."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items) + better
    of_items, judgments, spec = pairwise_items(query), judgments_of(labels(rng, shared, 0.7)), no_replicates()
    (majority,) = majority_win_rates(of_items, judgments, resample=spec)
    judged = query[judgments.item]
    return {
        "win rate by majority": majority.system_1,
        "share of ties by majority": majority.tie,
        "expected win rate": expected_win_rates(of_items, judgments, resample=spec)[0].rate,
        "position bias": position_bias(
            judgments.label, judgments.first, judged, resample=spec, tests=NO_TESTS
        ).share,
        "length bias": length_bias(of_items, judgments, resample=spec).bias,
    }


def rating_figures(rng: np.random.Generator, queries: int, items: int, like: float) -> Figures:
    """Ratings on five points by three raters, and by a judge who is more or less like them."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    spread, noise = np.sqrt(1 - like**2), 1.3 * (1 - like)
    people = on_points(3.6 + shared[:, None] + noise * rng.standard_normal((len(query), RATERS)))
    judge = on_points(3.8 + like * shared + spread * rng.standard_normal(len(query)))[:, None]
    rated, spec = ratings(query, people), no_replicates()
    ends = (POINTS[0], POINTS[-1])
    compared = compare_means(rated, ratings(query, judge), resample=spec, within=ends)
    icc = intraclass_correlations(rated, resample=spec)
    return {
        "mean rating": mean_value(rated, resample=spec, within=ends).mean,
        "share of a point": distribution(rated, POINTS, resample=spec).shares[-1],
        "alpha, ordinal": alpha_of_values(rated, level="ordinal", points=POINTS, resample=spec),
        "alpha, interval": alpha_of_values(rated, level="interval", points=POINTS, resample=spec),
        "ICC(1), one rater": icc.one_way.one,
        "ICC(2), one rater": icc.agreement.one,
        "ICC(3), one rater": icc.consistency.one,
        "ICC(3), mean": icc.consistency.mean,
        "Pearson's r": compared.pearson,
        "Spearman's rho": compared.spearman,
        "mean absolute error": compared.error,
        "mean difference": compared.difference,
    }


# A report gives no weights for fewer: what is held out is drawn in as many folds.
LEAST_FOLDED = 5


def aspect_figures(rng: np.random.Generator, queries: int, items: int, weight: float) -> Figures:
    """Ratings by three raters of three aspects and overall; of what the second takes away, a query has more or less."""
    query = np.repeat(np.arange(queries), items * RATERS)
    shared = np.repeat(of_query_and_item(rng, queries, items), RATERS)
    seen = shared[:, None] + rng.standard_normal((len(query), 3))
    distances = np.clip(np.round(1.2 + seen), 0, 3) / 3
    of_query = 1 + 0.5 * rng.standard_normal(queries)[query]
    loss = 0.3 * distances[:, 0] + weight * of_query * distances[:, 1] + 2 * distances[:, 2]
    overall = np.clip(np.round(3 - loss + 0.3 * shared + 0.4 * rng.standard_normal(len(query))), 0, 3)
    spec = no_replicates()
    rated = ratings(np.repeat(np.arange(queries), items), overall.reshape(-1, RATERS))
    rates = rating_rates(rated, points=(0, 1, 2, 3), resample=spec)
    figures: Figures = {
        "ratings all alike": rates.all_same,
        "ratings of a majority alike": rates.majority,
        "two ratings alike": rates.two_raters,
    }
    if queries < LEAST_FOLDED:
        return figures
    try:
        found = aspect_weights(distances, overall, query, ideal=3, seed=1, resample=spec)
    except TidyDataError:  # a study without weights, whose report says why
        return figures
    return {
        "weight of an aspect": found.weights[1],
        "r of weighted aspects": found.weighted,
        "r of equal weights": found.equal,
        **figures,
    }


def on_points(value: Floats) -> Floats:
    return np.clip(np.round(value), POINTS[0], POINTS[-1])


def ratings(query: npt.NDArray[np.int64], value: Floats) -> Values:
    n, raters = value.shape
    item, zeros = np.repeat(np.arange(n), raters), np.zeros(n * raters, dtype=np.int64)
    return Values(
        unit=item,
        query=query[item],
        system=zeros,
        part=zeros,
        item=item,
        rater=np.tile(np.arange(raters), n),
        value=value.ravel(),
    )


def ranking_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Rankings of four responses by three raters, which are more or less far apart."""
    n, k = queries * items, 4
    query = np.repeat(np.arange(queries), items)
    of_system = apart * np.arange(k, 0, -1) + 0.5 * np.repeat(
        rng.standard_normal((queries, k)), items, axis=0
    )
    seen = (of_system + 0.5 * rng.standard_normal((n, k)))[:, None] + rng.standard_normal((n, RATERS, k))
    rank = np.argsort(np.argsort(-seen, axis=2), axis=2) + 1.0
    at = np.indices(rank.shape).reshape(3, -1)
    ranks = Ranks(
        judgment=at[0] * RATERS + at[1],
        item=at[0],
        query=query[at[0]],
        rater=at[1],
        response=at[2],
        system=at[2],
        rank=rank.ravel(),
        place=np.full(rank.size, -1),
    )
    agreed, first = (
        concordance(ranks, resample=no_replicates()),
        system_ranks(ranks, k, resample=no_replicates())[0],
    )
    return {
        "Kendall's W": agreed.w,
        "Kendall's tau": agreed.tau,
        "mean rank": first.mean_rank,
        "share of first places": first.first,
        "share outranked": first.outranked,
        "rankings with the first above the second": ranked_pairs(ranks, resample=no_replicates())[0].above,
    }


def strength_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Comparisons of four systems that are more or less far apart; the pairs in turn."""
    pairs = np.array(list(combinations(range(4), 2)))
    query = np.repeat(np.arange(queries), items)
    pair = np.arange(queries * items) % len(pairs)
    strength = np.linspace(apart, -apart, 4) + 0.5 * rng.standard_normal((queries, 4))
    gap = strength[query, pairs[pair, 0]] - strength[query, pairs[pair, 1]]
    label = labels(rng, gap + 0.5 * rng.standard_normal(len(query)), 1.0, tie=0.3)
    of_items = pairwise_items(query, pair, systems=("a", "b", "c", "d"))
    (found,) = bradley_terry(of_items, judgments_of(label), resample=no_replicates())
    by_name = {each.system: each for each in found.strengths}
    return {
        "Bradley-Terry, best system": by_name["a"].score,
        "Bradley-Terry, second system": by_name["b"].score,
        "chance to beat the average": by_name["a"].win_probability,
    }


def flip_figures(rng: np.random.Generator, queries: int, items: int, change: float) -> Figures:
    """Two arms on the same queries; the second turns preferences more or less, and raters agree less in it."""
    query = np.tile(np.repeat(np.arange(queries), items), 2)
    half = queries * items
    arm = np.repeat([0, 1], half)
    before = of_query_and_item(rng, queries, items) + 0.6
    after = 0.5 * (before - 0.6) + of_query_and_item(rng, queries, items, 0.5) + 0.6 - change
    label = np.concatenate([labels(rng, before, 0.5), labels(rng, after, 0.8)])
    of_items, judgments = pairwise_items(query, arm=arm), judgments_of(label)
    arms: dict[str, Any] = {"first": "before", "second": "after", "resample": no_replicates()}
    tested = pair_flips(of_items, judgments, tests=NO_TESTS, **arms)[0]
    pair = np.zeros(len(query), dtype=np.int64)
    return {
        "change of margin": tested.difference,
        "share of query flips": query_flips(of_items, judgments, **arms)[0].flipped,
        "difference of agreement": agreement_difference(
            counts_of(label), query, pair, arm, first=0, second=1, tests=NO_TESTS
        ).difference,
    }


def pass_figures(rng: np.random.Generator, queries: int, items: int, change: float) -> Figures:
    """Three passes of a judge over the same items, each with noise of its own; before the third it changed more or
    less."""
    query = np.repeat(np.arange(queries), items)
    before = of_query_and_item(rng, queries, items) + 0.3
    after = before + change * of_query_and_item(rng, queries, items)
    first, second, later = (
        (each + 0.5 * rng.standard_normal(len(query)) > 0).astype(np.int64)
        for each in (before, before, after)
    )
    of_drift = drift(first, second, later, query, resample=no_replicates(), tests=NO_TESTS)
    # The same passes on a scale of five points.
    points = [
        np.clip(np.round(3 + each + 0.5 * rng.standard_normal(len(query))), 1, 5)
        for each in (before, before, after)
    ]
    beside = compare_means(
        *(values_of(each, query) for each in (points[0], points[2])),
        resample=no_replicates(),
        within=(1, 5),
    )
    of_numbers = drift_of_numbers(*points, query, resample=no_replicates(), tests=NO_TESTS)
    return {
        "agreement with the first pass": self_agreement(first, later, query, resample=no_replicates()),
        "drift": of_drift.difference,
        "distance from the first pass": beside.error,
        "correlation with the first pass": beside.pearson,
        "drift of numbers": of_numbers.difference,
    }


def length_figures(rng: np.random.Generator, queries: int, items: int, longer: float) -> Figures:
    """Preferences of one rater between a system and its opponent, who prefers longer responses more or less."""
    query = np.repeat(np.arange(queries), items)
    gap = rng.standard_normal(len(query)) + 0.5
    lean = 0.4 + 0.8 * rng.standard_normal(queries)[query] + longer * np.tanh(gap)
    preferred = (rng.logistic(size=len(query)) < lean).astype(np.float64)
    fold = np.arange(queries)[query] % 5
    rows = LengthRows(preferred, 200 * gap, np.zeros(len(query)), query, fold)
    found = length_controlled(rows, resample=no_replicates())
    return {"length-controlled win rate": found.rate, "change by length control": found.change}


def rater_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Preferences of twelve raters, another dozen in each study, who lean to a side of their own, more or less."""
    raters = 12
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    lean = apart * rng.standard_normal(raters if queries < MANY_QUERIES else queries)
    who = np.argsort(rng.random((len(query), raters)), axis=1)[:, :4]
    if queries >= MANY_QUERIES:
        # The truth is of ever new raters, too.
        who = rng.integers(0, len(lean), who.shape)
    seen = shared[:, None] + lean[who] + 0.7 * rng.logistic(size=who.shape)
    label = np.where(seen > 0.4, FIRST, np.where(seen < -0.4, SECOND, TIE))
    item = np.repeat(np.arange(len(query)), who.shape[1])
    found = two_way_agreement(label.ravel(), item, who.ravel(), query[item], 3, resample=no_replicates())
    return {
        "pairwise, over queries and raters": found.pairwise.over_both,
        "alpha, over queries and raters": found.alpha.over_both,
    }


# From so many queries on a study is simulated for the truth.
MANY_QUERIES = 10_000


def values_of(numbers: Floats, query: Ints) -> Values:
    """One rater's numbers, one of each item."""
    n = np.arange(len(query))
    none = np.zeros(len(query), dtype=np.int64)
    return Values(unit=n, query=query, system=none - 1, part=none, item=n, rater=none, value=numbers)


DESIGNS: tuple[Design, ...] = (
    Design("agreement", (2.0, 0.5, 0.15), agreement_figures),
    Design("preferences", (0.0, 1.0, 2.5), preference_figures),
    Design("ratings", (0.2, 0.5, 0.9), rating_figures),
    Design("aspects", (0.2, 0.7, 1.5), aspect_figures),
    Design("rankings", (0.1, 0.6, 1.5), ranking_figures),
    Design("strengths", (0.3, 1.0, 1.8), strength_figures),
    Design("flips", (0.0, 0.7, 2.0), flip_figures),
    Design("raters", (0.0, 0.5, 1.5), rater_figures),
    Design("lengths", (0.0, 0.7, 2.0), length_figures),
)
# Of judges alone.
PASSES: tuple[Design, ...] = (Design("passes", (0.0, 1.0, 2.5), pass_figures),)

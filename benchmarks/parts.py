"""Simulated studies for parts of results that no other design has: means of raters, levels, follow-ups, drafts, times.

Where raters lean to a side, they are the same in every study: these intervals are over queries alone.
"""

from dataclasses import replace

import numpy as np

from analytics.statistics.agreement.icc import intraclass_correlations
from analytics.statistics.agreement.kappa import cohen_kappa
from analytics.statistics.agreement.mean_kappa import mean_kappas
from analytics.statistics.agreement.two_votes import two_votes_between
from analytics.statistics.agreement.two_ways import two_way_agreement
from analytics.statistics.aspects.levels import means_by_level, measure_by_level
from analytics.statistics.conditions.check_majorities import yes_majorities
from analytics.statistics.conditions.follow_ups import (
    agreement_by_follow_ups,
    check_counts,
    follow_ups_by_system,
    satisfied_follow_ups,
)
from analytics.statistics.conditions.value_spread import spread_shares, spreads
from analytics.statistics.core.replicates import Readings, inconsistency
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import FIRST, SECOND, TIE, Checks
from analytics.statistics.entries.calibrators import set_agreement
from analytics.statistics.entries.entry_sets import N_DECISIONS, decisions, set_figures
from analytics.statistics.raters.groups import mean_gap, pair_agreement
from analytics.statistics.raters.times import judging_times
from analytics.statistics.ratings.choices import yes_shares_by_group
from analytics.statistics.ratings.contrast import CodedSide, contrast
from analytics.statistics.texts.code_shares import code_shares
from benchmarks.simulated import (
    NO_TESTS,
    POINTS,
    RATERS,
    Design,
    Figures,
    counts_of,
    judgments_of,
    labels,
    no_replicates,
    of_query_and_item,
    on_points,
    pairwise_items,
    ratings,
)

ENDS = (POINTS[0], POINTS[-1])
MIDDLE = len(POINTS) // 2
CROWD, OF_CROWD = 12, 4
FOLLOW_UPS = 3
VALUES = 4
DRAFTS = 4
YES_PARTS = 2
# Decisions from the worst draft to the best one: rejected, merged, edited, accepted.
DECIDED_AT = (-1.2, -0.4, 0.8)
EDITED = 1


def reliability_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Ratings on five points by a strict, a middling and a lenient rater with more or less noise."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    spec = no_replicates()
    strict = np.linspace(-0.4, 0.4, RATERS)
    rated = on_points(3.2 + shared[:, None] + strict + noise * rng.standard_normal((len(query), RATERS)))
    icc = intraclass_correlations(ratings(query, rated), resample=spec)
    code = rated.astype(np.int64) - 1
    unit, rater = np.divmod(np.arange(code.size), RATERS)
    pairs = mean_kappas(unit, rater, code.ravel(), query[unit], POINTS, ("nominal",), resample=spec)
    linear, quadratic = (
        cohen_kappa(code[:, 0], code[:, 1], query, n_labels=len(POINTS), weights=weights, resample=spec)
        for weights in ("linear", "quadratic")
    )
    return {
        "ICC(1), mean": icc.one_way.mean,
        "ICC(2), mean": icc.agreement.mean,
        "kappa of two raters, linear": linear,
        "kappa of two raters, quadratic": quadratic,
        "mean share of equal values": pairs.agreement,
    }


def group_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Labels and ratings by two groups with more or less noise; the second has more of it, and rates lower."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    theirs = shared + of_query_and_item(rng, queries, items, 0.4)
    first, second = labels(rng, shared + 0.3, 0.3 * (1 + 0.5 * apart)), labels(rng, theirs + 0.3, 0.3 + apart)
    noise = 0.7 * rng.standard_normal((2, len(query), RATERS))
    high = on_points(3.4 + shared[:, None] + noise[0])
    low = on_points(3.4 - apart + theirs[:, None] + noise[1])
    spec = no_replicates()
    votes = two_votes_between(counts_of(first), counts_of(second), query, resample=spec)
    given = (ratings(query, each.astype(np.float64)) for each in (first, second))
    pairs = pair_agreement(*given, resample=spec, tests=NO_TESTS, unit="items")
    gap = mean_gap(ratings(query, high), ratings(query, low), resample=spec, tests=NO_TESTS, unit="items")
    return {
        "two votes, two groups without ties": votes.without_ties,
        "pairs of one group": pairs.within_first,
        "pairs of the other group": pairs.within_second,
        "pairs of two groups": pairs.between,
        "difference of pairs' agreement": pairs.gap.difference,
        "difference of groups' means": gap.difference,
    }


def crowd_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Preferences of four of twelve raters, who lean to a side of their own, more or less."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    lean = apart * np.linspace(-1.5, 1.5, CROWD)
    who = np.argsort(rng.random((len(query), CROWD)), axis=1)[:, :OF_CROWD]
    seen = shared[:, None] + lean[who] + 0.5 * rng.logistic(size=who.shape)
    label = np.where(seen > 0.4, FIRST, np.where(seen < -0.4, SECOND, TIE))
    item = np.repeat(np.arange(len(query)), OF_CROWD)
    found = two_way_agreement(label.ravel(), item, who.ravel(), query[item], 3, resample=no_replicates())
    return {
        "pairwise, over queries alone": found.pairwise.over_queries,
        "alpha, over queries alone": found.alpha.over_queries,
    }


def level_figures(rng: np.random.Generator, queries: int, items: int, high: float) -> Figures:
    """Overall ratings with those of an aspect and a measure, which are higher or lower at every level."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    seen = shared[:, None] + 0.6 * rng.standard_normal((len(query), RATERS))
    overall = on_points(3.2 + seen)
    aspect = on_points(2.8 + high + 0.6 * seen + 0.6 * rng.standard_normal(seen.shape))
    own = of_query_and_item(rng, queries, items, 0.4)
    measure = 1 / (1 + np.exp(1 - high - 0.6 * shared - own))
    spec = no_replicates()
    by_rating = means_by_level(
        aspect.ravel(), overall.ravel(), np.repeat(query, RATERS), points=POINTS, within=ENDS, resample=spec
    )
    by_mean = measure_by_level(
        measure, overall.mean(axis=1), query, points=POINTS, within=SHARE, resample=spec, unit="items"
    )
    return {"aspect at a level": by_rating[MIDDLE].mean, "measure at a level": by_mean[MIDDLE].mean}


def follow_up_figures(rng: np.random.Generator, queries: int, items: int, better: float) -> Figures:
    """Preferences and checklists of one to three follow-ups, which the first response meets more or less often."""
    query, gap = np.repeat(np.arange(queries), items), better + of_query_and_item(rng, queries, items)
    # Some follow-ups are harder to satisfy than others, for both responses.
    of_item, n = of_query_and_item(rng, queries, items, 0.5), len(query)
    ease = of_item[:, None] + rng.standard_normal((n, FOLLOW_UPS))
    fit = ease[:, :, None] + gap[:, None, None] * np.array([0.5, -0.5])
    yes = fit[:, None] + 0.6 * rng.logistic(size=(n, RATERS, FOLLOW_UPS, 2)) > 0
    item, rater, follow_up, response = np.indices(yes.shape, dtype=np.int32).reshape(4, -1)
    label = labels(rng, gap, 0.5)
    asked = follow_up < rng.integers(1, FOLLOW_UPS + 1, queries)[query][item]
    checks = Checks(item * RATERS + rater, follow_up, response, yes.ravel().astype(np.int8)).where(asked)
    judgments = judgments_of(label)
    satisfied = satisfied_follow_ups(checks, judgments, check_counts(checks, judgments, n))
    spec = no_replicates()
    agreed = agreement_by_follow_ups(counts_of(label), query, satisfied, resample=spec)
    first = follow_ups_by_system(pairwise_items(query), satisfied, resample=spec)[0]
    wanted = (better - 0.5 + ease).reshape(-1, 1) + rng.logistic(size=(ease.size, RATERS)) > 0
    return {
        "agreement where follow-ups differ": agreed.differing.with_ties,
        "agreement where follow-ups do not differ": agreed.equal.with_ties,
        "agreement where majorities differ": agreed.differing_by_majority.with_ties,
        "agreement where majorities do not differ": agreed.equal_by_majority.with_ties,
        "share of satisfied follow-ups": first.share,
        "number of satisfied follow-ups": first.number,
        "follow-ups that a majority affirms": yes_majorities(
            ratings(np.repeat(query, FOLLOW_UPS), wanted.astype(np.float64)), resample=spec
        ),
    }


def spread_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """Ratings of a response for four values of an attribute, which are more or less far apart."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    # An attribute that matters to a query does so in all of its responses.
    matters = np.exp(0.4 * rng.standard_normal(queries))[query]
    of_value = apart * matters[:, None] * rng.standard_normal((len(query), VALUES))
    noise = 0.4 * rng.standard_normal((len(query), VALUES, RATERS))
    rated = on_points(3.2 + (shared[:, None] + of_value)[:, :, None] + noise)
    values = ratings(np.repeat(query, VALUES), rated.reshape(-1, RATERS))
    item, part = np.divmod(values.unit, VALUES)
    values = replace(values, item=item, part=part)
    found = spread_shares(spreads(values, np.zeros_like(item)), POINTS, resample=no_replicates())
    return {"mean spread over values": found.mean, "share of a spread": found.shares[2]}


def reading_figures(rng: np.random.Generator, queries: int, items: int, lean: float) -> Figures:
    """Preferences of three judges, each in both orders, who lean to what they read first, more or less."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    item, rater, first = np.indices((len(query), RATERS, 2)).reshape(3, -1)
    seen = (shared + 0.3)[item] + lean * np.where(first == 0, 0.5, -0.5) + 0.3 * rng.logistic(size=len(item))
    label = np.where(seen > 0.3, FIRST, np.where(seen < -0.3, SECOND, TIE))
    readings = Readings(rater, item, np.zeros_like(item), label, np.full(len(item), np.nan), first)
    found = inconsistency(readings, query[item], resample=no_replicates())
    return {"inconsistency between orders": found.inconsistent}


def draft_figures(rng: np.random.Generator, queries: int, items: int, good: float) -> Figures:
    """Sets that three calibrators make of four drafted entries, which are more or less good."""
    n = queries * items
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    of_draft = good + shared[:, None] + rng.standard_normal((n, DRAFTS))
    # Of worse drafts calibrators think less alike.
    seen = of_draft[:, :, None] + 0.5 * np.exp(-0.5 * good) * rng.logistic(size=(n, DRAFTS, RATERS))
    decision = N_DECISIONS - 1 - np.digitize(seen, DECIDED_AT)
    kept = (decision <= EDITED).sum(axis=1)
    # Where drafts are worse, calibrators take more from a revision and add more, and no set is empty.
    lacking = np.exp(-0.5 * (good + shared))[:, None]
    revised, added = rng.poisson(0.5 * lacking, (n, RATERS)), rng.poisson(0.7 * lacking, (n, RATERS))
    size = np.maximum(kept + revised + added, 1)
    spec = no_replicates()
    decided = decisions(ratings(np.repeat(query, DRAFTS), decision.reshape(-1, RATERS) * 1.0), resample=spec)
    sets = set_figures(
        *(ratings(query, each) for each in (size * 1.0, added / size, revised / size)), resample=spec
    )
    own = rng.standard_normal((n, RATERS))
    alike = 1 / (1 + np.exp(-0.5 - good - shared[:, None] - own - np.roll(own, 1, axis=1)))
    pair = np.repeat(np.arange(n), RATERS)
    likeness = set_agreement(pair, query[pair], np.round(alike.ravel()), alike.ravel(), resample=spec)
    return {
        "similarity of sets": likeness.alike,
        "share of a decision": decided.distribution.shares[EDITED],
        "alpha of decisions": decided.alpha,
        "size of a set": sets.size.mean,
        "added share of a set": sets.added.mean,
        "revised share of a set": sets.revised.mean,
    }


def code_figures(rng: np.random.Generator, queries: int, items: int, often: float) -> Figures:
    """Checklists and texts of several sources: answers are yes, and texts have a code, more or less often."""
    query, shared = np.repeat(np.arange(queries), items), often + of_query_and_item(rng, queries, items)
    parts = np.repeat(shared, YES_PARTS)[:, None] + rng.logistic(size=(len(query) * YES_PARTS, RATERS)) > 0
    checklist = ratings(np.repeat(query, YES_PARTS), parts.astype(np.float64))
    by_people = shared[:, None] + rng.logistic(size=(len(query), RATERS)) > 0
    by_model = 0.7 + shared + of_query_and_item(rng, queries, items, 0.4) + rng.logistic(size=len(query)) > 0
    cell, spec = np.repeat(np.arange(len(query)), RATERS), no_replicates()
    sides = contrast(
        CodedSide(by_people.ravel().astype(np.float64), cell, query[cell]),
        CodedSide(by_model.astype(np.float64), np.arange(len(query)), query),
        resample=spec,
        tests=NO_TESTS,
        unit="items",
    )
    of_systems = shared[:, None] + np.array([0.5, -0.5]) + rng.logistic(size=(len(query), 2)) > 0
    text, system = np.divmod(np.arange(of_systems.size), 2)
    given = [("code",) if has else () for has in of_systems.ravel()]
    [coded] = code_shares(given, ("code",), system, query[text], systems=2, resample=spec)
    assert sides is not None
    [yes] = yes_shares_by_group(checklist, np.zeros(len(checklist.value), np.int64), 1, resample=spec)
    return {
        "share of yes": yes.mean,
        "share of texts with a code": coded.shares[1],
        "contrast, people's share": sides.first,
        "contrast, model's share": sides.second,
    }


def time_figures(rng: np.random.Generator, queries: int, items: int, spread: float) -> Figures:
    """Lognormal seconds of a quick, a middling and a slow rater, whose logarithms are more or less spread."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items, 0.5)
    speed = np.linspace(-0.4, 0.4, RATERS)
    log = 3.5 + spread * (shared[:, None] + speed + 0.6 * rng.standard_normal((len(query), RATERS)))
    item, rater = np.divmod(np.arange(log.size), RATERS)
    found = judging_times(np.exp(log).ravel(), item, rater, query[item], resample=no_replicates())
    return {"mean time of judgments": found.mean}


PARTS: tuple[Design, ...] = (
    Design("reliability", (2.0, 0.9, 0.3), reliability_figures),
    Design("groups", (0.0, 0.5, 1.5), group_figures),
    Design("crowds", (0.0, 0.5, 1.5), crowd_figures),
    Design("levels", (-0.5, 0.5, 1.5), level_figures),
    Design("follow-ups", (0.0, 0.8, 2.0), follow_up_figures),
    Design("spreads", (0.2, 0.6, 1.2), spread_figures),
    Design("readings", (0.0, 0.7, 2.0), reading_figures),
    Design("drafts", (-0.8, 0.3, 1.5), draft_figures),
    Design("codes", (-1.8, 0.0, 1.5), code_figures),
    Design("times", (0.4, 0.7, 1.0), time_figures),
)

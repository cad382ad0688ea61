"""Simulated studies of judges and picks, for the coverage of intervals that other designs lack.

What raters of a query share is drawn for the query, what they share of an item for the item (see `simulated`).
"""

import numpy as np

from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.tidy import BOTH_BAD, FIRST, N_LABELS, SECOND, TIE, Ints
from analytics.statistics.core.values import Values
from analytics.statistics.judges.labels_vs_people import (
    expected_agreement,
    judge_less_people,
    outer_difference,
)
from analytics.statistics.judges.measures import preference_accuracy
from analytics.statistics.judges.order_consistency import OrderReadings, order_inconsistency
from analytics.statistics.judges.score_spread import score_spread
from analytics.statistics.preferences.best_picks import NO_PICK, Picks, pick_shares, same_pick
from analytics.statistics.preferences.grades import Grades, lean_to_first
from analytics.statistics.preferences.tie_rates import tie_rate
from analytics.statistics.replacement.difference import JudgeMinusPeople, SharedScores, judge_minus_people
from analytics.statistics.replacement.people_worth import worth_by_labels, worth_by_numbers
from analytics.statistics.replacement.self_preference import own_contrasts, own_scores
from analytics.statistics.replacement.source_bias import source_bias
from benchmarks.simulated import (
    NO_TESTS,
    POINTS,
    RATERS,
    Design,
    Figures,
    Floats,
    counts_of,
    labels,
    no_replicates,
    of_query_and_item,
    on_points,
    values_of,
)

SYSTEMS = tuple("abcd")
FARTHEST = 2
PEOPLE = 5
SHARE = (0.0, 1.0)
# Of CondAmbigQA, section 5.4.
BORDERS = (0.2, 0.35, 0.5)


def label_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Preferences of three people with more or less noise, of a good and of a bad judge, and a judge's chances."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items) + 0.3
    people, spec = labels(rng, shared, noise), no_replicates()
    good, bad = (labels(rng, shared, each)[:, 0] for each in (0.4, 1.2))
    counts = counts_of(people)
    chances = label_chances_of(shared + 0.5 * rng.standard_normal(len(shared)))
    return {
        "judge less people, leave-one-out": judge_less_people(
            counts, good, query, resample=spec, tests=NO_TESTS
        ).difference,
        "difference of two judges, leave-one-out": outer_difference(counts, good, bad, query, resample=spec),
        "expected leave-one-out agreement": expected_agreement(counts, chances, query, resample=spec),
        "tie rate": tie_rate(people.ravel(), np.repeat(query, RATERS), resample=spec),
    }


def vote_figures(rng: np.random.Generator, queries: int, items: int, good: float) -> Figures:
    """Votes of three people on responses that are more or less good: neither, where both seem so, and neither is."""
    query, gap = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    quality = good + of_query_and_item(rng, queries, items)
    votes = labels(rng, gap, 0.6)
    seen = quality[:, None] + 0.6 * rng.logistic(size=votes.shape)
    votes[(votes == TIE) & (seen < 0)] = BOTH_BAD
    return {
        "share of votes that both are bad": tie_rate(
            votes.ravel(), np.repeat(query, RATERS), resample=no_replicates(), tie=BOTH_BAD
        )
    }


def label_chances_of(seen: Floats) -> Floats:
    """Probabilities of the labels (n, 3) that logistic noise makes of what is `seen` (n,), as in `labels`."""
    first, second = (1 / (1 + np.exp((0.4 - sign * seen) / 0.4)) for sign in (1, -1))
    chances = np.zeros((len(seen), N_LABELS))
    chances[:, FIRST], chances[:, SECOND], chances[:, TIE] = first, second, 1 - first - second
    return chances


def score_figures(rng: np.random.Generator, queries: int, items: int, like: float) -> Figures:
    """A judge's scores of three responses from 0 to 1, in steps, which are more or less like what people choose by."""
    n = queries * items
    query, spec = np.repeat(np.arange(queries), items), no_replicates()
    of_response = of_query_and_item(rng, queries, items)[:, None] + rng.standard_normal((n, 3))
    own = like * of_response + np.sqrt(1 - like**2) * rng.standard_normal((n, 3))
    score = np.clip(np.round(2 * like + 3 * own + 4) / 20, 0, 1)
    seen = of_response[:, None] + 0.7 * rng.standard_normal((n, RATERS, 3))
    chosen = seen.argmax(axis=2)
    # A chosen response against each other one, by rater.
    others = (chosen[:, :, None] + np.array([1, 2])) % 3
    row = np.arange(n)[:, None, None]
    right, wrong = np.broadcast_arrays(score[row, chosen[:, :, None]], score[row, others])
    of_choice = np.repeat(query, right[0].size)
    spread = score_spread(
        score.ravel(), np.repeat(query, 3), borders=BORDERS, within=SHARE, resample=spec, unit="responses"
    )
    return {
        "preference accuracy": preference_accuracy(right.ravel(), wrong.ravel(), of_choice, resample=spec),
        "mean of a judge's scores": spread.mean,
        "share of scores in the lowest band": spread.bands[0],
        "share of scores in the second band": spread.bands[1],
    }


def order_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Two samples of a judge's answers to two questions in both orders, with more or less noise of each reading."""
    n = queries * items
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    # By item, sample, order and question.
    of_part = shared[:, None] + 0.5 * rng.standard_normal((n, 2))
    lean = np.array([0.1, -0.1])[:, None]
    seen = of_part[:, None, None] + lean + noise * rng.standard_normal((n, 2, 2, 2))
    item, sample, order, part = (each.ravel() for each in np.indices(seen.shape))
    value = on_points(np.round(3.2 + seen.ravel()))
    # Of some items the judge gave no answer to the second question in the second order.
    there = (part == 0) | (order == 0) | (item % 10 > 0)
    columns = (each[there] for each in (item, query[item], sample, order, part, value))
    return {
        "inconsistency between orders, by question": order_inconsistency(
            OrderReadings(*columns), resample=no_replicates()
        )
    }


def pick_figures(rng: np.random.Generator, queries: int, items: int, apart: float) -> Figures:
    """The best of four responses, or of three where the first system has none, by three raters; some call a tie."""
    n, k = queries * items, len(SYSTEMS)
    query, spec = np.repeat(np.arange(queries), items), no_replicates()
    of_query = apart * np.linspace(1, -1, k) + 0.5 * rng.standard_normal((queries, k))
    seen = (of_query[query] + 0.5 * rng.standard_normal((n, k)))[:, None] + rng.standard_normal(
        (n, RATERS, k)
    )
    offered = np.ones((n, k), dtype=np.int64)
    offered[::5, 0] = 0
    seen[::5, :, 0] = -np.inf
    best = np.sort(seen, axis=2)[:, :, -2:]
    picked = np.where(best[:, :, 1] - best[:, :, 0] < 0.15, NO_PICK, seen.argmax(axis=2)).ravel()
    picks = Picks(
        item=np.repeat(np.arange(n), RATERS),
        query=np.repeat(query, RATERS),
        rater=np.tile(np.arange(RATERS), n),
        response=picked,
        system=picked,
    )
    shares, same = pick_shares(picks, k, offered=offered, resample=spec), same_pick(picks, resample=spec)
    return {
        "share of picks": shares.systems[0].share,
        "share of picks that are ties": shares.tie,
        "all pick the same": same.all_same,
        "two or more pick the same": same.two_same,
    }


def grade_figures(rng: np.random.Generator, queries: int, items: int, lean: float) -> Figures:
    """Grades from -2 to 2 by three raters who lean more or less to what was shown first; a few orders are unknown."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items) + 0.3
    item, rater = (each.ravel() for each in np.indices((len(query), RATERS)))
    first = rng.integers(0, 2, len(item))
    # Queries differ in how far raters go by the order.
    of_query = lean * (1 + 0.5 * rng.standard_normal(queries))[query[item]]
    seen = shared[item] + of_query * (2 * first - 1) + 0.7 * rng.standard_normal(len(item))
    grades = Grades(
        item=item,
        rater=rater,
        grade=np.clip(np.round(1.3 * seen), -FARTHEST, FARTHEST),
        first=np.where(rng.random(len(item)) < 0.05, -1, first),
    )
    return {
        "lean to the first shown": lean_to_first(grades, query, farthest=FARTHEST, resample=no_replicates())
    }


def own_figures(rng: np.random.Generator, queries: int, items: int, lean: float) -> Figures:
    """Ratings of a response of the judge's own model and of one by a person, and preferences between the two, by three
    people and by a judge who leans more or less to its own, and is a bit more lenient to all where it does."""
    n, spec = queries * items, no_replicates()
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    # To favour a response is no bias where it is the better one: people favour it, too.
    better = np.array([0.2 + 0.5 * lean, -0.2])
    of_response = shared[:, None] + better + 0.5 * rng.standard_normal((n, 2))
    of_lean = lean * (1 + 0.5 * rng.standard_normal(queries))[query]
    people = of_response[:, None] + 0.7 * rng.standard_normal((n, RATERS, 2))
    judge = of_response + 0.7 * rng.standard_normal((n, 2)) + of_lean[:, None] * np.array([1.0, 0.2])
    by_people, by_judge = on_points(3 + people).mean(axis=1).ravel(), on_points(3 + judge).ravel()
    of_query, is_own = np.repeat(query, 2), np.arange(2 * n) % 2 == 0
    scores = SharedScores(by_people, by_judge, of_query, np.arange(2 * n) % 2)
    width = POINTS[-1] - POINTS[0]
    both = against_people(by_people, by_judge, of_query, (POINTS[0], POINTS[-1]))
    rated = against_people(*own_contrasts(scores, is_own), (-width, width))
    # Its own response is the first or the second one.
    own_first = rng.random(n) < 0.5
    preferred = (
        preference(people[:, :, 0] - people[:, :, 1]).mean(axis=1),
        preference(judge[:, 0] - judge[:, 1]),
    )
    ours, own = (own_scores(np.where(own_first, each, 1 - each), own_first, ~own_first) for each in preferred)
    bias = source_bias(
        by_judge - by_people, is_own, of_query, resample=spec, tests=NO_TESTS, unit="responses"
    )
    return {
        "people's mean beside a judge": both.people,
        "judge's mean beside people": both.judge,
        "self-preference, by ratings": rated.difference,
        "self-preference, by preferences": against_people(ours, own, query, SHARE).difference,
        "judge less people, text by models": bias.models,
        "judge less people, text by persons": bias.persons,
    }


def against_people(
    people: Floats, judge: Floats, query: Ints, within: tuple[float, float]
) -> JudgeMinusPeople:
    return judge_minus_people(
        people, judge, query, within=within, unit="units", resample=no_replicates(), tests=NO_TESTS
    )


def preference(gap: Floats) -> Floats:
    """1 for the first response, 0 for the second, and 1/2 for a tie."""
    return np.where(gap > 0.3, 1.0, np.where(gap < -0.3, 0.0, 0.5))


def curve_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Labels and numbers of five people with more or less noise, the curve of how well some predict another one."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items) + 0.2
    seen = shared[:, None] + noise * rng.standard_normal((len(query), PEOPLE))
    own, spec = shared + 0.7 * rng.standard_normal(len(query)), no_replicates()
    label, judge = (np.where(np.abs(each) < 0.3, TIE, each < 0).astype(np.int64) for each in (seen, own))
    unit, rater = (each.ravel() for each in np.indices(label.shape))
    counts = count_matrix(unit, label.ravel(), len(query), N_LABELS)
    values = Values(unit, query[unit], unit * 0 - 1, unit * 0, unit, rater, seen.ravel())
    by_labels = worth_by_labels(counts, judge, query, unit="items", resample=spec)
    by_numbers = worth_by_numbers(values, values_of(own, query), unit="items", resample=spec)
    return {
        "curve of people, one by labels": by_labels.curve[1],
        "curve of people, three by labels": by_labels.curve[3],
        "curve of people, one by numbers": by_numbers.curve[0],
        "curve of people, two by numbers": by_numbers.curve[1],
    }


JUDGED: tuple[Design, ...] = (
    Design("labels of judges", (1.5, 0.6, 0.2), label_figures),
    Design("scores of judges", (0.1, 0.5, 0.9), score_figures),
    Design("both orders", (0.1, 0.3, 0.7), order_figures),
    Design("picks", (0.0, 0.5, 1.2), pick_figures),
    Design("grades", (0.0, 0.3, 0.8), grade_figures),
    Design("own responses", (0.0, 0.4, 0.8), own_figures),
    Design("curves", (1.5, 0.7, 0.3), curve_figures),
)
# Apart from the others, as seeds go by a design's place.
VOTES: tuple[Design, ...] = (Design("votes of four kinds", (-1.0, 0.0, 1.0), vote_figures),)

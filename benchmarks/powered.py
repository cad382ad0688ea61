"""Simulated studies whose people judge a random part of the queries that a judge judges: prediction-powered means.

The coverage benchmark takes its designs from here, with ten judged queries for each that people judge. By itself this
prints, for judges of every kind and several numbers of queries, how often the interval of people's mean with the judge
holds the truth beside that of people alone, how much narrower it is, and as how many labelled queries it counts.

Usage: python -m benchmarks.powered [--simulations N] [--seed N]
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.replacement.prediction_powered import (
    PredictionPowered,
    QueryValues,
    prediction_powered_mean,
    query_values,
)
from benchmarks.simulated import Design, Figures, Floats, no_replicates, of_query_and_item
from evaluation.design import generator

PEOPLE, FOLDS, JUDGED = 3, 5, 10
SCALE = (1.0, 5.0)
LABELLED, ALL_JUDGED = (30, 60, 150), (300, 1_500)
MANY = 400_000


@dataclass(frozen=True)
class SimulatedJudge:
    """Sees what people see with so much noise, and `lean` more of the first response, or a higher rating."""

    name: str
    noise: float
    lean: float = 0.0


JUDGES = (
    SimulatedJudge("good", 0.4),
    SimulatedJudge("as one person", 1.0),
    SimulatedJudge("useless", 50.0),
    SimulatedJudge("good, biased", 0.4, 0.6),
)


def votes(seen: Floats) -> Floats:
    """The first response where it is clearly better, the second, or a tie, as scores."""
    return np.where(seen > 0.4, 1.0, np.where(seen < -0.4, 0.0, 0.5))


def ratings(seen: Floats) -> Floats:
    return np.clip(np.round(3.5 + seen), *SCALE)


def study(
    rng: np.random.Generator, labelled: int, judged: int, items: int, judge: SimulatedJudge, mean: float
) -> tuple[Floats, Floats, Floats]:
    """What three people saw of each item, nan outside their part; what the judge saw; and the query of each."""
    query, shared = np.repeat(np.arange(judged), items), of_query_and_item(rng, judged, items) + mean
    people = shared[:, None] + rng.logistic(size=(len(query), PEOPLE)) * 0.5
    people[query >= labelled] = np.nan
    own = shared + judge.lean + judge.noise * rng.standard_normal(len(query))
    return people, own, query


def values(scored: Callable[[Floats], Floats], people: Floats, own: Floats, query: Floats) -> QueryValues:
    unknown = np.isnan(people)
    ours = np.where(unknown, np.nan, scored(np.where(unknown, 0.0, people))).mean(axis=1)
    return query_values(ours, scored(own), query)


def fitted(
    rng: np.random.Generator, given: QueryValues, other: Floats, *, crossed: bool = True
) -> QueryValues:
    """The judge that agrees better with people, chosen anew for each of five categories and each fold of people's
    queries on the other folds, as composites are. The queries that people did not judge get the mean over folds; those
    that are not `crossed`, the value by the choice on all of people's queries."""
    known = np.flatnonzero(np.isfinite(given.people))
    category = rng.integers(0, 5, len(given.people))
    fold = np.full(len(given.people), -1)
    fold[known] = rng.permutation(len(known)) % FOLDS
    judges = np.stack([given.judge, other])
    misses = np.abs(judges - given.people)
    # The last is chosen on all folds.
    by_fold = np.empty((FOLDS + 1, len(fold)))
    for held, each in product(range(FOLDS + 1), range(5)):
        learnt = known[(fold[known] != held) & (category[known] == each)]
        best = int(np.argmin(misses[:, learnt].mean(axis=1))) if len(learnt) else 0
        by_fold[held, category == each] = judges[best, category == each]
    own = by_fold[np.maximum(fold, 0), np.arange(len(fold))]
    others = by_fold[:FOLDS].mean(axis=0) if crossed else by_fold[FOLDS]
    return QueryValues(given.query, given.people, np.where(fold >= 0, own, others))


def powered_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Ten judged queries for each that people judge; the judge leans, and has more or less noise than people."""
    judge, spec = SimulatedJudge("", noise, 0.5), no_replicates()
    people, own, query = study(rng, queries, JUDGED * queries, items, judge, 0.2)
    far = study(rng, queries, JUDGED * queries, items, judge, 1.6)
    votes_of, ratings_of = values(votes, people, own, query), values(ratings, people, own, query)
    second = values(ratings, people - 0.3 + 0.3 * rng.standard_normal(people.shape), own - 0.5, query)
    opposite = values(votes, people, own - 1.0, query).judge
    found = {
        "win rate with a judge": prediction_powered_mean(votes_of, within=SHARE, resample=spec),
        "high win rate with a judge": prediction_powered_mean(
            values(votes, *far), within=SHARE, resample=spec
        ),
        "win rate with a fitted judge": prediction_powered_mean(
            fitted(rng, votes_of, opposite), within=SHARE, resample=spec
        ),
        "mean rating with a judge": prediction_powered_mean(ratings_of, within=SCALE, resample=spec),
        "difference with a judge": prediction_powered_mean(ratings_of - second, within=None, resample=spec),
    }
    return {name: each.combined for name, each in found.items()}


POWERED: tuple[Design, ...] = (Design("powered", (0.3, 1.0, 50.0), powered_figures),)


@dataclass(frozen=True)
class Cell:
    """Studies of one kind of value, judge, and numbers of labelled and of judged queries."""

    kind: str
    judge: SimulatedJudge
    labelled: int
    judged: int


# What is scored, how far values range, and the mean of what people see.
KINDS: dict[str, tuple[Callable[[Floats], Floats], tuple[float, float], float]] = {
    "win rate": (votes, SHARE, 0.2),
    "win rate, high": (votes, SHARE, 1.6),
    "mean rating": (ratings, SCALE, 0.2),
}


def simulated(cell: Cell, seed: int, simulations: int) -> list[PredictionPowered]:
    scored, within, mean = KINDS[cell.kind]
    found = []
    for number in range(simulations):
        rng = generator(seed, "powered", cell.kind, cell.judge.name, cell.labelled, cell.judged, number)
        drawn = values(scored, *study(rng, cell.labelled, cell.judged, 1, cell.judge, mean))
        found.append(prediction_powered_mean(drawn, within=within, resample=no_replicates()))
    return found


def true_mean(kind: str, seed: int) -> float:
    scored, _, mean = KINDS[kind]
    people, _, _ = study(generator(seed, "powered", kind), MANY, MANY, 1, JUDGES[0], mean)
    return float(scored(people).mean())


def row(cell: Cell, found: Sequence[PredictionPowered], truth: float) -> list[str]:
    ratios = [_width(each.combined) / _width(each.people) for each in found]
    return [
        cell.kind,
        cell.judge.name,
        f"{cell.labelled}",
        f"{cell.judged:,}",
        f"{np.median([each.weight or 0.0 for each in found]):.2f}",
        f"{coverage([each.combined for each in found], truth):.1%}",
        f"{coverage([each.people for each in found], truth):.1%}",
        f"{np.nanmedian(ratios):.2f}",
        f"{np.median([each.worth or 0.0 for each in found]):.0f}",
    ]


def coverage(estimates: Sequence[Estimate], truth: float) -> float:
    """The share of the intervals that hold the truth, of those that there are."""
    limits = [(each.low, each.high) for each in estimates if each.low is not None and each.high is not None]
    return float(np.mean([low <= truth <= high for low, high in limits]))


def _width(estimate: Estimate) -> float:
    if estimate.low is None or estimate.high is None:
        return float("nan")
    return estimate.high - estimate.low


def fitted_row(labelled: int, truth: float, seed: int, simulations: int) -> list[str]:
    """Of two judges with little noise that lean to either side, the one chosen on people: both ways, and alone."""
    found: dict[bool, list[Estimate]] = {True: [], False: []}
    for number in range(simulations):
        rng = generator(seed, "fitted", labelled, number)
        people, own, query = study(rng, labelled, JUDGED * labelled, 1, SimulatedJudge("", 0.3, 0.5), 0.2)
        given, other = values(votes, people, own, query), values(votes, people, own - 1.0, query).judge
        for crossed, estimates in found.items():
            # Both ways deal the same categories and folds.
            chosen = fitted(generator(seed, "folds", labelled, number), given, other, crossed=crossed)
            made = prediction_powered_mean(chosen, within=SHARE, resample=no_replicates())
            estimates.append(made.combined)
    return [f"{labelled}", *(f"{coverage(found[crossed], truth):.1%}" for crossed in (True, False))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    print(f"{options.simulations:,} studies per cell, one item of a query, seed {options.seed}\n")
    print("| Figure | Judge | labelled | judged | weight | with the judge | people alone | width | worth |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in KINDS:
        truth = true_mean(kind, options.seed)
        for judge, labelled, judged in product(JUDGES, LABELLED, ALL_JUDGED):
            cell = Cell(kind, judge, labelled, judged)
            found = simulated(cell, options.seed, options.simulations)
            print(f"| {' | '.join(row(cell, found, truth))} |", flush=True)
    print("\nWin rate with a judge that was chosen on people, of two that lean to either side\n")
    print("| labelled | the others by the mean over folds | by the choice on all of people's queries |")
    print("| ---: | ---: | ---: |")
    for labelled in LABELLED:
        cells = fitted_row(labelled, true_mean("win rate", options.seed), options.seed, options.simulations)
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()

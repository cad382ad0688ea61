"""Two simulated studies of the same queries, for the coverage of intervals of their difference, and its false claims.

The effect of a query is the same in both studies, more or less: their correlation is the design's parameter. The first
study has three raters, the second `SECOND_RATERS`, so that nothing rests on equal numbers of judgments.

Usage: python -m benchmarks.two_studies [--simulations N] [--queries N,N] [--seed N]
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from analytics.statistics.agreement.alpha_sums import alpha_sums, alpha_sums_of_values
from analytics.statistics.agreement.percentage import item_agreement, majority
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.matched import QuerySums, matched_difference, mean_sums, pearson_sums
from analytics.statistics.core.randomization import Randomization, holm
from analytics.statistics.core.tidy import FIRST, MISSING, N_LABELS, SECOND, TIE, Ints
from analytics.statistics.core.values import Values
from benchmarks.simulated import NO_TESTS, POINTS, RATERS, Design, Figures, Floats, on_points

SECOND_RATERS = 5
SHARE = (0.0, 1.0)
CORRELATIONS = (0.0, 0.6, 0.95)
# How much further the second study's raters lean to the first system, or up the scale; and of its noise.
LEAN, NOISE = 0.5, 1.4
LEVEL = 0.05


def effects(rng: np.random.Generator, queries: int, items: int, alike: float, spread: float = 0.7) -> Floats:
    """What all judgments of an item share, in each study (2, queries * items)."""
    both = rng.standard_normal(queries)
    own = rng.standard_normal((2, queries))
    of_query = np.sqrt(alike) * both + np.sqrt(1 - alike) * own
    of_item = rng.standard_normal((2, queries * items))
    return spread * (np.repeat(of_query, items, axis=1) + of_item)


def preferences(
    rng: np.random.Generator, shared: Floats, query: Ints, raters: int, noise: float
) -> Mapping[str, QuerySums]:
    seen = shared[:, None] + noise * rng.logistic(size=(len(shared), raters))
    label = np.where(seen > 0.4, FIRST, np.where(seen < -0.4, SECOND, TIE))
    row = np.repeat(np.arange(len(shared)), raters)
    counts = count_matrix(row, label.ravel(), len(shared), N_LABELS)
    score = (label == FIRST).mean(axis=1) + (label == TIE).mean(axis=1) / 2
    won, alike = majority(counts), item_agreement(counts)
    decided = won != MISSING
    return {
        "expected win rates": mean_sums(score, query, unit="items", within=SHARE),
        "win rates by majority": mean_sums(
            (won[decided] == FIRST).astype(np.float64), query[decided], unit="items", within=SHARE
        ),
        "tie rates": mean_sums(
            (label == TIE).astype(np.float64).ravel(), query[row], unit="judgments", within=SHARE
        ),
        "agreement": mean_sums(alike, query, unit="items", within=SHARE),
        "alpha, nominal": alpha_sums(counts, query, level="nominal"),
        "alpha, ordinal": alpha_sums(counts[:, [0, 2, 1]], query, level="ordinal"),
    }


def ratings(
    rng: np.random.Generator, shared: Floats, query: Ints, raters: int, noise: float
) -> Mapping[str, QuerySums]:
    given = on_points(3.2 + shared[:, None] + 0.7 * noise * rng.standard_normal((len(shared), raters)))
    judge = on_points(3.4 + 0.7 * shared + 0.7 * rng.standard_normal(len(shared)))
    row, rater = (each.ravel() for each in np.indices(given.shape))
    values = Values(row, query[row], row * 0 - 1, row * 0, row, rater, given.ravel())
    return {
        "means": mean_sums(values.value, values.query, unit="ratings", within=(POINTS[0], POINTS[-1])),
        "alpha, interval": alpha_sums_of_values(values, level="interval", points=POINTS),
        "Pearson's r with a judge": pearson_sums(given.mean(axis=1), judge, query, unit="items"),
    }


def two_studies(
    rng: np.random.Generator,
    queries: int,
    items: int,
    alike: float,
    *,
    lean: float = LEAN,
    noise: float = NOISE,
    base: float = 0.0,
    raters: int = SECOND_RATERS,
) -> dict[str, tuple[QuerySums, QuerySums]]:
    """Every figure of both studies."""
    query, shared = np.repeat(np.arange(queries), items), effects(rng, queries, items, alike)
    found = {}
    for make in (preferences, ratings):
        first = make(rng, shared[0] + base, query, RATERS, 0.5)
        second = make(rng, shared[1] + base + lean, query, raters, 0.5 * noise)
        found |= {name: (first[name], second[name]) for name in first}
    return found


def difference_figures(rng: np.random.Generator, queries: int, items: int, alike: float) -> Figures:
    return {
        f"two studies: {name}": matched_difference(*both, tests=NO_TESTS).difference
        for name, both in two_studies(rng, queries, items, alike).items()
    }


def one_sided_figures(rng: np.random.Generator, queries: int, items: int, base: float) -> Figures:
    """Where most raters prefer the same system, or rate near the top, shares and means lie at an end of their range."""
    return {
        f"one-sided studies: {name}": matched_difference(*both, tests=NO_TESTS).difference
        for name, both in two_studies(rng, queries, items, CORRELATIONS[1], base=base).items()
    }


TWO_STUDIES: tuple[Design, ...] = (
    Design("two studies", CORRELATIONS, difference_figures),
    Design("one-sided studies", (0.5, 1.0, 1.5), one_sided_figures),
)

# Studies without a difference: alike in everything, or the second with more raters. Percentage agreement and a majority
# depend on how many judge an item, so that they differ in the latter.
NULLS = {"as many raters": RATERS, "more raters": 9}
OF_NUMBERS = ("agreement", "win rates by majority")
ANY = "any of them, after correction"


def false_claims(queries: int, simulations: int, seed: int) -> dict[str, float]:
    """Of each figure, the largest share of studies without a difference of which the test says that there is one; and
    of all of them together, each study's tests corrected by Holm's method."""
    worst: dict[str, float] = {}
    for at, (kind, raters) in enumerate(NULLS.items()):
        left_out = () if kind == "as many raters" else OF_NUMBERS
        for alike in CORRELATIONS:
            said: Counter[str] = Counter()
            for study in range(simulations):
                rng = np.random.default_rng([seed, queries, at, int(100 * alike), study])
                both = two_studies(rng, queries, 1, alike, lean=0.0, noise=1.0, raters=raters)
                found = {
                    name: matched_difference(*figures, tests=Randomization(study)).test
                    for name, figures in both.items()
                    if name not in left_out
                }
                p = {name: test.p_value for name, test in found.items() if test is not None}
                said.update(name for name, value in p.items() if value < LEVEL)
                said[ANY] += min(holm(list(p.values())), default=1.0) < LEVEL
            for name in (*found, ANY):
                worst[name] = max(worst.get(name, 0.0), said[name] / simulations)
    return worst


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two_studies")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--queries", default="10,15,30,100")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    numbers = [int(each) for each in options.queries.split(",")]
    found = {n: false_claims(n, options.simulations, options.seed) for n in numbers}
    print("| Figure | " + " | ".join(f"{n} queries" for n in numbers) + " |")
    print("| --- |" + " ---: |" * len(numbers))
    for name in found[numbers[0]]:
        print(f"| {name} | " + " | ".join(f"{found[n][name]:.1%}" for n in numbers) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])

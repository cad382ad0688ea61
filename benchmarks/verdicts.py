"""How often the verdict on a judge is wrong: simulated judges of every kind, tested on several numbers of queries.

Three people of a crowd of twelve judge each item, and the judge, which sees what they see with noise of its own. "A
tenth worse" fits people worse than one of them by just the epsilon of the test, so that "replaces" is false; "useless"
says nothing of people's answers, so that "helps" is false too; "biased" favours the longer response; and "good in half"
is useless in two of four categories, where every claim is false.

Usage: python -m benchmarks.verdicts [--simulations N] [--seed N]
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.replacement.alternative_annotator import SharedAnswers
from analytics.statistics.replacement.difference import judge_minus_people
from analytics.statistics.replacement.verdict import (
    Claim,
    PartFit,
    counted_biases,
    fits_with_people,
    held_back,
    judge_parts,
)
from benchmarks.simulated import Floats, no_replicates, of_query_and_item
from evaluation.design import generator

EPSILON, PEOPLE, CROWD, CATEGORIES = 0.1, 3, 12, 4
QUERIES = (30, 60, 100, 200)
ITEMS = (1, 2)
NOISE, USELESS, LEAN = 0.6, 1e6, 1.2
MANY = 400_000


@dataclass(frozen=True)
class TestedJudge:
    """A judge's noise by category, how much it leans to the longer response, and whether a claim of it is false."""

    name: str
    noise: Callable[[int], float]
    lean: float = 0.0
    replaces: Callable[[PartFit], bool] = lambda part: False
    helps: Callable[[PartFit], bool] = lambda part: False

    def is_wrong(self, part: PartFit) -> bool:
        return (part.claim == "replaces" and self.replaces(part)) or (
            part.claim == "helps" and self.helps(part)
        )


def judges() -> tuple[TestedJudge, ...]:
    worse = boundary()
    bad = {"c2", "c3"}
    return (
        TestedJudge("good", lambda category: 0.3),
        TestedJudge("as one person", lambda category: NOISE),
        TestedJudge("a tenth worse", lambda category: worse, replaces=lambda part: True),
        TestedJudge("useless", lambda category: USELESS, replaces=lambda part: True, helps=lambda part: True),
        TestedJudge("good, biased", lambda category: 0.3, LEAN),
        TestedJudge(
            "good in half",
            lambda category: 0.3 if category < 2 else USELESS,
            replaces=lambda part: part.part in {"", *bad},
            helps=lambda part: part.part in bad,
        ),
    )


def answers(
    rng: np.random.Generator, queries: int, items: int, judge: TestedJudge
) -> tuple[SharedAnswers, Floats, Floats]:
    """People's and the judge's preferences (1, or 0 for the second response), the judge's length less the other's, and
    each item's category."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items)
    category, longer = query % CATEGORIES, rng.choice([-1.0, 1.0], len(query))
    seen = shared[:, None] + NOISE * rng.standard_normal((len(query), PEOPLE))
    noise = np.array([judge.noise(each) for each in range(CATEGORIES)])[category]
    own = shared + judge.lean * longer + noise * rng.standard_normal(len(query))
    unit = np.repeat(np.arange(len(query)), PEOPLE)
    # Each item has other people of the crowd.
    rater = (np.arange(len(query))[:, None] * PEOPLE + np.arange(PEOPLE)).ravel() % CROWD
    label = (seen > 0).astype(np.float64).ravel()
    return SharedAnswers(unit, rater, label, (own > 0).astype(np.float64), query), longer, category


def tested(
    given: SharedAnswers, longer: Floats, category: Floats, tests: Randomization
) -> tuple[PartFit, ...]:
    """As `analytics.reports.judge_test` tests one, of its biases by length alone."""
    spec = no_replicates()
    parts = judge_parts(
        fits_with_people(given, width=None),
        np.asarray(category, dtype=np.int64),
        [f"c{each}" for each in range(CATEGORIES)],
        epsilon=EPSILON,
        unit="items",
        resample=spec,
        tests=tests,
    )
    people = given.value.reshape(-1, PEOPLE).mean(axis=1)
    to_longer = [np.where(longer > 0, each, 1 - each) for each in (people, given.judge)]
    length = judge_minus_people(
        *to_longer, given.query, within=SHARE, unit="items", resample=spec, tests=tests
    )
    return held_back(parts, counted_biases([("length", length.difference, length.test)], EPSILON))


def boundary() -> float:
    """The noise with which a judge fits people worse than one of them by just epsilon."""
    low, high = NOISE, 10.0
    for _ in range(12):
        noise = (low + high) / 2
        judge = TestedJudge("", lambda category, noise=noise: noise)  # type: ignore[misc]
        given, *_ = answers(generator(1, "verdicts"), MANY, 1, judge)
        fits = fits_with_people(given, width=None)
        worse = float((fits.person - fits.judge).mean())
        low, high = (noise, high) if worse < EPSILON else (low, noise)
    return (low + high) / 2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=2)
    options = parser.parse_args()
    began = time.perf_counter()
    print("| Judge | Queries | Items each | Replaces | Helps | Neither | Any false claim, categories too |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for judge in judges():
        for items in ITEMS:
            for queries in QUERIES:
                claims: Counter[Claim | None] = Counter()
                wrong = 0
                for at in range(options.simulations):
                    rng = generator(options.seed, judge.name, items, queries, at)
                    parts = tested(*answers(rng, queries, items, judge), Randomization(at))
                    claims[parts[0].claim] += 1
                    wrong += any(map(judge.is_wrong, parts))
                shares = (
                    claims["replaces"], claims["helps"], claims["unsupported"], wrong
                )  # fmt: skip
                said = " | ".join(f"{each / options.simulations:.1%}" for each in shares)
                print(f"| {judge.name} | {queries} | {items} | {said} |", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s, {options.simulations:,} studies a row")


if __name__ == "__main__":
    main()

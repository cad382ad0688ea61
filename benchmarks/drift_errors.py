"""Judges that are said to have drifted, of those that have not changed and of those that have: simulated passes.

Half of a query's chance of another answer is its own, so that items of a query depend. A judge has two questions;
Holm's correction is over its later passes and both. Per row the share of judges of which at least one such sentence
is made, with its Clopper-Pearson limits; it fails where a lower limit is above 5 % of judges that have not changed.

Usage: python -m benchmarks.drift_errors [judges] (`make audit` runs it)
"""

import sys
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from analytics.figures.families import ALPHA, LEAST_QUERIES, FamilyTest, correct, is_supported
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.judges.drift import Drift, drift, drift_of_numbers
from benchmarks.rates import Rate

JUDGES = 2_000
QUERIES, ITEMS = (10, 30, 100), (1, 3)
NOISE = (0.02, 0.15, 0.35)
LATER, QUESTIONS = 4, 2
RESPONSES = 4
NO_REPLICATES = ResampleSpec(0, replicates=0)


def labels_are_said_to_have_drifted(
    rng: np.random.Generator, queries: int, items: int, noise: float, moved: float
) -> bool:
    """True if the report says so of a judge's labels; its last pass has others of a share `moved` of the items."""
    query = np.repeat(np.arange(queries), items)

    def passes() -> list[Ints]:
        chance = chance_of_change(rng, queries, items, noise)
        truth = rng.integers(0, 2, len(query))
        found = [truth ^ (rng.random(len(query)) < chance) for _ in range(LATER + 2)]
        found[-1] = found[-1] ^ (rng.random(len(query)) < moved)
        return [each.astype(np.int64) for each in found]

    return drift_is_reported(rng, passes, query, drift, sign=-1)


def numbers_are_said_to_have_drifted(
    rng: np.random.Generator, queries: int, items: int, noise: float, moved: float
) -> bool:
    """The same of numbers on a scale of five points; those that moved are two points higher, as far as there are."""
    query = np.repeat(np.arange(queries), items)

    def passes() -> list[Floats]:
        chance = chance_of_change(rng, queries, items, noise)
        truth = rng.integers(1, 6, len(query)).astype(np.float64)
        found = [
            np.clip(truth + rng.choice((-1, 1), len(query)) * (rng.random(len(query)) < chance), 1, 5)
            for _ in range(LATER + 2)
        ]
        found[-1] = np.clip(found[-1] + 2 * (rng.random(len(query)) < moved), 1, 5)
        return found

    return drift_is_reported(rng, passes, query, drift_of_numbers, sign=1)


def ranks_are_said_to_have_drifted(
    rng: np.random.Generator, queries: int, items: int, noise: float, moved: float
) -> bool:
    """The same of ranks of four responses: by noise two neighbours change places, and those that moved are turned
    round."""
    n = queries * items

    def passes() -> list[Floats]:
        chance = chance_of_change(rng, queries, items, noise)
        truth = np.argsort(rng.random((n, RESPONSES)), axis=1) + 1.0
        found = []
        for _ in range(LATER + 2):
            at, rank = rng.integers(0, RESPONSES - 1, n), truth.copy()
            turned = rng.random(n) < chance
            # The ranks r and r + 1 change places.
            lower = turned[:, None] & (truth == at[:, None] + 1)
            upper = turned[:, None] & (truth == at[:, None] + 2)
            rank[lower] += 1
            rank[upper] -= 1
            found.append(rank)
        found[-1] = np.where((rng.random(n) < moved)[:, None], RESPONSES + 1 - found[-1], found[-1])
        return [each.ravel() for each in found]

    of_response = np.repeat(np.arange(queries), items * RESPONSES)
    return drift_is_reported(rng, passes, of_response, drift_of_numbers, sign=1)


def chance_of_change(rng: np.random.Generator, queries: int, items: int, noise: float) -> Floats:
    """The chance of each item that a pass has another answer to it, half of it the query's own."""
    return np.minimum((np.repeat(rng.exponential(noise, queries), items) + noise) / 2, 0.5)


def drift_is_reported(
    rng: np.random.Generator,
    passes: Callable[[], Sequence[Any]],
    query: Ints,
    test: Callable[..., Drift],
    sign: int,
) -> bool:
    """True if a difference of this sign is reported for a later pass of one of the questions."""
    tests = []
    for _ in range(QUESTIONS):
        first, second, *later = passes()
        terms = Randomization(int(rng.integers(2**31)), level=ALPHA / (LATER * QUESTIONS))
        tests += [test(first, second, each, query, resample=NO_REPLICATES, tests=terms) for each in later]
    corrected = correct([FamilyTest("drift", each.test) for each in tests])
    return any(
        is_supported(found) and each.difference.known * sign > 0
        for each, found in zip(tests, corrected, strict=True)
    )


# What passes consist of, and the function that tells whether a judge of such passes is said to have drifted.
SAID = {
    "labels": labels_are_said_to_have_drifted,
    "numbers": numbers_are_said_to_have_drifted,
    "ranks": ranks_are_said_to_have_drifted,
}


def main(arguments: Sequence[str] = ()) -> None:
    judges = int(arguments[0]) if arguments else JUDGES
    columns = "".join(f" {n} queries, % |" for n in QUERIES)
    print(f"| Passes of | Noise | Items a query | Items that changed |{columns}")
    print("| --- | ---: | ---: | ---: |" + " ---: |" * len(QUERIES))
    too_often = False
    for (what, said), noise, items, moved in product(SAID.items(), NOISE, ITEMS, (0.0, 0.3)):
        cells = []
        for queries in QUERIES:
            rng = np.random.default_rng([queries, items, round(100 * noise), round(100 * moved)])
            n = judges if not moved else judges // 4
            hits = sum(said(rng, queries, items, noise, moved) for _ in range(n))
            found = Rate.of(hits, n)
            too_often |= not moved and found.low > ALPHA
            cells.append(str(found))
        print(f"| {what} | {noise:g} | {items} | {moved:.0%} | {' | '.join(cells)} |", flush=True)
    print(f"\nTests of fewer than {LEAST_QUERIES} queries are in no family.")
    if too_often:
        sys.exit("A judge that has not changed is said to have drifted too often.")


if __name__ == "__main__":
    main(sys.argv[1:])

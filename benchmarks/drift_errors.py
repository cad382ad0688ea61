"""Judges that are said to have drifted, of those that have not changed and of those that have: simulated passes.

Half of a query's chance of another answer is its own, so that items of a query depend. A judge has two questions;
Holm's correction is over its later passes and both. Per row the share of judges of which at least one such sentence
is made, with its Clopper-Pearson limits; it fails where a lower limit is above 5 % of judges that have not changed.

Usage: python -m benchmarks.drift_errors [judges] (`make audit` runs it)
"""

import sys
from collections.abc import Sequence
from itertools import product

import numpy as np
import scipy

from analytics.figures.families import ALPHA, LEAST_QUERIES, correct, is_supported
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.judges.drift import drift, drift_of_numbers

JUDGES = 2_000
QUERIES, ITEMS = (10, 30, 100), (1, 3)
NOISE = (0.02, 0.15, 0.35)
LATER, QUESTIONS = 4, 2
NO_REPLICATES = ResampleSpec(0, replicates=0)


def is_said_to_have_drifted(
    rng: np.random.Generator, queries: int, items: int, noise: float, moved: float
) -> bool:
    """True if the report says so of a judge's labels; its last pass has others of a share `moved` of the items."""
    query = np.repeat(np.arange(queries), items)
    tests = []
    for _ in range(QUESTIONS):
        chance = (np.repeat(rng.exponential(noise, queries), items) + noise) / 2
        truth = rng.integers(0, 2, len(query))
        passes = [truth ^ (rng.random(len(query)) < np.minimum(chance, 0.5)) for _ in range(LATER + 2)]
        passes[-1] = passes[-1] ^ (rng.random(len(query)) < moved)
        first, second, *later = (each.astype(np.int64) for each in passes)
        terms = Randomization(int(rng.integers(2**31)), level=ALPHA / (LATER * QUESTIONS))
        tests += [
            plain(drift(first, second, each, query, resample=NO_REPLICATES, tests=terms)) for each in later
        ]
    correct(each["test"] for each in tests)
    return any(is_supported(each["test"]) and each["difference"]["value"] < 0 for each in tests)


def numbers_are_said_to_have_drifted(
    rng: np.random.Generator, queries: int, items: int, noise: float, moved: float
) -> bool:
    """The same of numbers on a scale of five points; those that moved are two points higher, as far as there are."""
    query = np.repeat(np.arange(queries), items)
    tests = []
    for _ in range(QUESTIONS):
        chance = np.minimum((np.repeat(rng.exponential(noise, queries), items) + noise) / 2, 0.5)
        truth = rng.integers(1, 6, len(query)).astype(np.float64)
        passes = [
            np.clip(truth + rng.choice((-1, 1), len(query)) * (rng.random(len(query)) < chance), 1, 5)
            for _ in range(LATER + 2)
        ]
        passes[-1] = np.clip(passes[-1] + 2 * (rng.random(len(query)) < moved), 1, 5)
        first, second, *later = passes
        terms = Randomization(int(rng.integers(2**31)), level=ALPHA / (LATER * QUESTIONS))
        tests += [
            plain(drift_of_numbers(first, second, each, query, resample=NO_REPLICATES, tests=terms))
            for each in later
        ]
    correct(each["test"] for each in tests)
    return any(is_supported(each["test"]) and each["difference"]["value"] > 0 for each in tests)


# What passes consist of, and the function that tells whether a judge of such passes is said to have drifted.
SAID = {"labels": is_said_to_have_drifted, "numbers": numbers_are_said_to_have_drifted}


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
            found = scipy.stats.binomtest(hits, n).proportion_ci(0.95, "exact")
            too_often |= not moved and found.low > ALPHA
            cells.append(f"{hits / n:.1%} ({found.low:.1%} to {found.high:.1%})".replace("%", ""))
        print(f"| {what} | {noise:g} | {items} | {moved:.0%} | {' | '.join(cells)} |", flush=True)
    print(f"\nTests of fewer than {LEAST_QUERIES} queries are in no family.")
    if too_often:
        sys.exit("A judge that has not changed is said to have drifted too often.")


if __name__ == "__main__":
    main(sys.argv[1:])

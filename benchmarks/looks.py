"""The share of studies in which a confidence sequence holds at every look, and its width beside a t interval's.

Simulated studies whose queries' values are those of expected win rates and of percentage agreement with three raters,
looked at after every query; with several pairs at once, each at its share of the error.

Usage: python -m benchmarks.looks [--simulations N] [--queries N] [--seed N]
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.tidy import Floats
from analytics.statistics.planning.assumptions import VoteAssumptions
from analytics.statistics.planning.confidence_sequence import confidence_sequence
from analytics.statistics.planning.precision import Model
from evaluation.design import generator

LEVEL = 0.95
RATERS = 3


@dataclass(frozen=True)
class Looked:
    """A figure of a number of pairs; `assumed` is what the votes of each are drawn from."""

    name: str
    planned: str
    pairs: int
    assumed: VoteAssumptions


CASES = (
    Looked("expected win rate, even", "win_rate", 1, VoteAssumptions(0.5, 0.15, 0.55)),
    Looked("expected win rate, 60 %", "win_rate", 1, VoteAssumptions(0.6, 0.15, 0.55)),
    Looked("expected win rate, 95 %", "win_rate", 1, VoteAssumptions(0.95, 0.04, 0.93)),
    Looked("expected win rates of three pairs", "win_rate", 3, VoteAssumptions(0.6, 0.15, 0.55)),
    Looked("percentage agreement, low", "agreement", 1, VoteAssumptions(0.5, 0.15, 0.45)),
    Looked("percentage agreement, high", "agreement", 1, VoteAssumptions(0.7, 0.1, 0.85)),
)


def values(case: Looked, queries: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """The queries' values of one study, and their true mean."""
    known, chances = Model(case.planned, case.assumed).distribution(RATERS)  # type: ignore[arg-type]
    return rng.choice(known, queries, p=chances), float(known @ chances)


def held(case: Looked, queries: int, rng: np.random.Generator) -> tuple[bool, float, float]:
    """True if all intervals of all pairs hold at every look; the last one's width, and that of a t interval."""
    level, holds = 1 - (1 - LEVEL) / case.pairs, True
    for _ in range(case.pairs):
        drawn, truth = values(case, queries, rng)
        found = confidence_sequence(drawn, level=level)
        holds &= bool(((found.low <= truth) & (found.high >= truth)).all())
    return holds, float(found.width[-1]), float(2 * 1.96 * drawn.std(ddof=1) / queries**0.5)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    print(f"{given.simulations:,} studies of {given.queries} queries each, looked at after every query")
    print("| Figure | all looks hold | last width / width of one interval at the end |")
    print("| --- | ---: | ---: |")
    for case in CASES:
        rng = generator(given.seed, "looks", case.name)
        found = [held(case, given.queries, rng) for _ in range(given.simulations)]
        share = np.mean([each[0] for each in found])
        ratio = np.median([each[1] / each[2] for each in found if each[2] > 0])
        print(f"| {case.name} | {share:.1%} | {ratio:.2f} |", flush=True)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()

"""How often intervals of 95 % hold the truth: simulated studies of few and many queries, with one item each or several.

The truth is the figure's value at 20,000 simulated queries of the same design. A figure passes where the mean of its
cells is 93 to 97 % and the least of them 90 %; above 97 % an interval is wider than need be, and no fault.
A study in which a figure has no interval, for want of variation, says nothing of its coverage; the last column says
how often that is in the worst cell.

Usage: python -m benchmarks.coverage [--simulations N] [--queries 15,30,100] [--designs agreement,ratings] [--seed N]
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

from benchmarks.simulated import DESIGNS, Design, design_of

QUERIES = (15, 30, 100)
ITEMS = (1, 3, 9)
SIMULATIONS = 500
TRUTH_QUERIES = 20_000
MEAN, LEAST = (0.93, 0.97), 0.90


@dataclass(frozen=True)
class Block:
    """Cells that share a truth: one design with one value of its parameter and a number of items per query."""

    design: str
    value: float
    items: int


@dataclass(frozen=True)
class Covered:
    """Of one figure in one cell: how many simulated intervals hold the truth, of how many that there are."""

    figure: str
    block: Block
    queries: int
    truth: float
    held: int
    intervals: int
    studies: int

    @property
    def coverage(self) -> float:
        return self.held / self.intervals if self.intervals else float("nan")

    @property
    def without(self) -> float:
        return 1 - self.intervals / self.studies


def cover(block: Block, queries: Sequence[int], *, simulations: int, seed: int) -> list[Covered]:
    """Coverage of all figures of the block's design at each number of queries."""
    (design,) = design_of([block.design])
    place = [seed, DESIGNS.index(design), design.values.index(block.value), block.items]
    drawn = design.figures(np.random.default_rng(place), TRUTH_QUERIES, block.items, block.value)
    truth = {name: float(estimate.value or 0) for name, estimate in drawn.items()}
    return [
        covered for n in queries for covered in _cover_cell(design, block, n, truth, [*place, n], simulations)
    ]


def _cover_cell(
    design: Design, block: Block, queries: int, truth: dict[str, float], place: list[int], simulations: int
) -> list[Covered]:
    held, intervals = Counter[str](), Counter[str]()
    for study in range(simulations):
        rng = np.random.default_rng([*place, study])
        for name, found in design.figures(rng, queries, block.items, block.value).items():
            if found.low is not None and found.high is not None:
                intervals[name] += 1
                held[name] += found.low <= truth[name] <= found.high
    return [
        Covered(name, block, queries, value, held[name], intervals[name], simulations)
        for name, value in truth.items()
    ]


def run(designs: Sequence[Design], queries: Sequence[int], simulations: int, seed: int) -> list[Covered]:
    """Coverage over the whole grid, in as many processes as there are cores."""
    # The longest blocks come first, so that the processes end at about the same time.
    blocks = [
        Block(design.name, value, items)
        for items in reversed(ITEMS)
        for design in designs
        for value in design.values
    ]
    # Each process computes on one core: threads of their own would only get in each other's way.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    found: list[Covered] = []
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        work = partial(cover, queries=queries, simulations=simulations, seed=seed)
        for done, of_block in enumerate(pool.map(work, blocks), start=1):
            found += of_block
            print(f"{done} of {len(blocks)} blocks", file=sys.stderr)
    order = [block.design for design in designs for block in blocks if block.design == design.name]
    return sorted(found, key=lambda each: order.index(each.block.design))


def verdict(mean: float, least: float) -> str:
    if mean < MEAN[0] or least < LEAST:
        return "below"
    return "above" if mean > MEAN[1] else ""


def show(found: Sequence[Covered]) -> bool:
    """The table of figures, in Markdown, and that of numbers of queries; true where every figure passes."""
    print("| Figure | true values | mean | least | no interval |  |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    passes = True
    for figure in dict.fromkeys(each.figure for each in found):
        mine = [each for each in found if each.figure == figure]
        mean, least = summary(mine)
        passes &= verdict(mean, least) != "below"
        truths = [np.mean([each.truth for each in mine if each.block.value == v]) for v in values_of(mine)]
        cells = [
            figure,
            ", ".join(f"{truth:.2f}" for truth in sorted(truths)),
            f"{mean:.1%}",
            f"{least:.1%}",
            f"{max(each.without for each in mine):.0%}",
            verdict(mean, least),
        ]
        print(f"| {' | '.join(cells)} |")
    print("\n| Figure | " + " | ".join(f"{n} queries" for n in numbers_of(found)) + " |")
    print("| --- |" + " ---: |" * len(numbers_of(found)))
    for figure in dict.fromkeys(each.figure for each in found):
        by_n = [
            summary([e for e in found if e.figure == figure and e.queries == n]) for n in numbers_of(found)
        ]
        print(f"| {figure} | " + " | ".join(f"{mean:.1%} ({least:.1%})" for mean, least in by_n) + " |")
    return passes


def summary(found: Sequence[Covered]) -> tuple[float, float]:
    """Mean and least coverage of cells."""
    coverage = [each.coverage for each in found if each.intervals]
    return float(np.mean(coverage)), float(np.min(coverage))


def values_of(found: Sequence[Covered]) -> list[float]:
    return sorted({each.block.value for each in found})


def numbers_of(found: Sequence[Covered]) -> list[int]:
    return sorted({each.queries for each in found})


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    parser.add_argument("--queries", default=",".join(map(str, QUERIES)))
    parser.add_argument("--designs", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    queries = [int(n) for n in options.queries.split(",")]
    found = run(
        design_of(filter(None, options.designs.split(","))), queries, options.simulations, options.seed
    )
    print(f"{options.simulations} simulated studies per cell, seed {options.seed}")
    passes = show(found)
    print(f"\n{time.perf_counter() - started:.0f} s on {os.cpu_count()} cores")
    if not passes:
        sys.exit("an interval covers too little")


if __name__ == "__main__":
    main(sys.argv[1:])

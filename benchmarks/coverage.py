"""How often intervals of 95 % hold the truth: simulated studies of few and many queries, with one item each or several.

Four grids: `usual` ones; `few` queries, by which it was chosen of how many a report says nothing; `uneven` ones, where
nearly all labels are one and the same; and `powered` ones, of so many queries that people judge and ten times as many
that a judge judges. The truth is the figure's value at 20,000 simulated queries of the same design. A figure passes
where the mean of its cells is 93 to 97 % and the least of them 90 %, without the intervals that have a footnote; above
97 % an interval is wider than need be, and no fault. Of a thousand cells some are low by chance: one below 90 % is
simulated again, with four times as many studies, and counts as these have it. A study in which a figure has no
interval, for want of variation, says nothing of its coverage; the tables say how often that is in the worst cell.

Usage: python -m benchmarks.coverage [--grids usual,few,uneven,powered,dependent] [--simulations N] [--queries N,N]
[--designs NAME,NAME] [--seed N]
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

from analytics.figures.families import LEAST_QUERIES
from benchmarks.conditions import CONDITIONS
from benchmarks.crowds import CROWDS
from benchmarks.facts import FACTS
from benchmarks.judged import JUDGED, VOTES
from benchmarks.juries import JURIES
from benchmarks.orders import ORDERS
from benchmarks.parts import PARTS
from benchmarks.powered import POWERED
from benchmarks.ranked import DEPENDENT, RANKED
from benchmarks.replacing import REPLACING
from benchmarks.simulated import DESIGNS, PASSES, Design
from benchmarks.two_studies import TWO_STUDIES
from benchmarks.uneven import UNEVEN
from benchmarks.work import WORK

ITEMS = (1, 3, 9)
SIMULATIONS = 500
TRUTH_QUERIES = 20_000
MEAN, LEAST = (0.93, 0.97), 0.90
# In a cell where most intervals have a footnote, the others were selected by their data and say nothing of coverage.
LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Grid:
    """Designs, each at so many queries. `by_queries`: a row of its table is a number of queries and not a figure."""

    designs: tuple[Design, ...]
    queries: tuple[int, ...]
    by_queries: bool = False


USUAL = (
    *DESIGNS,
    *PASSES,
    *REPLACING,
    *CONDITIONS,
    *JURIES,
    *ORDERS,
    *FACTS,
    *TWO_STUDIES,
    *PARTS,
    *JUDGED,
    *RANKED,
    *WORK,
    *CROWDS,
    *VOTES,
)
GRIDS = {
    "usual": Grid(USUAL, (15, 30, 100)),
    "few": Grid(DESIGNS, (4, 6, 8, 10, 12, 15), by_queries=True),
    "uneven": Grid(UNEVEN, (15, 30, 100, 300)),
    "powered": Grid(POWERED, (30, 60, 150)),
}
# By how much the paper's intervals of one-way analysis of variance fall short where ratings share a query.
SHORTFALLS = {"dependent": Grid(DEPENDENT, (15, 30, 100))}
# Seeds go by a design's place, so that new ones stand last.
ALL_DESIGNS = (
    *DESIGNS,
    *UNEVEN,
    *PASSES,
    *REPLACING,
    *CONDITIONS,
    *JURIES,
    *ORDERS,
    *POWERED,
    *FACTS,
    *TWO_STUDIES,
    *PARTS,
    *JUDGED,
    *RANKED,
    *DEPENDENT,
    *WORK,
    *CROWDS,
    *VOTES,
)


@dataclass(frozen=True)
class Block:
    """Cells that share a truth: one design with one value of its parameter and a number of items per query."""

    design: str
    value: float
    items: int


@dataclass(frozen=True)
class Covered:
    """Of one figure in one cell: how many simulated intervals hold the truth, of how many that there are.

    `noted` have a footnote, and `noted_held` of them hold it; `held` and `intervals` are those without one.
    """

    figure: str
    block: Block
    queries: int
    truth: float
    held: int
    intervals: int
    noted_held: int
    noted: int
    studies: int

    @property
    def coverage(self) -> float:
        return self.held / self.intervals if self.intervals else float("nan")

    @property
    def without(self) -> float:
        return 1 - (self.intervals + self.noted) / self.studies

    @property
    def counts(self) -> bool:
        return self.intervals >= LEAST_SHARE * self.studies


def cover(block: Block, queries: Sequence[int], *, simulations: int, seed: int) -> list[Covered]:
    """Coverage of all figures of the block's design at each number of queries."""
    (design,) = (each for each in ALL_DESIGNS if each.name == block.design)
    place = [seed, ALL_DESIGNS.index(design), design.values.index(block.value), block.items]
    drawn = design.figures(np.random.default_rng(place), TRUTH_QUERIES, block.items, block.value)
    truth = {name: float(estimate.value or 0) for name, estimate in drawn.items()}
    return [
        covered
        for n in queries
        for covered in _cover_settled(design, block, n, truth, [*place, n], simulations)
    ]


def _cover_settled(
    design: Design, block: Block, queries: int, truth: dict[str, float], place: list[int], simulations: int
) -> list[Covered]:
    found = _cover_cell(design, block, queries, truth, place, simulations)
    low = {each.figure for each in found if each.counts and each.coverage < LEAST}
    if not low:
        return found
    again = _cover_cell(design, block, queries, truth, [*place, 1], 4 * simulations)
    return [each for each in found if each.figure not in low] + [each for each in again if each.figure in low]


def _cover_cell(
    design: Design, block: Block, queries: int, truth: dict[str, float], place: list[int], simulations: int
) -> list[Covered]:
    held, intervals = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    for study in range(simulations):
        rng = np.random.default_rng([*place, study])
        for name, found in design.figures(rng, queries, block.items, block.value).items():
            if found.low is not None and found.high is not None:
                key = name, bool(found.note)
                intervals[key] += 1
                held[key] += found.low <= truth[name] <= found.high
    return [
        Covered(
            name,
            block,
            queries,
            value,
            held[name, False],
            intervals[name, False],
            held[name, True],
            intervals[name, True],
            simulations,
        )
        for name, value in truth.items()
    ]


def run(designs: Sequence[Design], queries: Sequence[int], simulations: int, seed: int) -> list[Covered]:
    """Coverage over a grid, in as many processes as there are cores."""
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
    order = [design.name for design in designs]
    return sorted(found, key=lambda each: order.index(each.block.design))


def verdict(mean: float, least: float) -> str:
    if mean < MEAN[0] or least < LEAST:
        return "below"
    return "above" if mean > MEAN[1] else ""


def show_figures(found: Sequence[Covered]) -> bool:
    """A row per figure, in Markdown; true where every one passes."""
    print("| Figure | true values | mean | least | no interval | footnote | with footnote |  |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    passes = True
    for figure in figures_of(found):
        mine = [each for each in found if each.figure == figure]
        mean, least = summary(mine)
        passes &= verdict(mean, least) != "below"
        truths = [np.mean([each.truth for each in mine if each.block.value == v]) for v in values_of(mine)]
        noted = sum(each.noted for each in mine)
        cells = [
            figure,
            ", ".join(f"{truth:.2f}" for truth in sorted(truths)),
            f"{mean:.1%}",
            f"{least:.1%}",
            f"{max(each.without for each in mine):.0%}",
            f"{noted / sum(each.studies for each in mine):.0%}",
            f"{sum(each.noted_held for each in mine) / noted:.1%}" if noted else "",
            verdict(mean, least),
        ]
        print(f"| {' | '.join(cells)} |")
    print("\n| Figure | " + " | ".join(f"{n} queries" for n in numbers_of(found)) + " |")
    print("| --- |" + " ---: |" * len(numbers_of(found)))
    for figure in figures_of(found):
        by_n = [
            summary([e for e in found if (e.figure, e.queries) == (figure, n)]) for n in numbers_of(found)
        ]
        print(f"| {figure} | " + " | ".join(map(_cell, by_n)) + " |")
    return passes


def show_queries(found: Sequence[Covered]) -> bool:
    """A row per number of queries, in Markdown; true where all pass from which on a report says something."""
    print("| Queries | mean | least figure | least cell | no interval | footnote | with footnote |")
    print("| ---: | ---: | --- | --- | ---: | ---: | ---: |")
    passes = True
    for n in numbers_of(found):
        mine = [each for each in found if each.queries == n]
        summaries = {figure: summary([e for e in mine if e.figure == figure]) for figure in figures_of(mine)}
        by_figure = {figure: each for figure, each in summaries.items() if not np.isnan(each[0])}
        worst = min(by_figure, key=lambda figure: by_figure[figure][0])
        lowest = min(by_figure, key=lambda figure: by_figure[figure][1])
        noted, studies = sum(each.noted for each in mine), sum(each.studies for each in mine)
        passes &= n < LEAST_QUERIES or by_figure[worst][0] >= MEAN[0]
        cells = [
            str(n),
            f"{np.mean([mean for mean, _ in by_figure.values()]):.1%}",
            f"{by_figure[worst][0]:.1%} ({worst})",
            f"{by_figure[lowest][1]:.1%} ({lowest})",
            f"{sum(each.without * each.studies for each in mine) / studies:.0%}",
            f"{noted / studies:.0%}",
            f"{sum(each.noted_held for each in mine) / noted:.1%}" if noted else "",
        ]
        print(f"| {' | '.join(cells)} |")
    return passes


def _cell(found: tuple[float, float]) -> str:
    mean, least = found
    return "" if np.isnan(mean) else f"{mean:.1%} ({least:.1%})"


def summary(found: Sequence[Covered]) -> tuple[float, float]:
    """Mean and least coverage of cells, of their intervals without a footnote."""
    coverage = [each.coverage for each in found if each.counts]
    return (float(np.mean(coverage)), float(np.min(coverage))) if coverage else (float("nan"), float("nan"))


def figures_of(found: Sequence[Covered]) -> Iterator[str]:
    yield from dict.fromkeys(each.figure for each in found)


def values_of(found: Sequence[Covered]) -> list[float]:
    return sorted({each.block.value for each in found})


def numbers_of(found: Sequence[Covered]) -> list[int]:
    return sorted({each.queries for each in found})


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("--grids", default=",".join(GRIDS))
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    parser.add_argument("--queries", default="")
    parser.add_argument("--designs", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    started, passes = time.perf_counter(), True
    wanted = set(filter(None, options.designs.split(",")))
    for name in options.grids.split(","):
        grid = (GRIDS | SHORTFALLS)[name]
        designs = [design for design in grid.designs if not wanted or design.name in wanted]
        queries = [int(n) for n in filter(None, options.queries.split(","))] or grid.queries
        found = run(designs, queries, options.simulations, options.seed)
        print(f"\n{name}: {options.simulations} simulated studies per cell, seed {options.seed}\n")
        passes &= show_queries(found) if grid.by_queries else show_figures(found)
        print(f"\n{time.perf_counter() - started:.0f} s so far, on {os.cpu_count()} cores", flush=True)
    if not passes:
        sys.exit("an interval covers too little")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Rejection rates, without any effect, of the tests of order: of places on the screen, and along raters' own work.

Items share effects of their query, raters are strict or lenient, and neither place nor third has an effect. Orders of
work are one for all raters, or each rater's own; orders on the screen are drawn for each rater, or each is the one
before, moved by one place; every other item has two responses, which are worse. Per test the share of studies in which
it rejects at 5 %, with limits after Clopper and Pearson. Along the work answers are taken around their mean, which with
15 queries is one of as many degrees of freedom: the benchmark fails where a lower limit is above 6 %. Of so many cells
some are above 5 % by chance: they are simulated again, with four times as many studies, and count as these have them.

Usage: python -m benchmarks.order_errors [studies] (`make audit` runs it)
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.randomization import Randomization, Tested
from analytics.statistics.core.resampling import SHARE, Range
from analytics.statistics.core.tidy import FIRST, SECOND, TIE, Ints
from analytics.statistics.core.values import Values
from analytics.statistics.preferences.best_picks import Picks
from analytics.statistics.rankings.concordance import tau_with_others
from analytics.statistics.rankings.rankings import place_bias
from analytics.statistics.raters.order_effects import order_effect, share_of_others
from analytics.statistics.raters.times import THIRDS
from analytics.statistics.ratings.places import picked_places, place_means
from benchmarks.ranked import ranks_of
from benchmarks.rates import Rate
from benchmarks.simulated import POINTS, Floats, no_replicates, of_query_and_item, on_points

STUDIES = 1_000
QUERIES, ITEMS = (15, 40), 2
# Raters, and the share of the items that each answers.
CROWDS = ((3, 1.0), (12, 0.4))
RESPONSES = (3, 6)
LEVEL, MOST = 0.05, 0.06
ENDS: Range = (POINTS[0], POINTS[-1])
TAU: Range = (-1.0, 1.0)
# Of the tests along the work, each with its p-value, of one study.
Found = Iterator[tuple[str, float]]


def along_the_work(rng: np.random.Generator, queries: int, crowd: tuple[int, float], shared: bool) -> Found:
    """Ratings, preferences and rankings by raters who answer a share of the items, in one order or their own."""
    raters, share = crowd
    query, seen = np.repeat(np.arange(queries), ITEMS), of_query_and_item(rng, queries, ITEMS)
    n = len(query)
    order = rng.permutation(n)
    rows, thirds, who = [], [], []
    for rater in range(raters):
        mine = (order if shared else rng.permutation(n))[rng.random(n) < share]
        rows.append(mine)
        thirds.append(np.arange(len(mine)) * THIRDS // max(len(mine), 1))
        who.append(np.full(len(mine), rater))
    item, third, rater_of = (np.concatenate(each) for each in (rows, thirds, who))
    strict = 0.4 * rng.standard_normal(raters)[rater_of]
    own = seen[item] + strict + 0.7 * rng.standard_normal(len(item))
    label = np.where(own > 0.4, FIRST, np.where(own < -0.4, SECOND, TIE))
    counts = count_matrix(item, label, n, 3)
    # What raters think of three responses; in some queries they agree more than in others.
    worth = np.exp(0.7 * rng.standard_normal(queries))[query][:, None] * rng.standard_normal((n, 3))
    ranked = np.full((n, raters, 3), -np.inf)
    ranked[item, rater_of] = worth[item] + rng.standard_normal((len(item), 3))
    taus = tau_by_answer(ranked, query, item, rater_of)
    measures: dict[str, tuple[Floats, Range]] = {
        "work, mean of ratings": (on_points(3.2 + own), ENDS),
        "work, share of ties": ((label == TIE).astype(np.float64), SHARE),
        "work, others alike": (share_of_others(counts, item, label), SHARE),
        "work, tau of rankings": (taus, TAU),
    }
    for name, (values, within) in measures.items():
        found = order_effect(
            values,
            third,
            query[item],
            within=within,
            unit="answers",
            resample=no_replicates(),
            tests=terms(rng),
        )
        yield name, p_of(found.test)


def tau_by_answer(ranked: Floats, query: Ints, item: Ints, rater: Ints) -> Floats:
    """The tau-b of each answer's ranking with those of the others."""
    raters = ranked.shape[1]
    ranks = ranks_of(ranked, query)
    codes = np.unique(ranks.judgment)
    found = tau_with_others(ranks)
    return np.asarray(found[np.searchsorted(codes, item * raters + rater)])


def on_the_screen(rng: np.random.Generator, queries: int, responses: int, rotated: bool) -> Found:
    """Ratings, picks and rankings by three raters; of the first place and of the last one, which some items lack."""
    query, raters = np.repeat(np.arange(queries), ITEMS), 3
    n = len(query)
    size = np.where(np.arange(n) % 2, responses, 2)
    offered = np.arange(responses) < size[:, None]
    worth = of_query_and_item(rng, queries, ITEMS)[:, None] + rng.standard_normal((n, responses))
    # Of more responses all are better, which is no effect of their places.
    worth += 0.8 * (size == responses)[:, None]
    seen = np.where(
        offered[:, None], worth[:, None] + 0.7 * rng.standard_normal((n, raters, responses)), -np.inf
    )
    place = screen(rng, size, raters, responses, rotated)
    item, rater, response = np.nonzero(np.isfinite(seen))
    at = place[item, rater, response]
    values = Values(
        unit=item * responses + response,
        query=query[item],
        system=response,
        part=response,
        item=item,
        rater=rater,
        value=on_points(3.2 + seen[item, rater, response]),
    )
    rated = place_means(values, at, within=ENDS, resample=no_replicates(), tests=terms(rng))
    yield from of_ends("ratings", [each.test for each in rated.places])
    best = seen.argmax(axis=2)
    picks = Picks(
        item=np.repeat(np.arange(n), raters),
        query=np.repeat(query, raters),
        rater=np.tile(np.arange(raters), n),
        response=best.ravel(),
        system=best.ravel(),
    )
    where = np.take_along_axis(place, best[:, :, None], axis=2).ravel()
    picked = picked_places(picks, where, np.repeat(size, raters), resample=no_replicates(), tests=terms(rng))
    yield from of_ends("picks", [each.test for each in picked.places])
    ranked = place_bias(ranks_of(seen, query, place), resample=no_replicates(), tests=terms(rng))
    yield from of_ends("rankings", [each.test for each in ranked.places])


def of_ends(name: str, tests: Sequence[Tested | None]) -> Found:
    yield f"screen, {name}, first place", p_of(tests[0])
    yield f"screen, {name}, last place", p_of(tests[-1])


def screen(
    rng: np.random.Generator, size: Ints, raters: int, responses: int, rotated: bool
) -> npt.NDArray[np.int64]:
    """The place of each response (n, raters, responses), from 0; of those that an item lacks the last ones."""
    lacking = np.arange(responses) >= size[:, None, None]
    if not rotated:
        drawn = rng.random((len(size), raters, responses)) + lacking
        return np.argsort(np.argsort(drawn, axis=2), axis=2)
    first = np.argsort(np.argsort(rng.random((len(size), 1, responses)) + lacking, axis=2), axis=2)
    moved = (first + np.arange(raters)[:, None]) % size[:, None, None]
    return np.where(lacking, first, moved)


def terms(rng: np.random.Generator) -> Randomization:
    return Randomization(int(rng.integers(2**31)))


def p_of(test: Tested | None) -> float:
    return 1.0 if test is None else test.p_value


@dataclass(frozen=True)
class Cell:
    """A kind of study: who answers, or how many responses there are, and whether the order is `common` to raters, or
    rotated among them, as `named` says."""

    draw: Callable[[np.random.Generator, int, Any, bool], Found]
    size: Any
    common: bool
    named: tuple[str, str]

    def rates(self, queries: int, studies: int) -> dict[str, Rate]:
        """Rejection rate of each test; one that looks too high is simulated again with four times as many studies."""
        found = self._rates(queries, studies, 0)
        again = {name for name, rate in found.items() if rate.low > LEVEL}
        if not again:
            return found
        return found | {
            name: rate for name, rate in self._rates(queries, 4 * studies, 1).items() if name in again
        }

    def _rates(self, queries: int, studies: int, turn: int) -> dict[str, Rate]:
        hits = Counter[str]()
        for study in range(studies):
            rng = np.random.default_rng([queries, CELLS.index(self), turn, study])
            for name, p in self.draw(rng, queries, self.size, self.common):
                hits[name] += p <= LEVEL
        return {name: Rate.of(n, studies) for name, n in hits.items()}


CELLS = (
    *(
        Cell(
            along_the_work, crowd, common, (f"{crowd[0]} raters", "one for all" if common else "of their own")
        )
        for crowd in CROWDS
        for common in (False, True)
    ),
    *(
        Cell(on_the_screen, n, common, (f"2 or {n} responses", "rotated" if common else "drawn"))
        for n in RESPONSES
        for common in (False, True)
    ),
)


def main(arguments: Sequence[str] = ()) -> None:
    studies = int(arguments[0]) if arguments else STUDIES
    columns = "".join(f" {n} queries, % |" for n in QUERIES)
    print(f"| Test | Of | Orders |{columns}")
    print("| --- | --- | --- |" + " ---: |" * len(QUERIES))
    too_often = False
    for cell in CELLS:
        rates = [cell.rates(queries, studies) for queries in QUERIES]
        for name in rates[0]:
            shown = [each[name] for each in rates]
            too_often |= any(each.low > MOST for each in shown)
            print(f"| {name} | {' | '.join(cell.named)} | {' | '.join(map(str, shown))} |", flush=True)
    if too_often:
        sys.exit("A test of order rejects too often where there is no effect.")


if __name__ == "__main__":
    main(sys.argv[1:])

"""How often a report claims what is not true: simulated studies without a difference, and the power where there is one.

Per kind of finding 2,000 studies: the share of those in which at least one such sentence is made, with its Clopper-
Pearson limits, by today's rule, by one that corrects kind by kind, and by the one before (bootstrap intervals and
t-tests without correction). Where queries are few, the rule that fewer than so many say nothing is left out, to see
what it is for.

Usage: python -m benchmarks.family_errors [studies] (`make audit` runs it)
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from multiprocessing import get_context
from typing import Any

import numpy as np
import scipy

from analytics.figures.families import ALPHA, CLAIMS, LEAST_QUERIES, FamilyTest, correct, is_supported
from analytics.statistics.agreement.percentage import agreement_difference
from analytics.statistics.core.randomization import Randomization, Tested
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats
from analytics.statistics.preferences.best_picks import pick_shares
from analytics.statistics.preferences.bias import position_bias
from analytics.statistics.preferences.flips import pair_flips
from analytics.statistics.preferences.win_rates import win_rates_overall
from analytics.statistics.rankings.rankings import ranked_pairs
from analytics.statistics.ratings.scales import best_and_worst
from benchmarks import family_before as before
from benchmarks.null_studies import (
    Judged,
    Pairwise,
    alike,
    certain_in_one,
    counts_by_item,
    flipping,
    random_picks,
    random_ranks,
    random_ratings,
    with_fewer_in_the_first_arm,
    with_fewer_of_the_first_system,
)

STUDIES = 2_000
QUERIES = (50, 15, LEAST_QUERIES)
FEW = (4, 6, 8, 10, 12, 15)
ANY = "any"
Family = list[tuple[Tested | None, bool]]
"""The tests of a family, and whether the figures agree with what the sentence would say."""


@dataclass(frozen=True)
class Sentence:
    """One kind of finding: whether a study makes it by the rule before, if there was such a sentence, and its tests."""

    kind: str
    before: Callable[[Any, np.random.Generator], bool] | None
    tests: Callable[[Any, np.random.Generator], Family]


@dataclass(frozen=True)
class Case:
    """What is true of the studies, and the sentences that are looked for in each of them.

    Of pairs a report could make all of `OF_PAIRS`, whichever are looked for; where all are, `ANY` is too.
    """

    truth: str
    make: Callable[[np.random.Generator], Any]
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Found:
    """The number of studies with the sentence, of so many."""

    n: int
    of: int

    @property
    def limits(self) -> tuple[float, float]:
        """Clopper and Pearson's, at 95 %."""
        low = scipy.stats.beta.ppf(0.025, self.n, self.of - self.n + 1) if self.n else 0.0
        high = scipy.stats.beta.ppf(0.975, self.n + 1, self.of - self.n) if self.n < self.of else 1.0
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.limits
        return f"{100 * self.n / self.of:.1f} ({100 * low:.1f} to {100 * high:.1f})"


# --- the rule of today: the figures' own tests, corrected as a report corrects them --------------------------------


def said(families: dict[str, Family], least: int = LEAST_QUERIES) -> dict[str, bool]:
    """Whether a report makes a sentence of each kind, of at least so many queries; `ANY`, whether it makes one at all.

    All kinds are corrected together; a changed preference counts with the change of its margin.
    """
    records = {kind: [test for test, _ in family] for kind, family in families.items()}
    weaker = records.get(MARGIN.kind) if FLIP.kind in records else None
    claims = []
    for kind, tests in records.items():
        beneath = weaker if kind == FLIP.kind and weaker else [None] * len(tests)
        claims += [
            FamilyTest(CLAIMS, test, one)
            for test, one in zip(tests, beneath, strict=True)
            if test is not None
        ]
    corrected = {id(each.test): found for each, found in zip(claims, correct(claims, least), strict=True)}
    found = {
        kind: any(
            test is not None and may and is_supported(corrected[id(test)])
            for test, (_, may) in zip(tests, families[kind], strict=True)
        )
        for kind, tests in records.items()
    }
    return {**found, ANY: any(found.values())}


def _drawn(family: int, rng: np.random.Generator) -> Randomization:
    return Randomization(int(rng.integers(2**62)), level=ALPHA / family)


def _figures_only(rng: np.random.Generator) -> ResampleSpec:
    return ResampleSpec(0, replicates=0)


def _any(tests: Sequence[Tested | None]) -> Family:
    return [(test, True) for test in tests]


def _flips(study: Judged, rng: np.random.Generator) -> list[Any]:
    if study.flips is None:
        arms = list(combinations(study.items.arms, 2))
        spec, tests = _figures_only(rng), _drawn(len(arms) * len(study.design.pairs), rng)
        study.flips = [
            flip
            for first, second in arms
            for flip in pair_flips(
                study.items, study.judgments, first=first, second=second, resample=spec, tests=tests
            )
        ]
    return study.flips


def flip(study: Any, rng: np.random.Generator) -> Family:
    return [(each.flip_test, each.flipped) for each in _flips(study, rng)]


def margin(study: Any, rng: np.random.Generator) -> Family:
    return _any([each.margin_test for each in _flips(study, rng)])


def winner(study: Any, rng: np.random.Generator) -> Family:
    design = study.design
    # Two systems have one test between them.
    family = design.arms * (design.systems if design.systems > 2 else 1)
    rates = win_rates_overall(
        study.items, study.judgments, resample=_figures_only(rng), tests=_drawn(family, rng)
    )
    return _any([rate.test for rate in (rates[::2] if design.systems == 2 else rates)])


def agreement(study: Any, rng: np.random.Generator) -> Family:
    design, items = study.design, study.items
    counts = counts_by_item(study.judgments)
    tests = _drawn((design.arms - 1) * len(design.pairs), rng)
    of_items = (counts, items.query, items.pair, items.arm)
    return _any(
        [
            agreement_difference(*(each[rows] for each in of_items), first=0, second=arm, tests=tests).test
            for arm in range(1, design.arms)
            for _, rows in items.cells(("pair",))
        ]
    )


def position(study: Any, rng: np.random.Generator) -> Family:
    judgments, query = study.judgments, study.items.query[study.judgments.item]
    spec, tests = _figures_only(rng), _drawn(1, rng)
    return _any([position_bias(judgments.label, judgments.first, query, resample=spec, tests=tests).test])


def picked(picks: Any, rng: np.random.Generator) -> Family:
    systems = int(picks.system.max()) + 1
    offered = np.ones((int(picks.item.max()) + 1, systems), dtype=np.int64)
    spec, tests = _figures_only(rng), _drawn(systems, rng)
    found = pick_shares(picks, systems, resample=spec, offered=offered, tests=tests).systems
    return [(each.test, each.share.value > each.chance) for each in found]


def ranked(ranks: Any, rng: np.random.Generator) -> Family:
    tests = _drawn(comb(int(ranks.system.max()) + 1, 2), rng)
    return _any([pair.test for pair in ranked_pairs(ranks, resample=_figures_only(rng), tests=tests)])


def rated(questions: Any, rng: np.random.Generator) -> Family:
    """The best system of each question and the worst."""
    systems = range(int(questions[0].system.max()) + 1)
    tests = _drawn(2 * len(questions), rng)
    return _any([end.test for each in questions for end in best_and_worst(each, each.system, systems, tests)])


# --- what is simulated ---------------------------------------------------------------------------------------------


FLIP = Sentence("pair_flip", before.flip, flip)
MARGIN = Sentence("margin_change", None, margin)
WINNER = Sentence("winner", before.winner, winner)
AGREEMENT = Sentence("agreement", before.agreement, agreement)
POSITION = Sentence("position_bias", before.position, position)
PICKED = Sentence("picked", before.picked, picked)
RANKED = Sentence("ranked", before.ranked, ranked)
RATED = Sentence("rated", before.rated, rated)
OF_PAIRS = (FLIP, MARGIN, WINNER, AGREEMENT, POSITION)


def _study(design: Pairwise, lean: Floats, *, skewed: bool = False) -> Callable[[np.random.Generator], Any]:
    items = design.items()
    return lambda rng: Judged(design, items, design.judgments(lean, rng, skewed=skewed))


def _questions(
    queries: int, ahead: tuple[float, ...] = (), *, uneven: bool = False
) -> Callable[[np.random.Generator], Any]:
    change = with_fewer_of_the_first_system if uneven else (lambda values: values)
    return lambda rng: [change(random_ratings(queries, 4, rng, ahead)) for _ in range(2)]


def null_cases(queries: int) -> Iterator[Case]:
    """Nothing of the kind is true."""
    for systems in (2, 4):
        design, apart = Pairwise(queries, systems), Pairwise(queries, systems, shared=False)
        named = f"{systems} systems x 3 arms"
        yield Case(f"{named}, nobody preferred", _study(design, alike(design)), OF_PAIRS)
        yield Case(
            f"{named}, one certain in one arm, nobody preferred in the others",
            _study(design, certain_in_one(design)),
            (FLIP,),
        )
        yield Case(
            f"{named}, nobody preferred, 2 raters of an item in the first arm",
            _uneven(_study(design, alike(design))),
            OF_PAIRS,
        )
        yield Case(f"{named}, one preferred alike", _study(design, alike(design, 1.0)), (FLIP, MARGIN))
        yield Case(f"{named}, the same, no shared queries", _study(apart, alike(apart, 1.0)), (MARGIN,))
    design = Pairwise(queries)
    skewed = _study(design, alike(design), skewed=True)
    yield Case("2 systems x 3 arms, a few queries lean far", skewed, (FLIP, MARGIN, WINNER))
    yield Case("4 systems, picked at random", lambda rng: random_picks(queries, 4, rng), (PICKED,))
    yield Case("4 systems, ranked at random", lambda rng: random_ranks(queries, 4, rng), (RANKED,))
    named, two = "4 systems x 2 questions", (1.2, 1.2)
    yield Case(f"{named}, rated alike", _questions(queries), (RATED,))
    yield Case(f"{named}, two alike above the others", _questions(queries, two), (RATED,))
    yield Case(
        f"{named}, the same, 2 raters of the first system", _questions(queries, two, uneven=True), (RATED,)
    )


def _uneven(make: Callable[[np.random.Generator], Judged]) -> Callable[[np.random.Generator], Judged]:
    return lambda rng: with_fewer_in_the_first_arm(make(rng))


def power_cases(queries: int) -> Iterator[Case]:
    """One system is preferred in every arm, or the preferred one changes from the first arm to the last."""
    for systems in (2, 4):
        design = Pairwise(queries, systems)
        truth = f"{systems} systems x 3 arms, {share(0.5):.0f} % in every arm"
        yield Case(truth, _study(design, alike(design, 0.5)), (WINNER,))
        for lean in (1.0, 2.0, np.inf):
            truth = f"{systems} systems x 3 arms, {share(lean):.0f} % to {share(-lean):.0f} %"
            yield Case(truth, _study(design, flipping(design, lean)), (FLIP, MARGIN, WINNER))


KINDS = {"null": null_cases, "power": power_cases}


def share(lean: float) -> float:
    """Preferences for system 1, in percent of those that are no tie, on a query without an effect of its own."""
    return 100 / (1 + float(np.exp(-lean)))


def run(
    case: Case, studies: int, *, seed: int = 1, least: int = LEAST_QUERIES
) -> dict[str, tuple[Found | None, Found, Found]]:
    """In how many studies each sentence is made, and any of them: before, kind by kind, and all kinds together."""
    looked = {sentence.kind: sentence for sentence in case.sentences}
    kinds = (*looked, ANY) if case.sentences == OF_PAIRS else tuple(looked)
    totals = {kind: np.zeros(3, dtype=np.int64) for kind in kinds}
    for number in range(studies):
        rng = np.random.default_rng([seed, number])
        study = case.make(rng)
        asked = OF_PAIRS if isinstance(study, Judged) else case.sentences
        families = {sentence.kind: sentence.tests(study, rng) for sentence in asked}
        together = said(families, least)
        apart = {kind: said({kind: family}, least)[kind] for kind, family in families.items()}
        apart[ANY] = any(apart.values())
        earlier = {
            kind: sentence.before is not None and sentence.before(study, rng)
            for kind, sentence in looked.items()
        }
        for kind, total in totals.items():
            total += earlier.get(kind, False), apart[kind], together[kind]
    return {
        kind: (
            Found(int(total[0]), studies) if kind in looked and looked[kind].before else None,
            Found(int(total[1]), studies),
            Found(int(total[2]), studies),
        )
        for kind, total in totals.items()
    }


Row = tuple[str, str, int, Found | None, Found, Found]
"""What is true, the finding, the number of queries, and its share before, corrected kind by kind, and now."""


def rows_of(kind: str, queries: int, least: int, studies: int, at: int) -> list[Row]:
    case = list(KINDS[kind](queries))[at]
    return [(case.truth, kind, queries, *shares) for kind, shares in run(case, studies, least=least).items()]


def simulated(
    pool: ProcessPoolExecutor, kind: str, queries: int, studies: int, *, least: int = LEAST_QUERIES
) -> Iterator[Row]:
    work = partial(rows_of, kind, queries, least, studies)
    for rows in pool.map(work, range(len(list(KINDS[kind](queries))))):
        yield from rows


def show(rows: Iterator[Row]) -> bool:
    """Prints a row for each; whether each of today's rates may be 5 % or less."""
    print("| What is true | Finding | Queries | Before, % | Kind by kind, % | Now, % |")
    print("| --- | --- | ---: | --- | --- | --- |")
    holds = True
    for truth, kind, queries, earlier, apart, now in rows:
        holds &= now.limits[0] <= ALPHA
        print(f"| {truth} | {kind} | {queries} | {earlier or ''} | {apart} | {now} |", flush=True)
    return holds


def show_few(pool: ProcessPoolExecutor, studies: int) -> bool:
    """A row for each number of queries, as if something were said of any; whether errors may be 5 % or less."""
    print(f"Of {studies:,} studies:\n")
    truths = [case.truth for case in power_cases(QUERIES[0]) if FLIP in case.sentences]
    print("| Queries | most false findings, before, % | now, % | " + " | ".join(truths) + " |")
    print("| ---: |" + " --- |" * (2 + len(truths)))
    holds = True
    for queries in FEW:
        null = list(simulated(pool, "null", queries, studies, least=0))
        power = [
            str(now)
            for _, kind, *_, now in simulated(pool, "power", queries, studies, least=0)
            if kind == FLIP.kind
        ]
        most_before = max((row for row in null if row[3] is not None), key=lambda row: row[3].n)
        most = max(null, key=lambda row: row[5].n)
        holds &= most[5].limits[0] <= ALPHA
        cells = [f"{most_before[3]}, {most_before[1]}", f"{most[5]}, {most[1]}", *power]
        print(f"| {queries} | {' | '.join(cells)} |", flush=True)
    return holds


def main(studies: int = STUDIES) -> None:
    # Each process computes on one core: threads of their own would only get in each other's way.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    print(
        f"Studies with at least one such sentence, in percent of {studies:,}; Clopper-Pearson limits at 95 %."
    )
    holds = True
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for queries in QUERIES:
            print("\nNothing to be found:\n")
            holds &= show(simulated(pool, "null", queries, studies))
        print("\nA preferred system that changes:\n")
        for queries in (30, 100):
            show(simulated(pool, "power", queries, studies))
        print(f"\nFew queries, as if reports said something of fewer than {LEAST_QUERIES}:\n")
        # Fewer of them, since six numbers of queries are asked about.
        holds &= show_few(pool, studies // 4)
    if not holds:
        sys.exit("A family errs more often than in 5 % of studies.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

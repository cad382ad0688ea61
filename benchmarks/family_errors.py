"""How often a report claims what is not true: simulated studies without a difference, and the power where there is one.

Per kind of finding 2,000 studies: the share of those in which at least one such sentence is made, with its Clopper-
Pearson limits, by today's rule and by the one before it (bootstrap intervals and t-tests without correction).

Usage: python -m benchmarks.family_errors [studies] (`make audit` runs it)
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy

from benchmarks.null_studies import (
    Pairwise,
    alike,
    certain_in_one,
    counts_by_item,
    flipping,
    random_picks,
    random_ranks,
    random_ratings,
)
from evaluation.analytics.agreement import agreement_difference, item_agreement, majority
from evaluation.analytics.bias import position_bias
from evaluation.analytics.estimates import plain
from evaluation.analytics.flips import pair_flips
from evaluation.analytics.friedman import friedman
from evaluation.analytics.picks import pick_shares
from evaluation.analytics.randomization import Randomization
from evaluation.analytics.resampling import ResampleSpec, divide
from evaluation.analytics.scales import above_every_other
from evaluation.analytics.tidy import Floats, Items, Judgments
from evaluation.analytics.win_rates import item_scores, win_rates_overall
from evaluation.reports.families import ALPHA, LEAST_QUERIES, correct, is_supported

STUDIES = 2_000
QUERIES = 50
REPLICATES = 400
Rule = Callable[[Any, np.random.Generator], bool]


@dataclass(frozen=True)
class Sentence:
    """One kind of finding, and whether a study makes it: by the rule before, if there was such a sentence, and now."""

    kind: str
    before: Rule | None
    after: Rule


@dataclass(frozen=True)
class Case:
    """What is true of the studies, and the sentences that are looked for in each of them."""

    truth: str
    make: Callable[[np.random.Generator], Any]
    sentences: tuple[Sentence, ...]


@dataclass
class Judged:
    """A pairwise study; its flips are what two sentences go by."""

    design: Pairwise
    items: Items
    judgments: Judgments
    flips: list[Any] | None = None


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


# --- the rule before: percentile bootstrap and t-tests, one by one --------------------------------------------------


def _weights(n: int, rng: np.random.Generator) -> Floats:
    return rng.multinomial(n, np.full(n, 1 / n), size=REPLICATES).astype(np.float64)


def _votes(study: Judged) -> tuple[Floats, Floats]:
    """Votes (arms, pairs, queries) of the items' majorities, 1, -1 or 0, and whether there is a majority."""
    design, judgments = study.design, study.judgments
    label = majority(counts_by_item(judgments)).reshape(design.arms, len(design.pairs), design.queries)
    return (label == 0) * 1.0 - (label == 1), (label >= 0) * 1.0


def flip_before(study: Any, rng: np.random.Generator) -> bool:
    """Majorities differ, and the bootstrap of the margin's change leaves zero out."""
    votes, decided = _votes(study)
    weights = _weights(votes.shape[2], rng)
    margin = divide(votes.sum(axis=2), decided.sum(axis=2))
    drawn = divide(np.einsum("rq,apq->apr", weights, votes), np.einsum("rq,apq->apr", weights, decided))
    for one, other in combinations(range(len(votes)), 2):
        change = drawn[other] - drawn[one]
        tail = np.minimum((change <= 0).sum(axis=1), (change >= 0).sum(axis=1))
        p = 2 * (tail + 1) / (REPLICATES + 1)
        flat = np.ptp(change, axis=1) < 1e-12
        if ((margin[one] * margin[other] < 0) & (p < ALPHA) & ~flat).any():
            return True
    return False


def winner_before(study: Any, rng: np.random.Generator) -> bool:
    design, items, judgments = study.design, study.items, study.judgments
    scores = item_scores(judgments, len(items)).reshape(design.arms, len(design.pairs), design.queries, 2)
    weights = _weights(design.queries, rng)
    for arm in range(design.arms):
        for system in range(design.systems):
            sides = [(at, pair.index(system)) for at, pair in enumerate(design.pairs) if system in pair]
            means = np.mean([scores[arm, at, :, side] for at, side in sides], axis=0)
            if np.quantile(weights @ means / design.queries, ALPHA / 2) > 0.5:
                return True
    return False


def agreement_before(study: Any, rng: np.random.Generator) -> bool:
    design, judgments = study.design, study.judgments
    shares = item_agreement(counts_by_item(judgments)).reshape(design.arms, len(design.pairs), -1)
    gaps = (shares[1:] - shares[:1]).reshape(-1, design.queries)
    return bool((scipy.stats.ttest_1samp(gaps, 0, axis=1).pvalue < ALPHA).any())


def position_before(study: Any, rng: np.random.Generator) -> bool:
    items, judgments = study.items, study.judgments
    used = judgments.label < 2
    query = items.query[judgments.item][used]
    n = len(items.queries)
    wins = np.bincount(query, weights=judgments.label[used] == judgments.first[used], minlength=n)
    weights = _weights(n, rng)
    shares = weights @ wins / (weights @ np.bincount(query, minlength=n))
    low, high = np.quantile(shares, [ALPHA / 2, 1 - ALPHA / 2])
    return bool(low > 0.5 or high < 0.5)


def picked_before(picks: Any, rng: np.random.Generator) -> bool:
    systems, n = int(picks.system.max()) + 1, int(picks.query.max()) + 1
    weights = _weights(n, rng)
    shares = [
        np.bincount(picks.query, weights=picks.system == system, minlength=n) for system in range(systems)
    ]
    low = np.quantile(weights @ np.stack(shares, axis=1) / np.bincount(picks.query).sum(), ALPHA / 2, axis=0)
    return bool((low > 1 / systems).any())


def ranked_before(ranks: Any, rng: np.random.Generator) -> bool:
    p = friedman(ranks, unit="queries").p_value
    return p is not None and p < ALPHA


def rated_before(questions: Any, rng: np.random.Generator) -> bool:
    """The best system against each of the others by paired t-tests, times the number of those."""
    for values in questions:
        systems, queries = int(values.system.max()) + 1, int(values.query.max()) + 1
        table = values.value.reshape(queries, systems, -1).mean(axis=2)
        best = int(table.mean(axis=0).argmax())
        p = [
            scipy.stats.ttest_rel(table[:, best], table[:, at]).pvalue for at in range(systems) if at != best
        ]
        if (systems - 1) * max(p) < ALPHA:
            return True
    return False


# --- the rule of today: the figures' own tests, corrected as a report corrects them --------------------------------


def supported(tests: list[Any]) -> list[bool]:
    records = [None if test is None else plain(test) for test in tests]
    correct(records)
    return [is_supported(record) for record in records]


def _drawn(family: int, rng: np.random.Generator) -> Randomization:
    return Randomization(int(rng.integers(2**62)), level=ALPHA / family)


def _flips(study: Judged, rng: np.random.Generator) -> list[Any]:
    if study.flips is None:
        arms = list(combinations(study.items.arms, 2))
        tests = _drawn(len(arms) * len(study.design.pairs), rng)
        study.flips = [
            flip
            for first, second in arms
            for flip in pair_flips(
                study.items,
                study.judgments,
                first=first,
                second=second,
                resample=ResampleSpec(rng, replicates=0),
                tests=tests,
            )
        ]
    return study.flips


def flip_after(study: Any, rng: np.random.Generator) -> bool:
    flips = _flips(study, rng)
    said = supported([flip.flip_test for flip in flips])
    return any(flip.flipped and holds for flip, holds in zip(flips, said, strict=True))


def margin_after(study: Any, rng: np.random.Generator) -> bool:
    return any(supported([flip.margin_test for flip in _flips(study, rng)]))


def winner_after(study: Any, rng: np.random.Generator) -> bool:
    design, items, judgments = study.design, study.items, study.judgments
    # Two systems have one test between them.
    family = design.arms * (design.systems if design.systems > 2 else 1)
    spec = ResampleSpec(rng, replicates=0)
    rates = win_rates_overall(items, judgments, resample=spec, tests=_drawn(family, rng))
    if design.systems == 2:
        rates = rates[::2]
    return any(supported([rate.test for rate in rates]))


def agreement_after(study: Any, rng: np.random.Generator) -> bool:
    design, items, judgments = study.design, study.items, study.judgments
    counts = counts_by_item(judgments)
    tests = _drawn((design.arms - 1) * len(design.pairs), rng)
    found = [
        agreement_difference(
            counts[rows],
            items.query[rows],
            items.pair[rows],
            items.arm[rows],
            first=0,
            second=arm,
            tests=tests,
        ).test
        for arm in range(1, design.arms)
        for _, rows in items.cells(("pair",))
    ]
    return any(supported(found))


def position_after(study: Any, rng: np.random.Generator) -> bool:
    items, judgments = study.items, study.judgments
    query, spec = items.query[judgments.item], ResampleSpec(rng, replicates=0)
    found = position_bias(judgments.label, judgments.first, query, resample=spec, tests=_drawn(1, rng))
    return any(supported([found.test]))


def picked_after(picks: Any, rng: np.random.Generator) -> bool:
    systems = int(picks.system.max()) + 1
    offered = np.ones((int(picks.item.max()) + 1, systems), dtype=np.int64)
    spec = ResampleSpec(rng, replicates=0)
    found = pick_shares(picks, systems, resample=spec, offered=offered, tests=_drawn(systems, rng)).systems
    said = supported([each.test for each in found])
    return any(holds and each.share.value > each.chance for each, holds in zip(found, said, strict=True))


def ranked_after(ranks: Any, rng: np.random.Generator) -> bool:
    family = comb(int(ranks.system.max()) + 1, 2)
    pairs = friedman(ranks, unit="queries", tests=_drawn(family, rng)).pairs
    return any(supported([pair.test for pair in pairs]))


def rated_after(questions: Any, rng: np.random.Generator) -> bool:
    systems = int(questions[0].system.max()) + 1
    tests = _drawn(systems * len(questions), rng)
    found = [
        test for each in questions for test in above_every_other(each, each.system, range(systems), tests)
    ]
    return any(supported(found))


# --- what is simulated ---------------------------------------------------------------------------------------------


FLIP = Sentence("pair_flip", flip_before, flip_after)
MARGIN = Sentence("margin_change", None, margin_after)
WINNER = Sentence("winner", winner_before, winner_after)
AGREEMENT = Sentence("agreement", agreement_before, agreement_after)
POSITION = Sentence("position_bias", position_before, position_after)
PICKED = Sentence("picked", picked_before, picked_after)
RANKED = Sentence("ranked", ranked_before, ranked_after)
RATED = Sentence("rated", rated_before, rated_after)


def _study(design: Pairwise, lean: Floats, *, skewed: bool = False) -> Callable[[np.random.Generator], Any]:
    items = design.items()
    return lambda rng: Judged(design, items, design.judgments(lean, rng, skewed=skewed))


def _questions(queries: int, ahead: tuple[float, ...] = ()) -> Callable[[np.random.Generator], Any]:
    return lambda rng: [random_ratings(queries, 4, rng, ahead) for _ in range(2)]


def null_cases(queries: int = QUERIES) -> Iterator[Case]:
    for systems in (2, 4):
        design, apart = Pairwise(queries, systems), Pairwise(queries, systems, shared=False)
        named = f"{systems} systems x 3 arms"
        nobody = (FLIP, MARGIN, WINNER, AGREEMENT, *((POSITION,) if systems == 2 else ()))
        yield Case(f"{named}, nobody preferred", _study(design, alike(design)), nobody)
        yield Case(f"{named}, one certain in one arm only", _study(design, certain_in_one(design)), (FLIP,))
        yield Case(f"{named}, one preferred alike", _study(design, alike(design, 1.0)), (FLIP, MARGIN))
        yield Case(f"{named}, the same, no shared queries", _study(apart, alike(apart, 1.0)), (MARGIN,))
    design = Pairwise(queries)
    skewed = _study(design, alike(design), skewed=True)
    yield Case("2 systems x 3 arms, a few queries lean far", skewed, (FLIP, MARGIN, WINNER))
    yield Case("4 systems, picked at random", lambda rng: random_picks(queries, 4, rng), (PICKED,))
    yield Case("4 systems, ranked at random", lambda rng: random_ranks(queries, 4, rng), (RANKED,))
    yield Case("4 systems x 2 questions, rated alike", _questions(queries), (RATED,))
    yield Case("4 x 2, two alike above the others", _questions(queries, (1.2, 1.2)), (RATED,))


def power_cases() -> Iterator[Case]:
    for systems in (2, 4):
        for lean in (1.0, 2.0):
            for queries in (30, 100):
                design = Pairwise(queries, systems)
                truth = f"{systems} systems x 3 arms, {queries} queries, {share(lean):.0f} % to {share(-lean):.0f} %"
                yield Case(truth, _study(design, flipping(design, lean)), (FLIP,))


def share(lean: float) -> float:
    """Preferences for system 1, in percent of those that are no tie, on a query without an effect of its own."""
    return 100 / (1 + float(np.exp(-lean)))


def run(case: Case, studies: int, seed: int = 1) -> list[tuple[Found | None, Found]]:
    """In how many studies each sentence is made, by the rule before and by today's."""
    before, after = np.zeros((2, len(case.sentences)), dtype=np.int64)
    for number in range(studies):
        rng = np.random.default_rng([seed, number])
        study = case.make(rng)
        for at, sentence in enumerate(case.sentences):
            before[at] += sentence.before is not None and sentence.before(study, rng)
            after[at] += sentence.after(study, rng)
    return [
        (Found(int(one), studies) if sentence.before else None, Found(int(other), studies))
        for sentence, one, other in zip(case.sentences, before, after, strict=True)
    ]


def table(cases: Iterator[Case], studies: int) -> bool:
    """Prints a row per case and sentence; whether each of today's rates may be 5 % or less."""
    holds = True
    print("| What is true | Finding | Before, % | Now, % |\n| --- | --- | --- | --- |")
    for case in cases:
        for sentence, (before, after) in zip(case.sentences, run(case, studies), strict=True):
            holds &= after.limits[0] <= ALPHA
            print(f"| {case.truth} | {sentence.kind} | {before or ''} | {after} |", flush=True)
    return holds


def main(studies: int = STUDIES) -> None:
    print(
        f"Studies with at least one such sentence, in percent of {studies:,}; Clopper-Pearson limits at 95 %.\n"
    )
    print(f"Nothing to be found, {QUERIES} queries:\n")
    holds = table(null_cases(), studies)
    for queries in (LEAST_QUERIES, 15):
        print(f"\nNothing to be found, {queries} queries:\n")
        holds &= table(null_cases(queries), studies)
    print("\nA preferred system that changes:\n")
    table(power_cases(), studies // 4)
    if not holds:
        sys.exit("A family errs more often than in 5 % of studies.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

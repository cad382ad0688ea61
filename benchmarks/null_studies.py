"""Simulated studies in which it is known what is true, for `benchmarks.family_errors`.

The unit is the query: raters of a query lean the same way (a normal effect of the query on the scale of the logit), in
every arm, so that items of a query depend on each other as they do in real studies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from analytics.statistics.core.tidy import Floats, Ints, Items, Judgments
from analytics.statistics.core.values import Values
from analytics.statistics.preferences.best_picks import Picks
from analytics.statistics.rankings.ranks import Ranks

RATERS = 3
TIES = 0.2
QUERY_EFFECT = 0.8


@dataclass(frozen=True)
class Pairwise:
    """One item per query, arm and pair of systems; with `shared` false every arm has queries of its own."""

    queries: int
    systems: int = 2
    arms: int = 3
    shared: bool = True

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.systems), 2))

    def items(self) -> Items:
        arm, pair, query = (each.ravel() for each in np.indices((self.arms, len(self.pairs), self.queries)))
        n, systems = len(arm), np.array(self.pairs)
        code = query if self.shared else arm * self.queries + query
        return Items(
            key=np.arange(n).astype(str).astype(object),
            query=code,
            queries=tuple(f"q{at}" for at in range(int(code.max()) + 1)),
            arm=arm,
            arms=tuple(f"arm{at}" for at in range(self.arms)),
            category=np.zeros(n, dtype=np.int64),
            categories=("",),
            system_1=systems[pair, 0],
            system_2=systems[pair, 1],
            systems=tuple(f"s{at}" for at in range(self.systems)),
            length_1=np.full(n, 10),
            length_2=np.full(n, 10),
        )

    def judgments(self, lean: Floats, rng: np.random.Generator, *, skewed: bool = False) -> Judgments:
        """`lean` (arms, pairs) is the logit of preferring system 1, where there is no tie; infinite: certain.

        Queries' effects are normal or, with `skewed`, a few lean far to system 1 and the others a little to system 2,
        so that on average nobody is preferred.
        """
        shape = (self.arms, len(self.pairs), self.queries)
        effects = rng.normal(0, QUERY_EFFECT, shape[1:] if self.shared else shape)
        if skewed:
            chance = np.where(rng.random(effects.shape) < 0.2, 0.9, 0.4)
            effects = np.log(chance / (1 - chance))
        certain = np.isinf(lean)[:, :, None]
        logit = np.where(certain, 0.0, lean[:, :, None]) + effects
        first = np.where(certain, lean[:, :, None] > 0, 1 / (1 + np.exp(-logit)))[..., None]
        tie = np.where(certain, 0.0, TIES)[..., None]
        drawn = rng.random((*shape, RATERS))
        label = np.where(rng.random(drawn.shape) < tie, 2, (drawn >= first).astype(np.int64)).ravel()
        n = len(label)
        return Judgments(
            item=np.arange(n) // RATERS,
            rater=np.arange(n) % RATERS,
            raters=tuple(f"r{at}" for at in range(RATERS)),
            vote=label,
            number=np.full(n, np.nan),
            first=rng.integers(0, 2, n),
        )


@dataclass
class Judged:
    """A pairwise study; its flips are what two sentences go by."""

    design: Pairwise
    items: Items
    judgments: Judgments
    flips: list[Any] | None = None


def with_fewer_in_the_first_arm(study: Judged) -> Judged:
    """The same with two raters of every item in the first arm, and three in the others."""
    judgments = study.judgments
    kept = (study.items.arm[judgments.item] > 0) | (judgments.rater < 2)
    return Judged(study.design, study.items, judgments.where(kept))


def random_picks(queries: int, systems: int, rng: np.random.Generator) -> Picks:
    """Each rater of an item picks by the query's own chances, which are alike for all systems on average."""
    chances = rng.dirichlet(np.full(systems, 2.0), queries).cumsum(axis=1)
    system = (
        (rng.random((queries, RATERS, 1)) > chances[:, None, :]).sum(axis=2).clip(max=systems - 1).ravel()
    )
    item, rater = np.divmod(np.arange(queries * RATERS), RATERS)
    return Picks(item=item, query=item, rater=rater, response=system, system=system)


def random_ranks(queries: int, systems: int, rng: np.random.Generator, ahead: int = 0) -> Ranks:
    """Rankings by strengths of the query's own; the first `ahead` systems are far above the others, and alike."""
    strength = rng.normal(0, QUERY_EFFECT, (queries, 1, systems))
    strength[..., :ahead] += 5
    score = strength + rng.gumbel(size=(queries, RATERS, systems))
    rank = (-score).argsort(axis=2).argsort(axis=2).ravel() + 1.0
    judgment, response = np.divmod(np.arange(len(rank)), systems)
    query, rater = np.divmod(judgment, RATERS)
    return Ranks(
        judgment=judgment,
        item=query,
        query=query,
        rater=rater,
        response=response,
        system=response,
        rank=rank,
        place=np.full(len(rank), -1),
    )


def random_ratings(
    queries: int, systems: int, rng: np.random.Generator, ahead: Sequence[float] = ()
) -> Values:
    """Ratings from 0 to 3 with an effect of query and system; `ahead` is added to the first systems' means."""
    mean = 1.5 + rng.normal(0, 0.6, (queries, systems, 1))
    mean[:, : len(ahead), 0] += np.asarray(ahead)
    value = np.clip(np.round(mean + rng.normal(0, 0.7, (queries, systems, RATERS))), 0, 3).ravel()
    unit, rater = np.divmod(np.arange(len(value)), RATERS)
    query, system = np.divmod(unit, systems)
    return Values(unit=unit, query=query, system=system, part=system, item=query, rater=rater, value=value)


def with_fewer_of_the_first_system(values: Values) -> Values:
    """The same with two raters of each response of the first system, and three of the others'."""
    return values.where((values.system > 0) | (values.rater < 2))


def alike(design: Pairwise, lean: float = 0.0) -> Floats:
    """Every pair leans the same way in every arm."""
    return np.full((design.arms, len(design.pairs)), lean)


def certain_in_one(design: Pairwise) -> Floats:
    """The least favourable case of a flip: the first arm is certain, and in the others nobody is preferred."""
    lean = alike(design)
    lean[0] = np.inf
    return lean


def flipping(design: Pairwise, lean: float) -> Floats:
    """The first pair is preferred one way in the first arm and the other way in the last."""
    found = alike(design)
    found[0, 0], found[-1, 0] = lean, -lean
    return found


def counts_by_item(judgments: Judgments) -> Ints:
    """Counts (n, 3) of the labels."""
    flat = judgments.item.astype(np.int64) * 3 + judgments.label
    return np.bincount(flat, minlength=3 * (int(judgments.item.max()) + 1)).reshape(-1, 3)

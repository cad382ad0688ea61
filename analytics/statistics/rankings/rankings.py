"""Rankings by system and by place: mean rank, share of first places, and whether the order shown matters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import (
    ResampleSpec,
    divide,
    mean_estimate,
    mean_within,
    sum_by,
)
from analytics.statistics.core.tidy import Bools, Floats, Ints, distinct
from analytics.statistics.rankings.ranks import UNKNOWN_PLACE, Ranks

NO_PLACE = "ranks of responses whose place on the screen is unknown"


@dataclass(frozen=True)
class SystemRanks:
    """A system (code): its responses' mean rank, and its share of first places beside the one by chance.

    `chance` and `chance_rank` are what random rankings of the same responses would give, None without any.
    """

    system: int
    mean_rank: Estimate
    first: Estimate
    chance_rank: float | None
    chance: float | None


@dataclass(frozen=True)
class PlaceRanks:
    """Responses shown at one place, from 0: their mean rank, that less chance, and their share of first places.

    A `bias` below zero says that the place is favoured. `chance_rank` is the mean of (m + 1) / 2 and `chance` that
    of 1 / m, over the rankings of m responses that have the place. `test` is of a mean rank equal to chance, by
    flipping the signs of queries, where it was asked for.
    """

    place: int
    mean_rank: Estimate
    bias: Estimate
    first: Estimate
    chance_rank: float
    chance: float
    test: Tested | None = None


@dataclass(frozen=True)
class PlaceBias:
    """Every place that occurs, in order; rows whose place is not known are left out."""

    places: tuple[PlaceRanks, ...]
    left_out: tuple[LeftOut, ...]


def first_credit(ranks: Ranks) -> Floats:
    """Each row's part (n,) of its judgment's first place, which equals share evenly; 1 in all per judgment."""
    best = np.full(ranks.n_judgments, np.inf)
    np.minimum.at(best, ranks.judgment_code, ranks.rank)
    is_best = ranks.rank <= best[ranks.judgment_code] + 1e-9
    part = is_best.astype(np.float64)
    at_top = sum_by(ranks.judgment_code, part, ranks.n_judgments)
    return divide(part, at_top[ranks.judgment_code])


def system_ranks(ranks: Ranks, n_systems: int, *, resample: ResampleSpec) -> tuple[SystemRanks, ...]:
    """Mean rank and share of first places of each system, 0 to n_systems - 1, with intervals over queries.

    Every rank weighs the same. The share of first places is over the judgments that rank a response of the system, and
    a judgment whose first place is shared gives each of the equals its part. Raises TidyDataError where a ranking has a
    system beyond `n_systems`.
    """
    if len(ranks) and int(ranks.system.max()) >= n_systems:
        raise TidyDataError("A ranking refers to a system that does not exist.")
    credit = first_credit(ranks)
    return tuple(_of_system(ranks, credit, system, resample) for system in range(n_systems))


def place_bias(ranks: Ranks, *, resample: ResampleSpec, tests: Randomization | None = None) -> PlaceBias:
    """Mean rank given to what was shown at each place, beside chance; rows of unknown place are left out.

    Where the order is drawn at random or counterbalanced, a rater whom it does not move gives every place the rank
    of chance.
    """
    known = ranks.place != UNKNOWN_PLACE
    credit = first_credit(ranks)
    places = tuple(
        _of_place(ranks, credit, ranks.place == place, int(place), resample, tests)
        for place in np.unique(ranks.place[known])
    )
    return PlaceBias(places, present({NO_PLACE: int(np.count_nonzero(~known))}))


def _of_system(ranks: Ranks, credit: Floats, system: int, resample: ResampleSpec) -> SystemRanks:
    used = ranks.system == system
    mean_rank = _mean_rank(ranks.rank[used], ranks.size[used], ranks.query[used], resample)
    # A system may have several responses in one ranking; they count as one judgment.
    judgment = ranks.judgment_code[used]
    judgments, first_row, code = distinct(judgment)
    share = np.minimum(np.bincount(code, weights=credit[used], minlength=len(judgments)), 1.0)
    first = mean_estimate(
        share,
        ranks.query[used][first_row],
        unit="judgments",
        resample=resample,
        empty="No ranking has this system.",
        share=True,
    )
    if not len(judgments):
        return SystemRanks(system, mean_rank, first, None, None)
    size = ranks.size[used]
    chance = float(np.bincount(code, weights=1 / size, minlength=len(judgments)).mean())
    return SystemRanks(system, mean_rank, first, float((size + 1).mean() / 2), chance)


def _mean_rank(rank: Floats, size: Ints, query: Ints, resample: ResampleSpec, first: float = 1.0) -> Estimate:
    """Mean of ranks (n,) among so many responses, from `first` for the first place on."""
    steps, empty = int(size.max(initial=1)) - 1, "No ranking has this system."
    if not steps:
        return mean_estimate(rank, query, unit="ranks", resample=resample, empty=empty)
    return mean_within(rank, query, (first, first + steps), unit="ranks", resample=resample, empty=empty)


def _of_place(
    ranks: Ranks,
    credit: Floats,
    used: Bools,
    place: int,
    resample: ResampleSpec,
    tests: Randomization | None,
) -> PlaceRanks:
    size, rank, query = ranks.size[used], ranks.rank[used], ranks.query[used]
    middle = (size + 1) / 2
    return PlaceRanks(
        place,
        _mean_rank(rank, size, query, resample),
        _mean_rank(rank - middle, size, query, resample, first=(1 - float(size.max())) / 2),
        mean_estimate(
            credit[used], query, unit="ranks", resample=resample, empty="There is no such rank.", share=True
        ),
        float(middle.mean()),
        float((1 / size).mean()),
        sign_flip(rank - middle, query, tests.of(place)).two_sided if tests is not None else None,
    )

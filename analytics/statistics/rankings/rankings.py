"""Rankings by system, by two systems and by place: who outranks whom, first places, whether the order shown matters."""

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
from analytics.statistics.core.tidy import Bools, Floats, Ints, connected, distinct, split
from analytics.statistics.rankings.ranks import UNKNOWN_PLACE, Ranks, mid_ranks

NO_PLACE = "ranks of responses whose place on the screen is unknown"


@dataclass(frozen=True)
class SystemRanks:
    """A system (code): its responses' mean rank, what they outrank, and its share of first places beside chance.

    `outranked` is the share of the other systems' responses in the same ranking that a response stands above, equals
    counting half: 0.5 by chance, whatever the number of responses. `group` numbers, from 0, the systems that were
    ranked together, directly or through others. `chance` and `chance_rank` are what random rankings of the same
    responses would give, None without any.
    """

    system: int
    mean_rank: Estimate
    outranked: Estimate
    first: Estimate
    chance_rank: float | None
    chance: float | None
    group: int


@dataclass(frozen=True)
class RankedPair:
    """Two systems (codes): the share of the rankings with both in which the first stands above the second.

    Equals count half. `test` is of a share of one half, by flipping the signs of queries, where it was asked for.
    """

    system_1: int
    system_2: int
    above: Estimate
    test: Tested | None = None


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


def have_one_set(ranks: Ranks) -> bool:
    """True where all rankings are of responses of the same systems, so that their ranks can be pooled."""
    _, _, system = distinct(ranks.system)
    k = int(system.max(initial=-1)) + 1
    has = np.bincount(ranks.judgment_code.astype(np.int64) * k + system, minlength=ranks.n_judgments * k)
    has = has.reshape(-1, k)
    return bool((has == has[:1]).all())


def outranked(ranks: Ranks) -> Floats:
    """Share (n,) of the other systems' responses in its ranking that each row's response stands above, equals counting
    half; nan without any.
    """
    cell = ranks.judgment_code.astype(np.int64) * (int(ranks.system.max(initial=0)) + 1) + ranks.system
    _, _, own = distinct(cell)
    n_own = np.bincount(own)[own]
    # Of its own system's responses are as many below it as its rank among them says.
    below = ranks.size - ranks.rank - (n_own - mid_ranks(ranks.rank, own))
    return divide(below, (ranks.size - n_own).astype(np.float64))


def ranked_pairs(
    ranks: Ranks, *, resample: ResampleSpec, tests: Randomization | None = None
) -> tuple[RankedPair, ...]:
    """Every two systems that rankings have in common, with intervals over queries; each ranking weighs the same.

    So that it may be held against both systems' places on the same responses alone, whatever else was ranked with
    them. Ours.
    """
    lower, upper, judgment, query, credit = _pairs_of_systems(ranks)
    width = int(ranks.system.max(initial=0)) + 1
    cells, _, cell = distinct(lower * width + upper)
    found = []
    for code, at in enumerate(split(cell, len(cells))):
        one, two = divmod(int(cells[code]), width)
        # A ranking with several responses of a system compares them as one.
        rankings, first, of = distinct(judgment[at])
        share = np.bincount(of, weights=credit[at], minlength=len(rankings)) / np.bincount(of)
        queries = query[at][first]
        above = mean_estimate(
            share, queries, unit="rankings", resample=resample, empty="No ranking has both.", share=True
        )
        test = sign_flip(share - 0.5, queries, tests.of(one, two)).two_sided if tests is not None else None
        found.append(RankedPair(one, two, above, test))
    return tuple(found)


def _pairs_of_systems(ranks: Ranks) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Of every two responses of different systems in a ranking: the systems, the lower code first, the ranking, its
    query, and the first's part of a win.
    """
    judgment = ranks.judgment_code
    order = np.lexsort((ranks.system, judgment))
    found = []
    for step in range(1, int(ranks.size.max(initial=1))):
        one, two = order[:-step], order[step:]
        apart = (judgment[one] == judgment[two]) & (ranks.system[one] != ranks.system[two])
        one, two = one[apart], two[apart]
        credit = (1 + np.sign(ranks.rank[two] - ranks.rank[one])) / 2
        systems = (ranks.system[each].astype(np.int64) for each in (one, two))
        found.append((*systems, judgment[one], ranks.query[one], credit))
    if not found:
        nobody = np.zeros(0, dtype=np.int64)
        return nobody, nobody, nobody, nobody, np.zeros(0)
    lower, upper, rankings, queries, credits_ = (np.concatenate(each) for each in zip(*found, strict=True))
    return lower, upper, rankings, queries, credits_


def system_ranks(ranks: Ranks, n_systems: int, *, resample: ResampleSpec) -> tuple[SystemRanks, ...]:
    """Each system, 0 to n_systems - 1: mean rank, share outranked and share of first places, over queries.

    Every rank weighs the same. Mean ranks are comparable where all rankings are of the same systems (`have_one_set`):
    among two responses nobody is third. What a system outranks is comparable within a `group`. The share of first
    places is over the judgments that rank a response of the system, and a judgment whose first place is shared gives
    each of the equals its part. Raises TidyDataError where a ranking has a system beyond `n_systems`.
    """
    if len(ranks) and int(ranks.system.max()) >= n_systems:
        raise TidyDataError("A ranking refers to a system that does not exist.")
    credit, share = first_credit(ranks), outranked(ranks)
    group = connected(ranks.system, n_systems + ranks.judgment_code, n_systems + ranks.n_judgments)
    return tuple(
        _of_system(ranks, credit, share, system, int(group[system]), resample) for system in range(n_systems)
    )


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


def _of_system(
    ranks: Ranks, credit: Floats, outranked: Floats, system: int, group: int, resample: ResampleSpec
) -> SystemRanks:
    used = ranks.system == system
    mean_rank = _mean_rank(ranks.rank[used], ranks.size[used], ranks.query[used], resample)
    beside = used & np.isfinite(outranked)
    above = mean_estimate(
        outranked[beside],
        ranks.query[beside],
        unit="ranks",
        resample=resample,
        empty="No ranking has this system beside another.",
        share=True,
    )
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
        return SystemRanks(system, mean_rank, above, first, None, None, group)
    size = ranks.size[used]
    chance = float(np.bincount(code, weights=1 / size, minlength=len(judgments)).mean())
    return SystemRanks(system, mean_rank, above, first, float((size + 1).mean() / 2), chance, group)


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

"""Scores of systems' responses beside rankings of the same responses: Kendall's tau and weighted kappa of their orders.

Source: AGENT-CQ (section 3.1) has a jury score questions and people rank them, and holds one against the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.agreement.mean_kappa import mean_kappas
from analytics.statistics.core.estimates import Estimate, TidyDataError, present, undefined
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_within
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.rankings.ranks import mid_ranks

ONE_RESPONSE = "queries with a single shared response"
ALL_EQUAL = "queries whose responses are all scored, or all ranked, the same"
NOTHING = "No query has two shared responses that are scored and ranked apart."


@dataclass(frozen=True)
class ScoresVsRanks:
    """`tau` is the mean over queries of tau-b; the kappas are of places from 1, within queries, by scores and by ranks.

    `of_systems` is tau-b of the systems' means over all queries, None for fewer than two systems or without variation.
    """

    tau: Estimate
    linear: Estimate
    quadratic: Estimate
    of_systems: float | None


def scores_vs_ranks(
    score: Floats, rank: Floats, system: Ints, query: Ints, *, resample: ResampleSpec
) -> ScoresVsRanks:
    """Of one row (n,) per response: its mean score, more being better, and its mean rank, less being better; any
    measure of how low it was ranked will do, such as the share of co-ranked responses above it.

    `system` and `query` (n,) are codes. Places are taken anew among a query's rows, equals sharing theirs; intervals
    are over queries. Queries with a single row are left out and counted, of tau those too in which one side does not
    vary. Raises TidyDataError where the shapes differ.
    """
    if not score.shape == rank.shape == system.shape == query.shape or score.ndim != 1:
        raise TidyDataError("Scores and ranks need a system and a query in every row.")
    queries, code = np.unique(query, return_inverse=True)
    sizes = np.bincount(code, minlength=len(queries))
    used = sizes[code] > 1
    by_score, by_rank = (
        mid_ranks(np.round(each[used], 9), code[used]) for each in (-score, rank.astype(np.float64))
    )
    taus = _taus(by_score, by_rank, code[used], len(queries))[sizes > 1]
    known = np.isfinite(taus)
    single = int(np.count_nonzero(sizes == 1))
    tau = mean_within(
        taus[known],
        np.flatnonzero(known),
        (-1.0, 1.0),
        unit="queries",
        resample=resample,
        left_out=present({ONE_RESPONSE: single, ALL_EQUAL: int(np.count_nonzero(~known))}),
        empty=NOTHING,
    )
    linear, quadratic = _kappas(by_score, by_rank, code[used], resample)
    left_out = present({ONE_RESPONSE: single})
    linear, quadratic = (replace(each, left_out=(*left_out, *each.left_out)) for each in (linear, quadratic))
    return ScoresVsRanks(tau, linear, quadratic, _of_systems(score, rank, system))


def _kappas(by_score: Floats, by_rank: Floats, query: Ints, resample: ResampleSpec) -> tuple[Estimate, ...]:
    if not len(query):
        nothing = undefined(NOTHING, unit="responses", level=resample.level)
        return nothing, nothing
    # Places that equals share end in a half.
    points = np.arange(1, float(max(by_score.max(), by_rank.max())) + 0.5, 0.5)
    unit = np.arange(len(query))
    found = mean_kappas(
        np.tile(unit, 2),
        np.repeat([0, 1], len(unit)),
        np.round(2 * np.concatenate([by_score, by_rank])).astype(np.int64) - 2,
        np.tile(query, 2),
        points.tolist(),
        ("linear", "quadratic"),
        resample=resample,
        what="responses",
        min_shared=1,
    )
    return found.pairs[0].kappas


def _of_systems(score: Floats, rank: Floats, system: Ints) -> float | None:
    _, code = np.unique(system, return_inverse=True)
    times = np.maximum(np.bincount(code), 1)
    means = [np.round(np.bincount(code, weights=each) / times, 9) for each in (score, -rank)]
    found = float(_taus(means[0], means[1], np.zeros(len(times), dtype=np.int64), 1)[0])
    return found if np.isfinite(found) else None


def _taus(one: Floats, other: Floats, group: Ints, n_groups: int) -> Floats:
    """Tau-b (n_groups,) of the rows of each group, nan where one side does not vary."""
    order = np.argsort(group, kind="stable")
    one, other, group = one[order], other[order], group[order]
    surplus, apart_one, apart_other = (np.zeros(n_groups) for _ in range(3))
    for step in range(1, int(np.bincount(group, minlength=1).max(initial=0))):
        same = group[step:] == group[:-step]
        signs = [np.sign(each[step:] - each[:-step])[same] for each in (one, other)]
        at = group[step:][same]
        for total, value in (
            (surplus, signs[0] * signs[1]),
            (apart_one, np.abs(signs[0])),
            (apart_other, np.abs(signs[1])),
        ):
            total += np.bincount(at, weights=value, minlength=n_groups)
    return divide(surplus, np.sqrt(apart_one * apart_other))

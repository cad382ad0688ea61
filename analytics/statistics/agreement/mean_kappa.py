"""Kappa of a group: the mean over its pairs of raters, of labels or, weighted, of ratings.

Source: the mean of Cohen's kappa over pairs is Light's (1971) for several raters; weights are Cohen's (1968). AGENT-CQ
gives such figures of its jury's members without a formula (section 3, Tables 1 and 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analytics.statistics.agreement.kappa import (
    FEW_SHARED,
    TOO_MANY_RATERS,
    Weights,
    disagreement_of,
)
from analytics.statistics.core.estimates import (
    DuplicateJudgmentError,
    Estimate,
    LeftOut,
    ParameterError,
    TidyDataError,
    present,
    undefined,
)
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.jackknife import Jackknife, error_of
from analytics.statistics.core.resampling import ResampleSpec, divide, estimates_from
from analytics.statistics.core.tidy import Floats, Ints, distinct

PAIRS_OF_RATERS = "pairs of raters"
ALL_SAME = "pairs of raters who give one and the same value throughout"
NO_PAIR = "No two raters share {n} {unit} on which their values differ by chance."


@dataclass(frozen=True)
class PairKappas:
    """Two raters (codes), their share of equal values, and their kappas in the order of the weights asked for."""

    rater_1: int
    rater_2: int
    agreement: Estimate
    kappas: tuple[Estimate, ...]


@dataclass(frozen=True)
class MeanKappas:
    """Means over pairs of raters of the share of equal values and of the kappas; `n` of each counts pairs."""

    agreement: Estimate
    kappas: tuple[Estimate, ...]
    pairs: tuple[PairKappas, ...]


@dataclass(frozen=True, eq=False)
class _Found:
    """One pair: its figures (f,), what leaving out each of its queries changes them by (q, f), and these queries."""

    value: Floats
    deviation: Floats
    query: Ints
    totals: Ints


def mean_kappas(
    unit: Ints,
    rater: Ints,
    code: Ints,
    query: Ints,
    points: Sequence[float],
    weights: Sequence[Weights],
    *,
    resample: ResampleSpec,
    what: str = "items",
    min_shared: int = 10,
    max_raters: int = 12,
) -> MeanKappas:
    """Kappas of every two of the `max_raters` raters with most values, where they share enough units, and their means.

    A row (n,) is what one `rater` gave one `unit` of one `query`: the place `code` of the value among `points`,
    negative where it has none. Weights go by the distance of two points, not of their places, which is the same where a
    scale's steps are. The intervals are over queries, of a mean too: leaving out a query changes all pairs that have
    it. Pairs without kappa are in no mean, and are counted. Raises DuplicateJudgmentError where a rater rated a unit
    twice. Raises TidyDataError where the shapes differ, ParameterError without weights.
    """
    if not unit.shape == rater.shape == code.shape == query.shape or unit.ndim != 1:
        raise TidyDataError("Kappa needs a unit, a rater, a value and a query in every row.")
    if not weights:
        raise ParameterError("Kappa needs one kind of weights at least.")
    disagreements = [disagreement_of(points, each) for each in weights]
    given = code >= 0
    active, counts = np.unique(rater[given], return_counts=True)
    chosen = active[np.argsort(-counts, kind="stable")][:max_raters]
    used = given & np.isin(rater, chosen)
    units, _, place = distinct(unit[used])
    table = _table(place, np.searchsorted(np.sort(chosen), rater[used]), code[used], len(chosen), len(units))
    of_unit = np.zeros(len(units), dtype=np.int64)
    of_unit[place] = query[used]
    raters, found, few = np.sort(chosen), {}, 0
    for one, other in combinations(range(len(raters)), 2):
        shared = (table[one] >= 0) & (table[other] >= 0)
        if np.count_nonzero(shared) < max(min_shared, 1):
            few += 1
            continue
        found[int(raters[one]), int(raters[other])] = _of_pair(
            table[one][shared], table[other][shared], of_unit[shared], len(points), disagreements
        )
    beyond = (len(active) * (len(active) - 1) - len(chosen) * (len(chosen) - 1)) // 2
    parts = {FEW_SHARED: few, TOO_MANY_RATERS: beyond}
    none = NO_PAIR.format(n=min_shared, unit=what)
    agreement, *kappas = _means(list(found.values()), len(weights) + 1, parts, none, resample)
    pairs = tuple(_pair_estimates(pair, each, what, resample) for pair, each in found.items())
    return MeanKappas(agreement, tuple(kappas), pairs)


def _table(unit: Ints, rater: Ints, code: Ints, n_raters: int, n_units: int) -> Ints:
    """Codes by rater and unit (n_raters, n_units), -1 where a rater gave none."""
    table = np.full((n_raters, n_units), -1, dtype=np.int32)
    table[rater, unit] = code
    if np.count_nonzero(table >= 0) < len(code):
        raise DuplicateJudgmentError("A rater has rated the same part of an item twice.")
    return table


def _of_pair(one: Ints, other: Ints, query: Ints, k: int, disagreements: Sequence[Floats]) -> _Found:
    used, _, code = distinct(query)
    n = len(used)
    observed = [np.bincount(code, weights=each[one, other], minlength=n) for each in disagreements]
    given = [np.bincount(code * k + each, minlength=n * k).reshape(n, k) for each in (one, other)]
    equal = np.bincount(code, weights=one == other, minlength=n)
    vectors = np.column_stack([given[0].sum(axis=1), equal, *observed, *given]).astype(np.float64)

    def figures(sums: Floats) -> Floats:
        n, equal = sums[:, 0], sums[:, 1]
        first, second = sums[:, -2 * k : -k], sums[:, -k:]
        expected = [((first @ each) * second).sum(axis=1) for each in disagreements]
        seen = [sums[:, 2 + at] for at in range(len(disagreements))]
        kappas = [1 - divide(n * of, by) for of, by in zip(seen, expected, strict=True)]
        return np.column_stack([divide(equal, n), *kappas])

    total = vectors.sum(axis=0)
    value = figures(total[None, :])[0]
    return _Found(value, figures(total - vectors) - value, used, total[-2 * k : -k] + total[-k:])


def _means(
    found: Sequence[_Found], n_figures: int, parts: dict[str, int], none: str, resample: ResampleSpec
) -> list[Estimate]:
    """The mean of each figure over the pairs that have it."""
    queries = np.unique(np.concatenate([each.query for each in found])) if found else np.zeros(0)
    made = []
    for at in range(n_figures):
        defined = [each for each in found if np.isfinite(each.value[at])]
        left_out = present({**parts, ALL_SAME: len(found) - len(defined)})
        if not defined:
            made.append(undefined(none, unit=PAIRS_OF_RATERS, level=resample.level, left_out=left_out))
            continue
        deviation = np.zeros(len(queries))
        for each in defined:
            deviation[np.searchsorted(queries, each.query)] += each.deviation[:, at] / len(defined)
        value = float(np.mean([each.value[at] for each in defined]))
        made.append(_estimate(value, deviation, len(defined), PAIRS_OF_RATERS, at == 0, resample, left_out))
        if at:
            totals = np.sum([each.totals for each in defined], axis=0)
            made[-1] = noted(made[-1], totals.astype(np.int64), len(queries))
    return made


def _estimate(
    value: float,
    deviation: Floats,
    n: int,
    unit: str,
    is_share: bool,
    resample: ResampleSpec,
    left_out: tuple[LeftOut, ...] = (),
) -> Estimate:
    several = len(deviation) > 1
    error = error_of(deviation[:, None]) if several else np.full(1, np.nan)
    [made] = estimates_from(
        Jackknife(np.array([value]), error, len(deviation), len(deviation)),
        n=n,
        unit=unit,
        level=resample.level,
        left_out=left_out,
        empty="Both raters give the same value throughout, so they would agree by chance alone.",
        scales=["share" if is_share else "coefficient"],
    )
    return made


def _pair_estimates(pair: tuple[int, int], found: _Found, what: str, resample: ResampleSpec) -> PairKappas:
    n = int(found.totals.sum()) // 2
    agreement, *kappas = (
        _estimate(float(found.value[at]), found.deviation[:, at], n, what, at == 0, resample)
        for at in range(len(found.value))
    )
    noted_kappas = (noted(each, found.totals.astype(np.int64), len(found.query)) for each in kappas)
    return PairKappas(*pair, agreement, tuple(noted_kappas))

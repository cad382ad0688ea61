"""Length-controlled win rates: what a win rate would be, were the responses as long as their opponents'.

Source: Dubois et al. (2024), section 3, and its reference implementation (alpaca_eval 0.6, `length_controlled_v1`): a
logistic regression of the preference on a term of the system, the hyperbolic tangent of the standardised difference of
lengths, and the instruction's difficulty, with an L1 penalty whose strength is chosen by cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, present, undefined
from analytics.statistics.core.jackknife import Jackknife, error_of
from analytics.statistics.core.resampling import ResampleSpec, estimates_from, sum_by
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.leaderboards.penalized_logistic import fit_cross_validated

LEAST_QUERIES = 10
# By simulation: of fewer queries the interval of the change covers too little (docs/statistics.md).
LEAST_FOR_CHANGE = 30
FEW_FOR_CHANGE = "The interval of this difference needs at least 30 queries."
FEW_QUERIES = "Length control needs at least ten queries with a usable judgment."
ALL_ALIKE = "Every query says the same, so this difference has no interval."
# With fewer queries on the other side of one half the fit is nearly separated (docs/statistics.md).
LEAST_OTHER_WAY = 5
NEARLY_ONE_SIDED = "Fewer than five queries go the other way: too few for an interval at equal lengths."
ALWAYS_LONGER = "The longer response is always the same system's: equal lengths lie beyond what was judged."
NO_USABLE_JUDGMENT = "items without a usable judgment"
# Columns of the design: the system, the length and the difficulty.
SYSTEM, LENGTH, DIFFICULTY = range(3)
# Of an item of a gamed baseline in another system's fit: the reference's 0.2, shared by its two.
GAMED_WEIGHT = 0.1
# An effect below this is that of rounding.
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class LengthRows:
    """Items of one system against its opponent, arrays (n,): `preference` is the chance that the system is better (nan
    without a usable judgment), `longer` by how many characters its response is longer.

    `difficulty` is the instruction's, in the system's favour; all 0 where nothing is known of it. `fold` is the part of
    the cross-validation.
    """

    preference: Floats
    longer: Floats
    difficulty: Floats
    query: Ints
    fold: Ints

    def __post_init__(self) -> None:
        shapes = {
            getattr(self, name).shape for name in ("preference", "longer", "difficulty", "query", "fold")
        }
        if len(shapes) != 1 or self.preference.ndim != 1:
            raise TidyDataError(
                "Length control needs one preference, length, difficulty, query and fold per item."
            )


@dataclass(frozen=True)
class LengthControlled:
    """`rate` at equal lengths, the `plain` rate, and what length control does to it (`change`, rate less plain rate).

    `length` and `difficulty` are the coefficients of those terms, None where they do not vary: a positive one of length
    says that longer responses are preferred. `penalty` is scikit-learn's C, an inverse: 0 where nothing was fitted.
    """

    rate: Estimate
    plain: Estimate
    change: Estimate
    length: float | None
    difficulty: float | None
    penalty: float


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The rows that a fit is of: designs (m, k), preferences, weights and queries (m,)."""

    design: Floats
    preference: Floats
    weight: Floats
    query: Ints


def length_controlled(
    rows: LengthRows, *, resample: ResampleSpec, gamed: Sequence[LengthRows] = ()
) -> LengthControlled:
    """The win rate at equal lengths: the mean over items of the model's prediction with the length term at zero.

    `gamed` are items of the baseline's own model, told to be concise or verbose, against the baseline. Each item is in
    the fit with a tenth of the weight and without a term of the system, so that the effects of length and difficulty
    are drawn towards what they are where nothing but length differs; it is in neither rate. Items of other queries
    than the rows' are not used.

    The difference of lengths is divided by its standard deviation (n - 1) over all items. Items without a preference
    take no part in the fit; the mean is over the others too, as in the reference. Intervals are those of the fit with
    the least penalty of all, leaving out one query at a time in one Newton step with the same standard deviation: the
    chosen penalty draws small effects to zero, around which intervals would cover too little. They hold the value.
    Where fewer than five queries have a preference on the less common side of one half, or all judged responses of one
    side are the longer ones in everything that is fitted, rate and change have none.
    """
    import scipy

    known = np.isfinite(rows.preference)
    n, queries = int(np.count_nonzero(known)), len(np.unique(rows.query[known]))
    left_out = present({NO_USABLE_JUDGMENT: int(np.count_nonzero(~known))})
    if queries < LEAST_QUERIES:
        nothing = undefined(FEW_QUERIES, n=n, level=resample.level, left_out=left_out)
        return LengthControlled(nothing, nothing, nothing, None, None, 0.0)
    design = _design(rows)
    varies = design.std(axis=0) > SAME
    varies[SYSTEM] = True
    used = design[:, varies]
    parts = [(used[known], rows, known, 1.0)]
    for each in gamed:
        judged = np.isfinite(each.preference) & np.isin(each.query, rows.query)
        no_system = _design(each)[judged] * (np.arange(3) != SYSTEM)
        parts.append((no_system[:, varies], each, judged, GAMED_WEIGHT))
    fitted = _Fitted(
        np.concatenate([part for part, *_ in parts]),
        np.concatenate([of.preference[at] for _, of, at, _ in parts]),
        np.concatenate([np.full(len(part), weight) for part, _, _, weight in parts]),
        np.concatenate([of.query[at] for _, of, at, _ in parts]),
    )
    fold = np.concatenate([of.fold[at] for _, of, at, _ in parts])
    fit = fit_cross_validated(fitted.design, fitted.preference, fold, fitted.weight)
    at_zero = used.copy()
    if varies[LENGTH]:
        at_zero[:, LENGTH] = 0.0
    figures = _left_out_queries(fit.loosest, fitted, at_zero, rows, known)
    free = estimates_from(
        figures,
        n=n,
        unit="items",
        level=resample.level,
        left_out=left_out,
        empty=FEW_QUERIES,
        scales=["share", "share", "plain"],
    )
    value = float(scipy.special.expit(at_zero @ fit.coefficients).mean())
    _, plain, _ = free
    assert plain.value is not None
    rate, change = _around(free[0], value), _around(_change(free, figures.error), value - plain.value)
    if queries < LEAST_FOR_CHANGE:
        change = _without_interval(change, FEW_FOR_CHANGE)
    longer = fitted.design[:, LENGTH] if varies[LENGTH] else np.zeros(1)
    if longer.min() > 0 or longer.max() < 0:
        rate, change = _without_interval(rate, ALWAYS_LONGER), _without_interval(change, ALWAYS_LONGER)
    if _other_way(rows.preference[known], rows.query[known]) < LEAST_OTHER_WAY:
        # Nearly separated, the fit's own width is that of its penalty.
        rate, change = _without_interval(rate, NEARLY_ONE_SIDED), _without_interval(change, NEARLY_ONE_SIDED)
    effects = np.zeros(3)
    effects[varies] = fit.coefficients
    return LengthControlled(
        rate,
        plain,
        change,
        float(effects[LENGTH]) if varies[LENGTH] else None,
        float(effects[DIFFICULTY]) if varies[DIFFICULTY] else None,
        fit.inverse_penalty,
    )


def difficulties(system: Ints, preference: Floats, longer: Floats, query: Ints, fold: Ints) -> Floats:
    """The difficulty of each item's instruction for its system, from how all other systems did on it; arrays (n,).

    The paper fits difficulties jointly over all systems, each with a weight of one, and AlpacaEval's are published for
    its own instructions only. Here each is one Newton step from zero of that joint fit, with a standard normal prior:
    the sum over other systems' items of preference less prediction (by a fit of system and length alone), over the sum
    of their variances plus one. A system's own preferences are left out: with few systems they would explain
    themselves. 0 where no other system was judged on the query.
    """
    import scipy

    residual, variance = np.zeros(len(system)), np.zeros(len(system))
    for code in np.unique(system):
        at = np.flatnonzero((system == code) & np.isfinite(preference))
        if len(np.unique(fold[at])) < 2:
            continue
        rows = LengthRows(preference[at], longer[at], np.zeros(len(at)), query[at], fold[at])
        design = _design(rows)[:, : LENGTH + 1]
        fit = fit_cross_validated(design, preference[at], fold[at])
        chance = scipy.special.expit(design @ fit.coefficients)
        residual[at], variance[at] = preference[at] - chance, chance * (1 - chance)
    _, code = np.unique(query, return_inverse=True)
    _, own = np.unique(code.astype(np.int64) * (int(system.max(initial=0)) + 1) + system, return_inverse=True)

    def of_others(values: Floats) -> Floats:
        return sum_by(code, values, len(system))[code] - sum_by(own, values, len(system))[own]

    return np.asarray(of_others(residual) / (of_others(variance) + 1))


def _design(rows: LengthRows) -> Floats:
    spread = float(rows.longer.std(ddof=1)) if len(rows.longer) > 1 else 0.0
    length = np.tanh(rows.longer / spread) if spread > SAME else np.zeros(len(rows.longer))
    return np.stack([np.ones(len(length)), length, rows.difficulty], axis=1)


def _change(free: Sequence[Estimate], error: Floats) -> Estimate:
    """The change of the free fit, with limits from those of the two rates (Zou and Donner 2008, section 3), which are
    correlated as their jackknife errors say: so they stay inside what rates can differ by, and cover where length
    decides nearly all."""
    one, other, change = free
    reason = change.undefined or one.undefined or other.undefined
    limits = [
        number for each in (one, other) for number in (each.value, each.low, each.high) if number is not None
    ]
    if reason or len(limits) < 6:
        return replace(change, low=None, high=None, method="", undefined=reason or ALL_ALIKE)
    value_1, low_1, high_1, value_2, low_2, high_2 = limits
    product = 2 * float(error[0] * error[1])
    likeness = (
        float(np.clip((error[0] ** 2 + error[1] ** 2 - error[2] ** 2) / product, -1, 1)) if product else 0.0
    )

    def reach(a: float, b: float) -> float:
        return float(np.sqrt(max(a * a + b * b - 2 * likeness * a * b, 0.0)))

    gap = value_1 - value_2
    low = max(gap - reach(value_1 - low_1, high_2 - value_2), -1.0)
    high = min(gap + reach(high_1 - value_1, value_2 - low_2), 1.0)
    return replace(change, low=low, high=high, method="from the limits of both rates")


def _other_way(preference: Floats, query: Ints) -> int:
    """The number of queries with a preference on the less common side of one half, or at it."""
    against, for_it = preference <= 0.5, preference >= 0.5
    return min(len(np.unique(query[against])), len(np.unique(query[for_it])))


def _without_interval(estimate: Estimate, reason: str) -> Estimate:
    return replace(estimate, low=None, high=None, method="", undefined=reason)


def _around(free: Estimate, value: float) -> Estimate:
    """The value with the interval of the free fit, stretched to hold it."""
    if free.low is None or free.high is None:
        return replace(free, value=value)
    return replace(free, value=value, low=min(free.low, value), high=max(free.high, value))


def _left_out_queries(
    coefficients: Floats, fitted: _Fitted, at_zero: Floats, rows: LengthRows, known: Bools
) -> Jackknife:
    """Rate, plain rate and their difference, and their standard errors over the queries of the rows."""
    import scipy

    wanted = scipy.special.expit(at_zero @ coefficients)
    queries, query = np.unique(rows.query, return_inverse=True)
    groups = len(queries)
    design, of_query = fitted.design, np.searchsorted(queries, fitted.query)
    chance = scipy.special.expit(design @ coefficients)
    pull = sum_by(of_query, (fitted.weight * (fitted.preference - chance))[:, None] * design, groups)
    weight = fitted.weight * chance * (1 - chance)
    curve = np.stack(
        [sum_by(of_query, weight[:, None] * design * column[:, None], groups) for column in design.T], axis=1
    )
    steps = _newton_steps(curve, pull)
    slope = (wanted * (1 - wanted)) @ at_zero
    own_slope = sum_by(query, (wanted * (1 - wanted))[:, None] * at_zero, groups)
    own, own_n = sum_by(query, wanted, groups), np.bincount(query, minlength=groups)
    total = wanted.sum() - own + ((slope - own_slope) * steps).sum(axis=1)
    rate_without = np.clip(total / (len(wanted) - own_n), 0.0, 1.0)
    judged = sum_by(query, known.astype(np.float64), groups)
    preferred = sum_by(query, np.where(known, rows.preference, 0.0), groups)
    plain_without = (preferred.sum() - preferred) / (judged.sum() - judged)
    rate, plain = float(wanted.mean()), float(preferred.sum() / judged.sum())
    value = np.array([rate, plain, rate - plain])
    without = np.stack([rate_without, plain_without, rate_without - plain_without], axis=1)
    return Jackknife(value, error_of(without - value), groups, groups)


def _newton_steps(curve: Floats, pull: Floats) -> Floats:
    """Changes (q, k) of the coefficients without one query each, from curvatures (q, k, k) and gradients (q, k)."""
    left = curve.sum(axis=0) - curve + 1e-9 * np.eye(curve.shape[-1])
    return np.asarray(-np.linalg.solve(left, pull[:, :, None])[:, :, 0])

"""Percentage agreement among raters, and its difference between two arms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, ParameterError, present, undefined
from analytics.statistics.core.narrow import column_sums, row_sums
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate
from analytics.statistics.core.tidy import MISSING, TIE, Bools, Floats, Ints, split

FEW_JUDGMENTS = "items with fewer than two judgments"
# Of more judgments the most common label has hardly more than its chance.
MOST_DRAWN = 100
FEW_UNTIED = "items with fewer than two judgments that are no tie"
TIED_ITEMS = "items whose most common label is a tie"
ALL_TIED = "The most common label of every item with two or more ratings is a tie."
ONE_ARM_ONLY = "queries and pairs without such an item in the other setting"


@dataclass(frozen=True)
class Agreement:
    """Percentage agreement over all items, and without those whose unique most common label is a tie."""

    with_ties: Estimate
    without_ties: Estimate


@dataclass(frozen=True)
class AgreementDifference:
    """Agreement in the second arm less that in the first, and its paired t-test; and the same of `of_two`, how often
    two raters of an item agree, with its sign-flip test `test`.

    The most common label has the smaller a share of an item's judgments the more these are, whatever raters think: only
    the agreement of two tells settings apart that had different numbers of raters. `statistic` and `p_value` are the
    t-test's, None where it is undefined; `test_undefined` then says why. `test` is None where the arms share no query.
    """

    difference: Estimate
    statistic: float | None
    degrees_of_freedom: int | None
    p_value: float | None
    test_undefined: str = ""
    of_two: Estimate | None = None
    test: Tested | None = None


def majority(counts: Ints) -> Ints:
    """The label that more than half of an item's judgments give, or MISSING; counts (n, k), result (n,)."""
    narrow = np.int8 if counts.shape[1] <= np.iinfo(np.int8).max else np.int32
    if not counts.shape[1]:
        return np.full(len(counts), MISSING, dtype=narrow)
    top = counts.argmax(axis=1)
    most = counts[np.arange(len(counts)), top]
    return np.where(2 * most > row_sums(counts), top, MISSING).astype(narrow)


def item_agreement(counts: Ints) -> Floats:
    """Share of each item's judgments equal to its most common label; nan with fewer than two judgments."""
    judged = row_sums(counts)
    shares = np.full(len(counts), np.nan)
    np.divide(counts.max(axis=1, initial=0), judged, out=shares, where=judged >= 2)
    return shares


def agreement_of_two(counts: Ints) -> Floats:
    """The chance that two different judgments of an item give the same label, from counts (n, k); nan with fewer than
    two. It does not depend on how many there are (MT-Bench, section 4.2)."""
    counts = counts.astype(np.int64)
    n = row_sums(counts)
    return divide((counts * (counts - 1)).sum(axis=1).astype(np.float64), (n * (n - 1)).astype(np.float64))


@dataclass(frozen=True)
class ByChance:
    """The agreement that chance gives: with ties, without them (None where a tie is always the most common label), and
    of one judgment with the others of its item."""

    with_ties: float
    without_ties: float | None
    leave_one_out: float


def chance_agreement(counts: Ints) -> ByChance | None:
    """Agreement of counts (n, k) of the labels, had every judgment been drawn from the labels of all items together.

    Those from TIE on are ties. Exact, over all that could be drawn. None without an item of two judgments. Ours.
    """
    found = mean_by_chance(counts, _by_chance)
    if found is None:
        return None
    share, untied, untied_share, predicted = found
    return ByChance(share, untied_share / untied if untied > 0 else None, predicted)


def mean_by_chance(counts: Ints, expected: Callable[[Floats, int], Sequence[float]]) -> list[float] | None:
    """The mean over items (n, k) of what is `expected` of as many labels as an item has, by the chances (k,) of each.

    These are the shares of the labels of all items together. Items with fewer than two judgments are left out; of more
    than `MOST_DRAWN` it is as of so many. None without an item of two judgments. Ours.
    """
    judged = row_sums(counts)
    used = judged >= 2
    if not used.any():
        return None
    sizes, times = np.unique(np.minimum(judged[used], MOST_DRAWN), return_counts=True)
    total = column_sums(counts[used])
    found = [expected(total / total.sum(), int(size)) for size in sizes]
    return [float(each) for each in np.average(found, axis=0, weights=times)]


def two_by_chance(one: Ints | Floats, other: Ints | Floats) -> float | None:
    """The chance that labels drawn from all of `one` (n, k) and all of `other` (m, k) are the same, whatever the item.

    None where either is empty. The agreement by chance of Cohen (1960).
    """
    first, second = column_sums(one).astype(np.float64), column_sums(other).astype(np.float64)
    pairs = first.sum() * second.sum()
    return float(first @ second / pairs) if pairs else None


def _by_chance(chances: Floats, n: int) -> tuple[float, float, float, float]:
    """Of `n` labels drawn by their `chances` (k,): the expected share of the most common one; the chance that this is
    not a tie alone, and the expected share times that; and how often the others' most common label is that of one.
    """
    drawn, chance = _all_drawn(chances, n)
    share = drawn.max(axis=1) / n
    untied = ~is_tied(drawn, TIE)
    others, chance_of_others = _all_drawn(chances, n - 1)
    most = others == others.max(axis=1, keepdims=True)
    predicted = (most @ chances) / most.sum(axis=1)
    return (
        float(chance @ share),
        float(chance @ untied),
        float(chance @ (share * untied)),
        float(chance_of_others @ predicted),
    )


def _all_drawn(chances: Floats, n: int) -> tuple[Ints, Floats]:
    """All counts (m, k) of `n` labels, and the chance (m,) of each."""
    import scipy

    k = len(chances)
    of_most = np.indices((n + 1,) * (k - 1)).reshape(k - 1, -1)
    last = n - of_most.sum(axis=0)
    drawn = np.stack([*of_most, last], axis=1)[last >= 0]
    log = scipy.special.gammaln(n + 1) - scipy.special.gammaln(drawn + 1).sum(axis=1)
    return drawn, np.exp(log + scipy.special.xlogy(drawn, chances).sum(axis=1))


def is_tied(counts: Ints, tie: int) -> Bools:
    """True where an item's most common labels are ties, which those from `tie` on are; counts (n, k), result (n,)."""
    return np.asarray(counts[:, tie:].max(axis=1) > counts[:, :tie].max(axis=1, initial=0))


def agreement(counts: Ints, query: Ints, *, resample: ResampleSpec, tie: int | None = TIE) -> Agreement:
    """Percentage agreement (ContextEval, section 5, footnote 3) of counts (n, k) on items of `query` (n,).

    An item's agreement is the share of its judgments equal to its most common label; the figure is the
    mean over items, the interval is over queries. Without ties, an item whose unique most
    common label is `tie` is left out, while one without a unique label stays: three different labels are
    a third. Labels after `tie` are ties as well: an item whose most common labels are all ties is left out. Items with
    fewer than two judgments are left out of both. `tie` is None for labels without one.
    """
    shares = item_agreement(counts)
    usable = np.isfinite(shares)
    few = int(np.count_nonzero(~usable))
    with_ties = _mean_agreement(shares, query, usable, {FEW_JUDGMENTS: few}, resample)
    if tie is None:
        reason = "The labels of this question have no tie."
        return Agreement(with_ties, undefined(reason, level=resample.level))
    tied = usable & is_tied(counts, tie)
    parts = {FEW_JUDGMENTS: few, TIED_ITEMS: int(np.count_nonzero(tied))}
    return Agreement(with_ties, _mean_agreement(shares, query, usable & ~tied, parts, resample))


def agreement_by_group(
    counts: Ints, query: Ints, groups: Ints, n_groups: int, *, resample: ResampleSpec, tie: int | None = TIE
) -> tuple[Agreement, ...]:
    """`agreement` for each code of `groups` (n,), 0 to n_groups - 1; a negative code is in no group."""
    return tuple(
        agreement(counts[index], query[index], resample=resample, tie=tie)
        for index in split(groups, n_groups)
    )


def agreement_difference(
    counts: Ints,
    query: Ints,
    pair: Ints,
    arm: Ints,
    *,
    first: int,
    second: int,
    tests: Randomization,
    ties: bool = True,
    tie: int = TIE,
    level: float = 0.95,
) -> AgreementDifference:
    """Difference in percentage agreement between arm `second` and arm `first` (ContextEval, Table 4).

    Items are matched by query and pair, several of one match averaged; matches found in one arm only are left out. The
    interval is that of the two-sided paired t-test. The sign-flip test flips queries, with all of their pairs, and is
    of the agreement of two. `ties=False` leaves out items that are tied (see `agreement`) before matching, and
    of two judgments those of which one is a tie. Raises ParameterError where both arms are the same.
    """
    if first == second:
        raise ParameterError("Two different arms are needed for a difference.")
    match = query.astype(np.int64) * (int(pair.max(initial=0)) + 1) + pair
    arms = (arm == first, arm == second)
    shares = item_agreement(counts)
    untied = np.ones(len(counts), dtype=bool) if ties else ~is_tied(counts, tie)
    left_out = FEW_JUDGMENTS if ties else f"{FEW_JUDGMENTS}, and {TIED_ITEMS}"
    _, one, other, parts = _matched(np.where(untied, shares, np.nan), match, arms, left_out)
    found = _paired_test(one, other, parts, level)
    shares = agreement_of_two(counts if ties else counts[:, :tie])
    shared, one, other, parts = _matched(shares, match, arms, FEW_JUDGMENTS if ties else FEW_UNTIED)
    if not len(shared):
        return found
    query_of = shared // (int(pair.max(initial=0)) + 1)
    test = sign_flip(other - one, query_of, tests.of(first, second)).two_sided
    return replace(found, of_two=_paired_test(one, other, parts, level).difference, test=test)


def _matched(
    shares: Floats, match: Ints, arms: tuple[Bools, Bools], left_out: str
) -> tuple[Ints, Floats, Floats, tuple[LeftOut, ...]]:
    """The matches (m,) that both arms have, the mean share of each in either (m,), and the items that are in none."""
    usable = np.isfinite(shares)
    one, other = (_mean_by_match(shares, match, usable & of_arm) for of_arm in arms)
    shared, at_one, at_other = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    parts = {
        left_out: int(np.count_nonzero(~usable & (arms[0] | arms[1]))),
        ONE_ARM_ONLY: len(one[0]) + len(other[0]) - 2 * len(shared),
    }
    return shared, one[1][at_one], other[1][at_other], present(parts)


def _mean_agreement(
    shares: Floats, query: Ints, used: Bools, parts: dict[str, int], resample: ResampleSpec
) -> Estimate:
    return mean_estimate(
        shares[used],
        query[used],
        unit="items",
        resample=resample,
        left_out=present(parts),
        empty=ALL_TIED if parts.get(TIED_ITEMS) else "No item has two or more ratings yet.",
        share=True,
    )


def _mean_by_match(shares: Floats, match: Ints, used: Bools) -> tuple[Ints, Floats]:
    """The matches that occur among the used items, ascending, and the mean agreement of each."""
    values, inverse, sizes = np.unique(match[used], return_inverse=True, return_counts=True)
    return values, np.bincount(inverse, weights=shares[used], minlength=len(values)) / np.maximum(sizes, 1)


def _paired_test(one: Floats, other: Floats, parts: tuple[LeftOut, ...], level: float) -> AgreementDifference:
    import scipy

    n = len(one)
    if n == 0:
        reason = "The two settings share no query and pair."
        nothing = undefined(reason, unit="query-pair matches", level=level, left_out=parts)
        return AgreementDifference(nothing, None, None, None, reason)
    differences = other - one
    mean = float(differences.mean())
    if n < 2 or np.ptp(differences) < 1e-12:  # equal shares may differ in their last bit
        reason = (
            "A paired test needs at least two shared queries."
            if n < 2
            else "The difference is the same on every shared query, so it has no variance to test against."
        )
        flat = Estimate(mean, None, None, n, "query-pair matches", level, "", parts, reason)
        return AgreementDifference(flat, None, None, None, reason)
    result = scipy.stats.ttest_rel(other, one)
    low, high = result.confidence_interval(level)
    estimate = Estimate(mean, float(low), float(high), n, "query-pair matches", level, "paired t-test", parts)
    return AgreementDifference(estimate, float(result.statistic), n - 1, float(result.pvalue))

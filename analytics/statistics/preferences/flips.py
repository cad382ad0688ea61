"""Flips between two arms: of the system that a pair's majorities prefer, and of single queries."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.agreement.percentage import majority
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate, ParameterError, present, undefined
from analytics.statistics.core.jackknife import leave_out
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip, two_sample
from analytics.statistics.core.resampling import (
    ResampleSpec,
    divide,
    estimate_from,
    mean_estimate,
    sum_by,
    sums_by_query,
)
from analytics.statistics.core.tidy import (
    FIRST,
    MISSING,
    N_LABELS,
    SECOND,
    Bools,
    Floats,
    Ints,
    ItemCell,
    Items,
    Judgments,
    check_items,
)
from analytics.statistics.preferences.win_rates import NO_MAJORITY, preferred_system

ONE_ARM_ONLY = "queries judged in only one of the two settings"
UNDECIDED = "queries without a majority in one of the two settings"


@dataclass(frozen=True)
class PairFlip:
    """A comparison of the system preferred by majority vote between two arms.

    `flipped` is true where both arms prefer a system and not the same one; where win rates are equal none
    is preferred. `difference` is the margin (share for system 1 less share for system 2) in the second arm
    less that in the first, over queries left out in both arms at once. `p_value` is that of `margin_test`, which
    asks whether the margin changes; `flip_test` asks whether one system is preferred in the first arm and the other
    in the second. Both are None where an arm has no item with a majority.
    """

    system_1: str
    system_2: str
    first_arm: str
    second_arm: str
    first_preferred: str | None
    second_preferred: str | None
    flipped: bool
    difference: Estimate
    p_value: float | None
    flip_test: Tested | None
    margin_test: Tested | None


@dataclass(frozen=True)
class QueryFlips:
    """Number of queries of a pair that have another majority label in the second arm than in the first.

    `transitions[a][b]` counts queries whose majority is label a in the first arm and b in the second, the
    labels being system 1, system 2 and tie. The Stuart-Maxwell test asks whether the two arms' totals of
    the labels are the same; where it is undefined, `test_undefined` says why.
    """

    system_1: str
    system_2: str
    first_arm: str
    second_arm: str
    flipped: Estimate
    transitions: tuple[tuple[int, ...], ...]
    statistic: float | None
    degrees_of_freedom: int | None
    p_value: float | None
    test_undefined: str = ""


def pair_flips(
    items: Items,
    judgments: Judgments,
    *,
    first: str,
    second: str,
    resample: ResampleSpec,
    tests: Randomization,
) -> tuple[PairFlip, ...]:
    """Pair flips from arm `first` to arm `second`, for every pair (ContextEval, section 5 and Table 6).

    Win rates are those by majority vote. A query that is in one arm only counts with what it has. Raises ParameterError
    where both arms are the same.
    """
    arms = _arm_codes(items, first, second)
    label = majority(_counts(items, judgments))
    flips = []
    for cell, index in items.cells(("pair",)):
        in_arms = [index[items.arm[index] == arm] for arm in arms]
        flips.append(_pair_flip(cell, (first, second), in_arms, label, items.query, resample, tests))
    return tuple(flips)


def query_flips(
    items: Items, judgments: Judgments, *, first: str, second: str, resample: ResampleSpec
) -> tuple[QueryFlips, ...]:
    """Query flips from arm `first` to arm `second`, for every pair.

    Only queries with a majority in both arms enter; where an arm has several items of a query and pair, their judgments
    are pooled. The share of flips has an interval over queries; the transition table is tested with the Stuart-Maxwell
    test of marginal homogeneity (Stuart 1955, Maxwell 1970). Raises ParameterError where both arms are the same.
    """
    arms = _arm_codes(items, first, second)
    counts = _counts(items, judgments)
    flips = []
    for cell, index in items.cells(("pair",)):
        in_arms = [index[items.arm[index] == arm] for arm in arms]
        pooled = [sum_by(items.query[rows], counts[rows], len(items.queries)) for rows in in_arms]
        asked = [np.bincount(items.query[rows], minlength=len(items.queries)) > 0 for rows in in_arms]
        flips.append(_query_flips(cell, (first, second), pooled, asked, resample))
    return tuple(flips)


def stuart_maxwell(transitions: Ints) -> tuple[float, int, float] | str:
    """Statistic, degrees of freedom and p-value of a square table (k, k), or why there is none.

    Labels that occur in neither arm are dropped: they add nothing, and would make the test singular.
    """
    used = (transitions.sum(axis=0) + transitions.sum(axis=1)) > 0
    table = transitions[np.ix_(used, used)].astype(np.float64)
    if len(table) < 2:
        return "The test needs at least two labels."
    shift = (table.sum(axis=1) - table.sum(axis=0))[:-1]
    covariance = -(table + table.T)
    np.fill_diagonal(covariance, table.sum(axis=0) + table.sum(axis=1) - 2 * np.diag(table))
    if np.linalg.matrix_rank(covariance[:-1, :-1]) < len(shift):
        return "Too few queries change their label to compute the test."
    from statsmodels.stats.contingency_tables import SquareTable

    result = SquareTable(table, shift_zeros=False).homogeneity(method="stuart_maxwell")
    return float(result.statistic), int(result.df), float(result.pvalue)


def _arm_codes(items: Items, first: str, second: str) -> tuple[int, int]:
    if first == second:
        raise ParameterError("Two different arms are needed for a flip.")
    return items.arm_code(first), items.arm_code(second)


def _counts(items: Items, judgments: Judgments) -> Ints:
    check_items(items, judgments)
    return count_matrix(judgments.item, judgments.label, len(items), N_LABELS)


def _margin_change(sums: Floats) -> Floats:
    """Change of the margin (r, 1), from sums (r, 6) of won 1, won 2, decided in either arm."""
    before = divide(sums[:, 0] - sums[:, 1], sums[:, 2])
    after = divide(sums[:, 3] - sums[:, 4], sums[:, 5])
    return (after - before)[:, None]


def _pair_flip(
    cell: ItemCell,
    arms: tuple[str, str],
    rows: list[Ints],
    label: Ints,
    query: Ints,
    resample: ResampleSpec,
    tests: Randomization,
) -> PairFlip:
    columns = []
    for position, index in enumerate(rows):
        won = label[index]
        block = np.zeros((len(index), 6))
        block[:, 3 * position : 3 * position + 3] = np.stack(
            [won == FIRST, won == SECOND, won != MISSING], axis=1
        )
        columns.append(block[won != MISSING])
    decided = [index[label[index] != MISSING] for index in rows]
    preferred = [preferred_system(cell, label[index]) for index in decided]
    dropped = sum(map(len, rows)) - sum(map(len, decided))
    difference = _change(np.concatenate(columns), query[np.concatenate(decided)], dropped, resample)
    flip_test = margin_test = None
    if difference.value is not None:
        votes = [
            ((label[index] == FIRST) * 1.0 - (label[index] == SECOND), query[index]) for index in decided
        ]
        of_cell = tests.of(cell.system_1, cell.system_2, *arms)
        flip_test = _flip_test(votes, of_cell)
        margin_test = _margin_test(votes, difference.value, of_cell)
    return PairFlip(
        system_1=str(cell.system_1),
        system_2=str(cell.system_2),
        first_arm=arms[0],
        second_arm=arms[1],
        first_preferred=preferred[0],
        second_preferred=preferred[1],
        flipped=None not in preferred and preferred[0] != preferred[1],
        difference=difference,
        p_value=margin_test.p_value if margin_test else None,
        flip_test=flip_test,
        margin_test=margin_test,
    )


def _flip_test(votes: list[tuple[Floats, Ints]], tests: Randomization) -> Tested:
    """Both arms prefer a system, and not the same one: the larger of their one-sided p-values, or twice that.

    Each preference must hold by itself (an intersection-union test). Either system may be the first arm's: twice, where
    what moves a query to one system in one arm may move it to the other system in the other, so that chance can make
    preferences in both at once. Votes are 1 for system 1, -1 for system 2 and 0 for a tie, with their queries.
    """
    before, after = (sign_flip(vote, query, tests) for vote, query in votes)
    times = 2 if _may_move_apart(votes) else 1
    p = min(max(before.one_sided(side), after.one_sided(-side)) for side in (1, -1))
    least = max(before.least, after.least)
    method = f"two tests: {before.method}; {after.method}"
    return Tested(min(1.0, times * p), min(before.n, after.n), method, min(1.0, times * least))


def _may_move_apart(votes: list[tuple[Floats, Ints]]) -> bool:
    """True where queries that both arms have lean apart in them, or don't vary, which says nothing of how they lean.

    Otherwise two preferences by chance alone are rarer than one, whichever of the systems either is for.
    """
    (shared, before), (_, after) = _shared_means(votes)
    if len(shared) < 2:
        return False
    spread = [means - means.mean() for means in (before, after)]
    return bool(spread[0] @ spread[1] < 0 or not all(each.any() for each in spread))


def _margin_test(votes: list[tuple[Floats, Ints]], change: float, tests: Randomization) -> Tested:
    """Test the difference of queries' mean votes between the arms.

    Paired where the arms share at least half of the queries that the smaller has; otherwise queries are as good as
    other ones.
    """
    (_, before), (_, after) = (_query_means(vote, query) for vote, query in votes)
    (shared, shared_before), (_, shared_after) = _shared_means(votes)
    if 2 * len(shared) >= min(len(before), len(after)):
        differences = shared_after - shared_before
        found, gap = sign_flip(differences, shared, tests).two_sided, float(differences.sum())
    else:
        found, gap = two_sample(before, after, tests), float(after.mean() - before.mean())
    # Where queries have different numbers of items, their mean may point elsewhere than that of the items.
    return found if gap * change > 0 else replace(found, p_value=1.0)


def _shared_means(votes: list[tuple[Floats, Ints]]) -> list[tuple[Ints, Floats]]:
    """The queries that both arms have, and the mean vote of each, by arm."""
    (queries_1, before), (queries_2, after) = (_query_means(vote, query) for vote, query in votes)
    shared, at_1, at_2 = np.intersect1d(queries_1, queries_2, assume_unique=True, return_indices=True)
    return [(shared, before[at_1]), (shared, after[at_2])]


def _query_means(values: Floats, query: Ints) -> tuple[Ints, Floats]:
    queries, code, sizes = np.unique(query, return_inverse=True, return_counts=True)
    return queries, sum_by(code, values, len(queries)) / sizes


def _change(columns: Floats, query: Ints, dropped: int, resample: ResampleSpec) -> Estimate:
    vectors = sums_by_query(columns, query)
    found = leave_out(vectors, _margin_change)
    change = float(found.value[0])
    n, left_out = len(vectors), present({NO_MAJORITY: dropped})
    if not np.isfinite(change):
        reason = "One of the two settings has no item with a majority."
        return undefined(reason, n=n, unit="queries", level=resample.level, left_out=left_out)
    return estimate_from(
        change, found.error[0], found, n=n, unit="queries", level=resample.level, left_out=left_out
    )


def _query_flips(
    cell: ItemCell, arms: tuple[str, str], pooled: list[Floats], asked: list[Bools], resample: ResampleSpec
) -> QueryFlips:
    label = [majority(counts.astype(np.int64)) for counts in pooled]
    in_both = asked[0] & asked[1]
    decided = in_both & (label[0] != MISSING) & (label[1] != MISSING)
    before, after = label[0][decided], label[1][decided]
    flat = np.bincount(before.astype(np.int64) * N_LABELS + after, minlength=N_LABELS**2)
    transitions = flat.reshape(N_LABELS, N_LABELS)
    parts = {
        ONE_ARM_ONLY: int(np.count_nonzero(asked[0] ^ asked[1])),
        UNDECIDED: int(np.count_nonzero(in_both & ~decided)),
    }
    flipped = mean_estimate(
        (before != after).astype(np.float64),
        np.flatnonzero(decided),
        unit="queries",
        resample=resample,
        left_out=present(parts),
        empty="No query has a majority in both settings.",
        share=True,
    )
    test = stuart_maxwell(transitions)
    statistic, degrees, p_value = (None, None, None) if isinstance(test, str) else test
    return QueryFlips(
        system_1=str(cell.system_1),
        system_2=str(cell.system_2),
        first_arm=arms[0],
        second_arm=arms[1],
        flipped=flipped,
        transitions=tuple(tuple(int(n) for n in row) for row in transitions),
        statistic=statistic,
        degrees_of_freedom=degrees,
        p_value=p_value,
        test_undefined=test if isinstance(test, str) else "",
    )

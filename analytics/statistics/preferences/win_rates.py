"""Win rates: by majority vote, and expected win rates against one opponent, a baseline or all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from analytics.statistics.agreement.percentage import majority
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.effect_sizes import share_effect
from analytics.statistics.core.estimates import Estimate, ParameterError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate, query_estimates, shares_of_last
from analytics.statistics.core.tidy import (
    FIRST,
    MISSING,
    N_LABELS,
    SECOND,
    TIE,
    Bools,
    Floats,
    Ints,
    ItemCell,
    Items,
    Judgments,
    check_items,
)

Ties: TypeAlias = Literal["half", "win"]
NO_MAJORITY = "items without a majority"
NO_USABLE_JUDGMENT = "items without a usable judgment"
UNUSABLE_JUDGMENTS = "judgments without a label, on items that have others"


@dataclass(frozen=True)
class MajorityWinRates:
    """Shares of a cell's items whose majority prefers system 1, system 2 or neither; they add up to one.

    `preferred` is the system with the larger share, None where the two are equal.
    """

    cell: ItemCell
    system_1: Estimate
    system_2: Estimate
    tie: Estimate
    preferred: str | None


@dataclass(frozen=True)
class WinRate:
    """Expected win rate of a system against `opponent` (None: all its opponents together).

    `standard_error` is the items' standard deviation over the root of their number, None below two items. `test` is
    of a rate of one half, where it was asked for, and `effect` Cohen's h beside one half.
    """

    arm: str | None
    category: str | None
    system: str
    opponent: str | None
    ties: Ties
    rate: Estimate
    standard_error: float | None
    effect: Estimate | None = None
    test: Tested | None = None


def majority_win_rates(
    items: Items, judgments: Judgments, *, resample: ResampleSpec, by: Sequence[str] = ("arm", "pair")
) -> tuple[MajorityWinRates, ...]:
    """Win rates by majority vote for each cell of `by`, which must include "pair" (ContextEval, Table 6).

    A majority is more than half of an item's judgments, and a tie can win it. Items without a majority are left out;
    the intervals are over queries. Raises ParameterError where `by` does not include it.
    """
    if "pair" not in by:
        raise ParameterError("Win rates by majority vote are those of a pair of systems.")
    check_items(items, judgments)
    label = majority(count_matrix(judgments.item, judgments.label, len(items), N_LABELS))
    return tuple(
        _majority_of_cell(cell, label[index], items.query[index], resample) for cell, index in items.cells(by)
    )


def expected_win_rates(
    items: Items,
    judgments: Judgments,
    *,
    resample: ResampleSpec,
    by: Sequence[str] = ("arm", "pair"),
    ties: Ties = "half",
) -> tuple[WinRate, ...]:
    """Expected win rate of either system of each cell of `by`, which must include "pair" (HREF, section 4.2).

    The rate is the mean over items of the mean over each item's judgments, so an item counts once however often it was
    judged. A judgment scores 1 for the preferred system, 0 for the other, and for a tie one half (`ties="half"`) or one
    win for the system looked at (`ties="win"`). Where a judgment has a number (a probability), the score is that number
    and its label is not used. Judgments with neither, such as unparsed ones, are left out, and so are items that have
    no other. Raises ParameterError where `by` does not include "pair".
    """
    if "pair" not in by:
        raise ParameterError("To pool over opponents, ask for the rates against a baseline or overall.")
    scores = _ItemScores(items, judgments, ties)
    rates = []
    for cell, index in items.cells(by):
        one, two = items.pairs[items.pair[index[0]]]
        for side, system, opponent in ((FIRST, one, two), (SECOND, two, one)):
            rates.append(scores.rate(cell, system, opponent, index, np.full(len(index), side), resample))
    return tuple(rates)


def win_rates_against(
    items: Items,
    judgments: Judgments,
    baseline: str,
    *,
    resample: ResampleSpec,
    by: Sequence[str] = ("arm",),
    ties: Ties = "half",
) -> tuple[WinRate, ...]:
    """Expected win rate of every system against `baseline`, for each cell of `by` ("arm", "category").

    Scores are those of `expected_win_rates`. Raises UnknownNameError where no item has the baseline.
    """
    base = items.system_code(baseline)
    scores = _ItemScores(items, judgments, ties)
    return tuple(
        scores.rate(cell, items.systems[system], baseline, index, side, resample)
        for cell, system, index, side in rows_by_system(items, by, opponent=base)
    )


def win_rates_overall(
    items: Items,
    judgments: Judgments,
    *,
    resample: ResampleSpec,
    by: Sequence[str] = ("arm",),
    ties: Ties = "half",
    tests: Randomization | None = None,
) -> tuple[WinRate, ...]:
    """Expected win rate of every system over all its items, whoever the opponent, for each cell of `by`.

    Scores are those of `expected_win_rates`; opponents weigh as much as they have items. With `tests`, each rate is
    tested against one half by flipping the signs of queries; where ties are wins there is no such rate to test. Raises
    ParameterError for tests of rates whose ties are wins.
    """
    if tests is not None and ties == "win":
        raise ParameterError("Where ties are wins, both systems may win more often than not.")
    scores = _ItemScores(items, judgments, ties)
    return tuple(
        scores.rate(cell, items.systems[system], None, index, side, resample, tests)
        for cell, system, index, side in rows_by_system(items, by)
    )


def item_scores(judgments: Judgments, n_items: int, ties: Ties = "half") -> Floats:
    """Mean score of each item's two responses over its usable judgments, shape (n_items, 2), else nan.

    Raises ParameterError where ties count as something else.
    """
    if ties not in ("half", "win"):
        raise ParameterError("A tie counts as half a win or as a win.")
    tie = 0.5 if ties == "half" else 1.0
    # A missing label is -1 and so reads the last entry.
    by_label = np.array([[1.0, 0.0], [0.0, 1.0], [tie, tie], [np.nan, np.nan]])
    usable = is_usable(judgments)
    judged = np.bincount(judgments.item[usable], minlength=n_items)
    sides = []
    for side, number in ((FIRST, 1 - judgments.number), (SECOND, judgments.number)):
        score = np.where(np.isfinite(number), number, by_label[judgments.label, side])
        total = np.bincount(judgments.item[usable], weights=score[usable], minlength=n_items)
        mean = np.full(n_items, np.nan)
        sides.append(np.divide(total, judged, out=mean, where=judged > 0))
    return np.stack(sides, axis=1)


def is_usable(judgments: Judgments) -> Bools:
    """True for each judgment (n,) that says which response is better: by a label or by a probability."""
    return np.asarray(np.isfinite(judgments.number) | (judgments.label != MISSING))


class _ItemScores:
    """The items' scores, computed once, from which the rates of many cells are averaged."""

    def __init__(self, items: Items, judgments: Judgments, ties: Ties) -> None:
        check_items(items, judgments)
        self.ties = ties
        self.query = items.query
        self.scores = item_scores(judgments, len(items), ties)
        self.unusable = np.bincount(judgments.item[~is_usable(judgments)], minlength=len(items))

    def rate(
        self,
        cell: ItemCell,
        system: str,
        opponent: str | None,
        index: Ints,
        side: Ints,
        resample: ResampleSpec,
        tests: Randomization | None = None,
    ) -> WinRate:
        """The rate of `system`, which is on `side` (m,) of the items at `index` (m,)."""
        scores = self.scores[index, side]
        used = np.isfinite(scores)
        parts = {
            NO_USABLE_JUDGMENT: int(np.count_nonzero(~used)),
            UNUSABLE_JUDGMENTS: int(self.unusable[index[used]].sum()),
        }
        rate = mean_estimate(
            scores[used],
            self.query[index[used]],
            unit="items",
            resample=resample,
            left_out=present(parts),
            empty="No item has a usable judgment.",
            share=True,
        )
        error = float(scores[used].std(ddof=1) / np.sqrt(rate.n)) if rate.n > 1 else None
        test = None
        if tests is not None and rate.n:
            of_cell = tests.of(cell.arm, cell.category, system)
            test = sign_flip(scores[used] - 0.5, self.query[index[used]], of_cell).two_sided
        effect = None if tests is None else share_effect(rate)
        return WinRate(cell.arm, cell.category, system, opponent, self.ties, rate, error, effect, test)


def rows_by_system(
    items: Items, by: Sequence[str], opponent: int | None = None
) -> Iterator[tuple[ItemCell, int, Ints, Ints]]:
    """The system (code) of each cell of `by`, with the rows of its items, against `opponent` (code) if that is given,
    and its side in each of them.

    Raises ParameterError for cells of a pair.
    """
    if "pair" in by:
        raise ParameterError("These rates can be divided by arm and category only.")
    for cell, index in items.cells(by):
        first, second = items.system_1[index], items.system_2[index]
        for system in np.union1d(first, second):
            # A system compared with itself says nothing about its rate.
            is_first = (first == system) & (second != system)
            is_second = (second == system) & (first != system)
            if opponent is not None:
                is_first &= second == opponent
                is_second &= first == opponent
            rows = np.flatnonzero(is_first | is_second)
            if len(rows):
                yield cell, int(system), index[rows], np.where(is_first[rows], FIRST, SECOND)


def _majority_of_cell(cell: ItemCell, label: Ints, query: Ints, resample: ResampleSpec) -> MajorityWinRates:
    decided = label != MISSING
    won = label[decided]
    columns = np.stack([won == FIRST, won == SECOND, won == TIE, np.ones(len(won))], axis=1).astype(float)
    first, second, tie = query_estimates(
        columns,
        query[decided],
        shares_of_last,
        n=len(won),
        unit="items",
        resample=resample,
        left_out=present({NO_MAJORITY: int(np.count_nonzero(~decided))}),
        empty="No item has a majority.",
        scales=["share"] * 3,
    )
    return MajorityWinRates(cell, first, second, tie, preferred_system(cell, won))


def preferred_system(cell: ItemCell, label: Ints) -> str | None:
    """The system that more of the majority labels (m,) prefer, None where they are even."""
    margin = int(np.count_nonzero(label == FIRST)) - int(np.count_nonzero(label == SECOND))
    if margin == 0:
        return None
    return cell.system_1 if margin > 0 else cell.system_2

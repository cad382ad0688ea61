"""Shares with chosen values in the denominator: over all answers, and per item and then averaged.

Such as the precision of a response's facts, of which those that are irrelevant count nowhere: the share of correct
ones among the relevant ones, over all facts (micro) or averaged over responses (macro; Manning, Raghavan and Schütze,
"Introduction to Information Retrieval", 2008, section 13.6, tells the two averages apart).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate, sum_by
from analytics.statistics.core.tidy import Bools, Floats, Ints, _Rows

UNANSWERED = "answers of the denominator by raters who did not answer the question that is counted"
NO_DENOMINATOR = "items without an answer in the denominator"
EMPTY = "No answer is in the denominator."


@dataclass(frozen=True, eq=False)
class ChosenAnswers(_Rows):
    """Answers to the question of the denominator, arrays of shape (n,), a row for each rater's answer about each part.

    `item` and `query` are codes. `among` is true where the answer is in the denominator; `counted` is 1 where the same
    rater's answer to the other question, about the same part, has one of the values that count, 0 where it has another,
    nan where there is none.

    Raises TidyDataError where the shapes differ or `counted` is another number.
    """

    item: Ints
    query: Ints
    among: Bools
    counted: Floats

    def __post_init__(self) -> None:
        if not self.item.shape == self.query.shape == self.among.shape == self.counted.shape:
            raise TidyDataError("Each answer needs its item, its query, and whether it is among and counted.")
        if not np.isin(self.counted[~np.isnan(self.counted)], (0, 1)).all():
            raise TidyDataError("An answer counts or does not: 1 or 0.")


@dataclass(frozen=True)
class ChosenShare:
    """The share over all answers of the denominator, of which `n_counted` count, and the mean over items of theirs."""

    pooled: Estimate
    per_item: Estimate
    n_counted: int


def chosen_share(answers: ChosenAnswers, *, resample: ResampleSpec) -> ChosenShare:
    """Share of counted answers within the denominator, pooled and per item, with intervals over queries.

    Over all, every rater's answer about every part weighs the same: the sum of those that count over the sum of those
    in the denominator. Per item, an item's share is that of all its answers, whoever gave them and whatever part they
    are about, and every item with a denominator weighs the same; those without one are left out and counted.
    """
    usable = answers.among & ~np.isnan(answers.counted)
    counted, query = answers.counted[usable], answers.query[usable]
    unanswered = int(np.count_nonzero(answers.among & ~usable))
    pooled = mean_estimate(
        counted,
        query,
        unit="answers",
        resample=resample,
        left_out=present({UNANSWERED: unanswered}),
        empty=EMPTY,
        share=True,
    )
    item, first, code, n = np.unique(
        answers.item[usable], return_index=True, return_inverse=True, return_counts=True
    )
    without = len(np.unique(answers.item)) - len(item)
    per_item = mean_estimate(
        sum_by(code, counted, len(item)) / n,
        query[first],
        unit="items",
        resample=resample,
        left_out=present({NO_DENOMINATOR: without}),
        empty=EMPTY,
        share=True,
    )
    return ChosenShare(pooled, per_item, int(counted.sum()))


def chosen_shares_by_group(
    answers: ChosenAnswers, group: Ints, n_groups: int, *, resample: ResampleSpec
) -> Iterator[ChosenShare]:
    """The same of the answers of each code of `group` (n,), such as those about one system's responses; an item's share
    is then that of its answers of the group."""
    for code in range(n_groups):
        yield chosen_share(answers.where(group == code), resample=resample)

"""A judge held against people: kappa with their majority, who says what of the same items, expected agreement.

Leave-one-out agreement itself, inner and outer, is in `leave_one_out`; their difference is here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.kappa import kappas_of_cells
from analytics.statistics.agreement.leave_one_out import (
    NO_ITEMS,
    NO_JUDGE_LABEL,
    item_inner,
    item_outer,
    outer_by_label,
)
from analytics.statistics.agreement.percentage import FEW_JUDGMENTS, majority
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate, query_estimates
from analytics.statistics.core.tidy import (
    FIRST,
    MISSING,
    N_LABELS,
    SECOND,
    Floats,
    Ints,
    Judgments,
)
from analytics.statistics.core.values import n_distinct

NO_MAJORITY = "items without a majority among people"
NOT_BY_PEOPLE = "items that no person judged"


@dataclass(frozen=True)
class JudgeLessPeople:
    """A judge's leave-one-out agreement with people less that of people with each other, on the same items.

    `test` is of no difference; None where there is no such item.
    """

    difference: Estimate
    test: Tested | None


@dataclass(frozen=True)
class Confusion:
    """Items by the judge's label (rows) and by people's majority (columns): the votes that the question has in their
    order, no majority."""

    counts: tuple[tuple[int, ...], ...]
    n: int
    left_out: tuple[LeftOut, ...]


def confusion(people: Ints, judge: Ints) -> Confusion:
    """Items that both judged; people (n, k) are counts of labels, judge (n,) a label or negative.

    Raises TidyDataError where the judge has another number of items or an unknown label.
    """
    _check(people, judge)
    judged, labelled = people.sum(axis=1) > 0, judge >= 0
    used = judged & labelled
    n_labels = people.shape[1]
    column = majority(people[used]).astype(np.int64)
    column[column == MISSING] = n_labels
    table = count_matrix(judge[used].astype(np.int64), column, n_labels, n_labels + 1)
    return Confusion(
        counts=tuple(tuple(int(n) for n in row) for row in table),
        n=int(used.sum()),
        left_out=present(
            {
                NOT_BY_PEOPLE: int(np.count_nonzero(~judged)),
                NO_JUDGE_LABEL: int(np.count_nonzero(judged & ~labelled)),
            }
        ),
    )


def judge_less_people(
    people: Ints, judge: Ints, query: Ints, *, resample: ResampleSpec, tests: Randomization
) -> JudgeLessPeople:
    """Outer less inner agreement (HREF, Algorithm 1), item by item, with its interval and sign-flip test over queries.

    people (n, k) are counts of labels, judge (n,) a label or negative, query (n,). Both agreements depend on how hard
    an item is, so that their difference is known better than their two intervals suggest.
    """
    gap = item_outer(people, judge) - item_inner(people)
    used = np.isfinite(gap)
    few = int(np.count_nonzero(people.sum(axis=1) < 2))
    difference = mean_estimate(
        gap[used],
        query[used],
        unit="items",
        resample=resample,
        left_out=present({FEW_JUDGMENTS: few, NO_JUDGE_LABEL: int(np.count_nonzero(~used)) - few}),
        empty=NO_ITEMS,
    )
    test = sign_flip(gap[used], query[used], tests).two_sided if used.any() else None
    return JudgeLessPeople(difference, test)


def outer_difference(
    people: Ints, one: Ints, other: Ints, query: Ints, *, resample: ResampleSpec
) -> Estimate:
    """Outer agreement of one judge less that of another (HREF, Algorithm 1), item by item, on what both have judged.

    people (n, k) are counts of labels, one and other (n,) a label or negative, query (n,); the interval is over
    queries.
    """
    gap = item_outer(people, one) - item_outer(people, other)
    used = np.isfinite(gap)
    few = int(np.count_nonzero(people.sum(axis=1) < 2))
    return mean_estimate(
        gap[used],
        query[used],
        unit="items",
        resample=resample,
        left_out=present({FEW_JUDGMENTS: few, NO_JUDGE_LABEL: int(np.count_nonzero(~used)) - few}),
        empty=NO_ITEMS,
    )


def kappa_with_majority(people: Ints, judge: Ints, query: Ints, *, resample: ResampleSpec) -> Estimate:
    """Cohen's kappa of a judge's labels (n,) and people's majorities, from their counts (n, k); over queries `query`.

    Items without a majority are left out, and those that the judge or people did not judge. Raises TidyDataError where
    the judge has another number of items or an unknown label.
    """
    _check(people, judge)
    n_labels = people.shape[1]
    most = majority(people)
    judged, labelled = people.sum(axis=1) > 0, judge >= 0
    used = labelled & (most != MISSING)
    cell = judge[used].astype(np.int64) * n_labels + most[used]
    disagreement = (1.0 - np.eye(n_labels)).ravel()
    (estimate,) = query_estimates(
        np.eye(n_labels**2)[cell],
        query[used],
        lambda sums: kappas_of_cells(sums, disagreement)[:, None],
        n=int(used.sum()),
        unit="items",
        resample=resample,
        left_out=present(
            {
                NOT_BY_PEOPLE: int(np.count_nonzero(~judged)),
                NO_MAJORITY: int(np.count_nonzero(judged & (most == MISSING))),
                NO_JUDGE_LABEL: int(np.count_nonzero(labelled < (most != MISSING))),
            }
        ),
        empty="There is nothing to compare: no item has both a label and a majority, or all have the same one.",
        scales=["coefficient"],
    )
    totals = np.bincount(judge[used], minlength=n_labels) + np.bincount(most[used], minlength=n_labels)
    return noted(estimate, totals, n_distinct(query[used]))


def label_chances(judgments: Judgments, n_items: int, n_votes: int = N_LABELS) -> Floats:
    """Probability of each vote, per item (n_items, n_votes), by the mean over its judgments; nan without any.

    A judgment with a number, the probability that the second response is better, is spread over the two responses;
    one without gives its vote.
    """
    continuous = np.isfinite(judgments.number)
    usable = continuous | (judgments.vote != MISSING)
    # A missing vote is -1 and so reads the last row.
    chances = np.vstack([np.eye(n_votes), np.full(n_votes, np.nan)])[judgments.vote]
    chances[continuous] = 0.0
    chances[continuous, FIRST] = 1 - judgments.number[continuous]
    chances[continuous, SECOND] = judgments.number[continuous]
    item = judgments.item[usable]
    judged = np.bincount(item, minlength=n_items)
    sums = [np.bincount(item, weights=column, minlength=n_items) for column in chances[usable].T]
    totals = np.stack(sums, axis=1).astype(np.float64)
    return divide(totals, judged[:, None].astype(np.float64))


def expected_agreement(people: Ints, chances: Floats, query: Ints, *, resample: ResampleSpec) -> Estimate:
    """Leave-one-out agreement with people of a judge that gives probabilities (HREF Algorithm 1, in expectation).

    It is what labels drawn by the judge's `chances` (n, k) would reach. people (n, k) are counts of labels. Raises
    TidyDataError where the shapes differ.
    """
    if chances.shape != people.shape:
        raise TidyDataError("The judge must give a probability for each label of each item.")
    shares = (outer_by_label(people) * chances).sum(axis=1)
    used = np.isfinite(shares)
    few = int(np.count_nonzero(people.sum(axis=1) < 2))
    return mean_estimate(
        shares[used],
        query[used],
        unit="items",
        resample=resample,
        left_out=present({FEW_JUDGMENTS: few, NO_JUDGE_LABEL: int(np.count_nonzero(~used)) - few}),
        empty=NO_ITEMS,
        share=True,
    )


def _check(people: Ints, judge: Ints) -> None:
    if judge.shape != (len(people),) or (len(judge) and int(judge.max()) >= people.shape[1]):
        raise TidyDataError("The judge must give one label of the question for each item.")

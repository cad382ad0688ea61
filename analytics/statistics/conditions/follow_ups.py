"""Satisfied follow-ups: per response and system, and agreement where two responses differ in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.statistics.agreement.percentage import Agreement, agreement
from analytics.statistics.core.estimates import Estimate, LeftOut, ParameterError, TidyDataError, present
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate, sum_by
from analytics.statistics.core.tidy import TIE, Bools, Checks, Floats, Ints, Items, Judgments

# Means over raters are quotients, which may miss a whole number by rounding.
ROUNDING = 1e-9
UNCHECKED = "items without a checklist"
UNCHECKED_RESPONSES = "responses without a checklist"


@dataclass(frozen=True, eq=False)
class Satisfied:
    """Per item and response, shape (n_items, 2): follow-ups that were asked about, and those satisfied.

    `difference` (n_items,) is the mean over raters of how many more follow-ups they find satisfied by the first
    canonical response than by the second; nan for items that nobody checked both responses of.
    """

    number: Ints
    asked: Ints
    difference: Floats

    @property
    def checked(self) -> Bools:
        """Items whose two responses were both checked."""
        return np.asarray((self.asked > 0).all(axis=1))

    def take(self, rows: Ints) -> Satisfied:
        """Those items alone."""
        return Satisfied(self.number[rows], self.asked[rows], self.difference[rows])


@dataclass(frozen=True)
class FollowUpAgreement:
    """Agreement on items whose responses differ in satisfied follow-ups, and on those where they do not.

    They differ where the raters' mean difference is one follow-up or more, either way (ContextEval, Table 5); by
    majority, where the numbers of follow-ups differ that more than half of the raters find satisfied.
    """

    differing: Agreement
    equal: Agreement
    differing_by_majority: Agreement
    equal_by_majority: Agreement


@dataclass(frozen=True)
class SystemFollowUps:
    """Satisfied follow-ups of a system's responses: mean share of those asked about, and mean number."""

    arm: str | None
    category: str | None
    system: str
    share: Estimate
    number: Estimate


def check_counts(checks: Checks, judgments: Judgments, n_items: int) -> Ints:
    """Numbers of an item's raters who found a follow-up not satisfied, and satisfied, by each of its two responses:
    shape (n_items, follow-ups, 2, 2).

    Raises TidyDataError where a checklist's judgment, or a judgment's item, does not exist.
    """
    if len(checks) and int(checks.judgment.max()) >= len(judgments):
        raise TidyDataError("A checklist refers to a judgment that does not exist.")
    cell = judgments.item[checks.judgment].astype(np.int64)
    if len(cell) and int(cell.max()) >= n_items:
        raise TidyDataError("A judgment refers to an item that does not exist.")
    n_follow_ups = int(checks.follow_up.max(initial=0)) + 1
    for column, size in ((checks.follow_up, n_follow_ups), (checks.response, 2), (checks.value, 2)):
        cell *= size
        cell += column
    shape = n_items, n_follow_ups, 2, 2
    return np.bincount(cell, minlength=math.prod(shape)).reshape(shape).astype(np.int32)


def satisfied_follow_ups(checks: Checks, judgments: Judgments, counts: Ints) -> Satisfied:
    """Counts the follow-ups that more than half of an item's raters found satisfied, per response.

    `counts` (n_items, f, 2, 2) are the `check_counts` of these checklists. The mean difference is over judgments, each
    by the follow-ups that it has both responses checked for.
    """
    no, yes = np.moveaxis(counts, -1, 0)
    n_items, n_follow_ups = no.shape[:2]
    difference = _mean_difference(checks, judgments.item, n_follow_ups, n_items)
    return Satisfied((yes > no).sum(axis=1), (yes + no > 0).sum(axis=1), difference)


def _mean_difference(checks: Checks, item: Ints, n_follow_ups: int, n_items: int) -> Floats:
    """Per item, the mean over its judgments of follow-ups satisfied by the first response less by the second.

    `item` (j,) is that of each judgment.
    """
    shape = (2, len(item), n_follow_ups)
    # 0 where it is not checked, 1 for no, 2 for yes.
    found = np.zeros(shape, dtype=np.int8)
    cell = checks.judgment.astype(np.int64) * n_follow_ups + checks.follow_up
    found.reshape(-1)[cell + checks.response.astype(np.int64) * (len(item) * n_follow_ups)] = checks.value + 1
    first, second = found
    both = (first > 0) & (second > 0)
    gain = ((first - second) * both).sum(axis=1, dtype=np.float64)
    compared = both.any(axis=1)
    sums, raters = sum_by(item, gain, n_items), np.bincount(item[compared], minlength=n_items)
    return divide(sums, raters.astype(np.float64))


def agreement_by_follow_ups(
    counts: Ints, query: Ints, satisfied: Satisfied, *, resample: ResampleSpec, tie: int = TIE
) -> FollowUpAgreement:
    """Percentage agreement where the responses differ in satisfied follow-ups, and elsewhere, by either rule.

    counts (n, k), query (n,) as for `agreement` (ContextEval, Table 5). Items without a checklist for both responses
    are in none of the figures. Raises TidyDataError where `satisfied` is of other items.
    """
    if len(satisfied.number) != len(counts):
        raise TidyDataError("The follow-ups and the counts must be of the same items.")

    def of(mask: Bools, checked: Bools) -> Agreement:
        unchecked = present({UNCHECKED: int(np.count_nonzero(~checked))})
        rows = mask & checked
        part = agreement(counts[rows], query[rows], resample=resample, tie=tie)
        return Agreement(_also(part.with_ties, unchecked), _also(part.without_ties, unchecked))

    compared = np.isfinite(satisfied.difference)
    differ = np.abs(satisfied.difference) >= 1 - ROUNDING  # not where it is nan
    by_majority = satisfied.number[:, 0] != satisfied.number[:, 1]
    return FollowUpAgreement(
        differing=of(differ, compared),
        equal=of(~differ, compared),
        differing_by_majority=of(by_majority, satisfied.checked),
        equal_by_majority=of(~by_majority, satisfied.checked),
    )


def follow_ups_by_system(
    items: Items, satisfied: Satisfied, *, resample: ResampleSpec, by: Sequence[str] = ("arm",)
) -> tuple[SystemFollowUps, ...]:
    """Satisfied follow-ups of each system for each cell of `by` ("arm", "category").

    Means are over judged responses (one per item in which the response stands); intervals over queries. Raises
    ParameterError for cells of a pair, TidyDataError where `satisfied` is of other items.
    """
    if "pair" in by:
        raise ParameterError("Follow-ups by system can be divided by arm and category only.")
    if len(satisfied.number) != len(items):
        raise TidyDataError("The follow-ups and the items must be of the same study.")
    results = []
    for cell, index in items.cells(by):
        for system, row, side in _responses_by_system(items, index):
            share, number = _means(items.query, satisfied, row, side, resample)
            results.append(SystemFollowUps(cell.arm, cell.category, system, share, number))
    return tuple(results)


def shares_by_system(items: Items, satisfied: Satisfied, index: Ints) -> Iterator[tuple[str, Floats, Ints]]:
    """Of each system in the items `index` its key, and of each of its checked responses the share of follow-ups that it
    satisfies and the query, both (n,)."""
    for system, row, side in _responses_by_system(items, index):
        checked = satisfied.asked[row, side] > 0
        number, asked = (each[row, side][checked] for each in (satisfied.number, satisfied.asked))
        yield system, number / asked, items.query[row[checked]]


def _responses_by_system(items: Items, index: Ints) -> Iterator[tuple[str, Ints, Ints]]:
    """Each system's key, and of its responses in the items `index` the item and the side, both (n,)."""
    systems = np.stack([items.system_1[index], items.system_2[index]], axis=1)
    for system in np.unique(systems):
        place, side = np.nonzero(systems == system)
        yield items.systems[system], index[place], side


def _means(
    query: Ints, satisfied: Satisfied, row: Ints, side: Ints, resample: ResampleSpec
) -> tuple[Estimate, Estimate]:
    checked = satisfied.asked[row, side] > 0
    number = satisfied.number[row, side][checked].astype(np.float64)
    left_out = present({UNCHECKED_RESPONSES: int(np.count_nonzero(~checked))})
    share, mean = (
        mean_estimate(
            values,
            query[row[checked]],
            unit="responses",
            resample=resample,
            left_out=left_out,
            empty="No response of this system was checked.",
            share=is_share,
        )
        for values, is_share in ((number / satisfied.asked[row, side][checked], True), (number, False))
    )
    return share, mean


def _also(estimate: Estimate, parts: tuple[LeftOut, ...]) -> Estimate:
    return replace(estimate, left_out=estimate.left_out + parts)

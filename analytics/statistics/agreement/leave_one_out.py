"""Leave-one-out agreement (HREF, Algorithm 1): of people with each other, and of a judge with people.

One judgment of an item is held back, and the mode of the others predicts it. The published algorithm breaks
ties between modes at random; here a label among m modes counts 1/m, which is the expectation of that draw.
"""

from __future__ import annotations

import numpy as np

from analytics.statistics.agreement.percentage import FEW_JUDGMENTS, two_by_chance
from analytics.statistics.core.counts import collapse
from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import Floats, Ints, split

NO_JUDGE_LABEL = "items without a label from the judge"
NO_ITEMS = "No item has two judgments, so none can be held out."


def item_inner(counts: Ints) -> Floats:
    """Expected share of each item's judgments predicted by the others' mode; counts (n, k), result (n,).

    nan for items with fewer than two judgments.
    """
    patterns, _, inverse = collapse(counts)
    inner, _ = _loo_tables(patterns)
    return inner[inverse]


def item_outer(counts: Ints, judge: Ints) -> Floats:
    """Expected share of held-back draws whose mode is the judge's label; counts (n, k), judge (n,).

    nan for items with fewer than two judgments and where the judge's label is negative. Raises TidyDataError where the
    judge has another number of items or a label that the counts don't have.
    """
    if judge.shape != (len(counts),) or (len(judge) and int(judge.max()) >= counts.shape[1]):
        raise TidyDataError("The judge must give one label of the question for each item.")
    return np.where(judge >= 0, outer_by_label(counts)[np.arange(len(judge)), judge], np.nan)


def outer_by_label(counts: Ints) -> Floats:
    """`item_outer` of every label that a judge might give: counts (n, k), result (n, k)."""
    patterns, _, inverse = collapse(counts)
    _, outer = _loo_tables(patterns)
    return outer[inverse]


def inner_agreement(counts: Ints, query: Ints, *, resample: ResampleSpec) -> Estimate:
    """Leave-one-out agreement within a rater group, averaged over items (HREF, section 2.3, Algorithm 1).

    counts (n, k), query (n,), over which the interval is.
    """
    return _mean_over_items(item_inner(counts), query, counts, resample)


def outer_agreement(counts: Ints, judge: Ints, query: Ints, *, resample: ResampleSpec) -> Estimate:
    """Leave-one-out agreement of a judge with a rater group (HREF, section 2.3, Algorithm 1).

    counts (n, k) are the group's, judge (n,) holds one label per item, negative where there is none.
    """
    return _mean_over_items(item_outer(counts, judge), query, counts, resample)


def outer_by_chance(counts: Ints, judge: Ints) -> float | None:
    """`outer_agreement` had the judge's labels been drawn from all that it gave; None without an item of two judgments.

    counts (n, k) are the group's, which stay as they are, judge (n,) holds one label per item, negative where there is
    none. Ours.
    """
    used = np.isfinite(item_outer(counts, judge))
    return two_by_chance(outer_by_label(counts[used]), np.eye(counts.shape[1])[judge[used]])


def inner_by_group(
    counts: Ints, query: Ints, groups: Ints, n_groups: int, *, resample: ResampleSpec
) -> tuple[Estimate, ...]:
    """`inner_agreement` for each code of `groups` (n,), such as the items' categories."""
    return tuple(
        inner_agreement(counts[index], query[index], resample=resample) for index in split(groups, n_groups)
    )


def outer_by_group(
    counts: Ints, judge: Ints, query: Ints, groups: Ints, n_groups: int, *, resample: ResampleSpec
) -> tuple[Estimate, ...]:
    """`outer_agreement` for each code of `groups` (n,), such as the items' categories."""
    return tuple(
        outer_agreement(counts[index], judge[index], query[index], resample=resample)
        for index in split(groups, n_groups)
    )


def _loo_tables(patterns: Ints) -> tuple[Floats, Floats]:
    """Inner agreement (p,) and outer agreement by the judge's label (p, k) of distinct count rows (p, k)."""
    judged = patterns.sum(axis=1)
    inner = np.zeros(len(patterns))
    outer = np.zeros(patterns.shape)
    for label in range(patterns.shape[1]):
        others = patterns.copy()
        others[:, label] -= 1
        is_mode = others == others.max(axis=1, keepdims=True)
        credit = is_mode / is_mode.sum(axis=1, keepdims=True)
        # Where nobody gave the label nothing is held back, and the weight of zero drops the row.
        weight = patterns[:, label] / np.maximum(judged, 1)
        inner += weight * credit[:, label]
        outer += weight[:, None] * credit
    few = judged < 2
    inner[few], outer[few] = np.nan, np.nan
    return inner, outer


def _mean_over_items(shares: Floats, query: Ints, counts: Ints, resample: ResampleSpec) -> Estimate:
    used = np.isfinite(shares)
    few = int(np.count_nonzero(counts.sum(axis=1) < 2))
    unlabelled = int(np.count_nonzero(~used)) - few
    return mean_estimate(
        shares[used],
        query[used],
        unit="items",
        resample=resample,
        left_out=present({FEW_JUDGMENTS: few, NO_JUDGE_LABEL: unlabelled}),
        empty=NO_ITEMS,
        share=True,
    )

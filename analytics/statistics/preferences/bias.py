"""Position bias and length bias of a rater group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import (
    Range,
    ResampleSpec,
    divide,
    mean_estimate,
    query_estimates,
)
from analytics.statistics.core.tidy import (
    FIRST,
    MISSING,
    SECOND,
    TIE,
    UNKNOWN_ORDER,
    Bools,
    Floats,
    Ints,
    Items,
    Judgments,
    check_items,
)

# From all for the shorter response to all for the longer one.
LEAN: Range = (-1.0, 1.0)
NO_LABEL = "judgments without a label"
TIES = "ties"
NO_ORDER = "judgments with unknown order"
EQUAL_LENGTHS = "judgments of responses of equal length"


@dataclass(frozen=True)
class PositionBias:
    """Share of preferences for the response presented first, that share less one half, and whether it is none.

    `test` is a sign-flip test over queries, None where there is no such preference or nothing is tested.
    """

    share: Estimate
    bias: Estimate
    n_first: int
    n_second: int
    test: Tested | None


@dataclass(frozen=True)
class LengthBias:
    """Frequency of preferring the longer response less that of preferring the shorter, and both of them."""

    bias: Estimate
    longer: Estimate
    shorter: Estimate


def position_bias(
    label: Ints, first: Ints, query: Ints, *, resample: ResampleSpec, tests: Randomization | None
) -> PositionBias:
    """Preference for the response presented first, from raw readings (not from reduced replicates).

    label, first and query are (n,): the label given, which canonical response was presented first (0, 1, or -1 where
    unknown), and the query, over which the interval is taken. Readings without a label, those of unknown order and ties
    are left out. Without `tests` nothing is tested. Raises TidyDataError where the shapes differ.
    """
    if not label.shape == first.shape == query.shape:
        raise TidyDataError("Position bias needs a label, an order and a query for every reading.")
    unlabelled = label == MISSING
    unknown = ~unlabelled & (first == UNKNOWN_ORDER)
    tied = ~unlabelled & ~unknown & (label == TIE)
    preferred_first, used = shown_first_preferred(label, first)
    share = mean_estimate(
        preferred_first,
        query[used],
        unit="judgments",
        resample=resample,
        left_out=present(
            {
                NO_LABEL: int(np.count_nonzero(unlabelled)),
                NO_ORDER: int(np.count_nonzero(unknown)),
                TIES: int(np.count_nonzero(tied)),
            }
        ),
        empty="No judgment with known order prefers one of the responses.",
        share=True,
    )
    n_first = int(preferred_first.sum())
    test = sign_flip(preferred_first - 0.5, query[used], tests).two_sided if share.n and tests else None
    return PositionBias(share, share.shifted(-0.5), n_first, len(preferred_first) - n_first, test)


def shown_first_preferred(label: Ints, first: Ints) -> tuple[Floats, Bools]:
    """1 of each preference for the response presented first and 0 of each for the other (k,), and which of the readings
    (n,) are such: those of a known order that have a label and are no ties."""
    used = (label != MISSING) & (label != TIE) & (first != UNKNOWN_ORDER)
    # FIRST and SECOND are the codes of the canonical responses, and so is `first`.
    return (label[used] == first[used]).astype(np.float64), used


def length_bias(items: Items, judgments: Judgments, *, resample: ResampleSpec) -> LengthBias:
    """Frequency of preferring the longer response less that of the shorter (HREF, section 5.1).

    The frequencies are over all labelled judgments, ties included, of items whose responses differ in
    length (characters); judgments of responses of equal length are left out. Between -1 and 1.
    """
    lean, used = longer_preferred(items, judgments)
    labelled = judgments.label != MISSING
    columns = np.stack([lean > 0, lean < 0, np.ones(len(lean))], axis=1).astype(float)
    bias, to_longer, to_shorter = query_estimates(
        columns,
        items.query[judgments.item[used]],
        _bias_and_shares,
        n=len(lean),
        unit="judgments",
        resample=resample,
        left_out=present(
            {
                NO_LABEL: int(np.count_nonzero(~labelled)),
                EQUAL_LENGTHS: int(np.count_nonzero(labelled & ~used)),
            }
        ),
        empty="No judgment compares responses of different length.",
        scales=["coefficient", "share", "share"],
    )
    return LengthBias(bias, to_longer, to_shorter)


def longer_preferred(items: Items, judgments: Judgments) -> tuple[Floats, Bools]:
    """1 of each judgment that prefers the longer response, -1 of each for the shorter and 0 of ties (k,), and which of
    the judgments (n,) are such: those with a label on responses of different length."""
    check_items(items, judgments)
    longer = np.sign(items.length_2 - items.length_1)[judgments.item]  # -1: the first response is longer
    used = (judgments.label != MISSING) & (longer != 0)
    label, side = judgments.label[used], np.where(longer[used] > 0, SECOND, FIRST)
    return np.where(label == TIE, 0.0, np.where(label == side, 1.0, -1.0)), used


def _bias_and_shares(sums: Floats) -> Floats:
    return divide(np.stack([sums[:, 0] - sums[:, 1], sums[:, 0], sums[:, 1]], axis=1), sums[:, 2:])

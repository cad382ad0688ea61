"""Sets that several calibrators settled on for one query: how far they agree, and how far they are from the draft.

CondAmbigQA (section 3.3) has calibrators settle the same drafts and discuss what they disagree on, without a figure for
either. Agreement is here the F1 of matched conditions, as two raters' spans are compared elsewhere: neither set is the
truth, and F1 is the same from either side. Two conditions match if they are alike enough; as many pairs are matched as
can be. `alike` is the same without a threshold: matched pairs count by their similarity. The distance from the draft is
that of Levenshtein (1966) in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError
from analytics.statistics.core.resampling import SHARE, ResampleSpec, mean_within, sum_by
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.entries.matching import optimal_matching

# So similar are two conditions at least that match.
LEAST_SIMILARITY = 0.5
ITEMS = "items that two settled"


@dataclass(frozen=True)
class SetAgreement:
    """Mean over items of the mean over pairs of sets: F1 of matched conditions, and how alike matched ones are."""

    matched: Estimate
    alike: Estimate


def set_agreement(
    item: Ints, query: Ints, matched: Floats, alike: Floats, *, resample: ResampleSpec
) -> SetAgreement:
    """Of pairs of sets (n,), each of one `item`; items weigh the same however many pairs they have.

    Raises TidyDataError where the shapes differ.
    """
    if not item.shape == query.shape == matched.shape == alike.shape:
        raise TidyDataError("Each pair of sets needs its item, its query and both numbers.")

    def mean(values: Floats) -> Estimate:
        return mean_within(
            *item_means(item, query, values),
            SHARE,
            unit=ITEMS,
            resample=resample,
            empty="No item has two sets to compare.",
        )

    return SetAgreement(mean(matched), mean(alike))


def item_means(item: Ints, query: Ints, values: Floats) -> tuple[Floats, Ints]:
    """Of pairs of sets (n,) each item's mean of `values`, and its query, both by ascending item (k,)."""
    _, at, code, n = np.unique(item, return_index=True, return_inverse=True, return_counts=True)
    return sum_by(code, values, len(n)) / n, query[at]


def matched_f1(similarity: Floats) -> tuple[float, float]:
    """F1 of matched conditions, and the same by similarity, from that (n, m) of every two conditions, 0 to 1.

    Twice the number of matched pairs, or their sum of similarities, over the entries of both sets. Two empty sets agree
    (1); one empty set and another do not (0).
    """
    entries = sum(similarity.shape)
    if not entries:
        return 1.0, 1.0
    like = similarity >= LEAST_SIMILARITY
    matching = optimal_matching(like.astype(np.float64))
    closest = optimal_matching(similarity)
    return (
        2 * float(like[matching.given, matching.reference].sum()) / entries,
        2 * float(similarity[closest.given, closest.reference].sum()) / entries,
    )


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Words to insert, delete or replace to make one text the other (Levenshtein 1966)."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    first, second = one[start : len(one) - end], other[start : len(other) - end]
    codes = {word: code for code, word in enumerate({*first, *second})}
    other_codes = np.array([codes[word] for word in second], dtype=np.int64)
    places = np.arange(len(second) + 1)
    row = places.copy()
    for word in first:
        # Replace or delete; then whatever is cheaper by insertions from the left.
        changed = np.minimum(row[:-1] + (other_codes != codes[word]), row[1:] + 1)
        best = np.concatenate([[row[0] + 1], changed])
        row = np.minimum.accumulate(best - places) + places
    return int(row[-1])


def distance_from_draft(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> float:
    """Edits over the words of the longer text, summed over pairs (settled, drafted); 0: unchanged, 1: nothing is left.

    What was added has no draft (an empty text), what was rejected nothing settled. Without any word the distance is 0.
    """
    edits = words = 0
    for settled, drafted in pairs:
        edits += edit_distance(settled, drafted)
        words += max(len(settled), len(drafted))
    return edits / words if words else 0.0

"""Consistency of a judge's answers between both orders of the responses, question by question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import DuplicateJudgmentError, Estimate, present
from analytics.statistics.core.replicates import ONE_ORDER_ONLY
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import Floats, Ints

# Numbers that differ by less are the same.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class OrderReadings:
    """One row per answer of one judge to one question, as it came; arrays of shape (n,).

    `item`, `query` and `part` are codes, `sample` numbers the samples of an item, `order` is 0 or 1 for the two orders
    of a sample. `value` is the number, or the code of the label.
    """

    item: Ints
    query: Ints
    sample: Ints
    order: Ints
    part: Ints
    value: Floats

    def __len__(self) -> int:
        return len(self.item)


def order_inconsistency(readings: OrderReadings, *, resample: ResampleSpec) -> Estimate:
    """Share of samples in which any part is answered otherwise when the order is turned round.

    A part that is answered in one order alone differs. Samples of which one order was read are left out. Raises
    DuplicateJudgmentError where a part was answered twice in one order of a sample.
    """
    one = np.unique(
        np.column_stack([readings.item, readings.sample]).astype(np.int64), axis=0, return_inverse=True
    )[1].ravel()
    n = int(one.max(initial=-1)) + 1
    orders = np.zeros((n, 2), dtype=bool)
    orders[one, readings.order] = True
    whole = orders.all(axis=1)
    differs = np.zeros(n, dtype=bool)
    differs[_differing(one, readings)] = True
    query = np.zeros(n, dtype=np.int64)
    query[one] = readings.query
    return mean_estimate(
        differs[whole].astype(np.float64),
        query[whole],
        unit="samples",
        resample=resample,
        left_out=present({ONE_ORDER_ONLY: int(np.count_nonzero(~whole))}),
        empty="No sample was read in both orders.",
        share=True,
    )


def _differing(sample: Ints, readings: OrderReadings) -> Ints:
    """The samples with a part that has not the same value in both orders; some of them twice."""
    pair = sample.astype(np.int64) * (int(readings.part.max(initial=0)) + 1) + readings.part
    _, first, code, times = np.unique(pair, return_index=True, return_inverse=True, return_counts=True)
    if times.max(initial=0) > 2 or len(np.unique(pair * 2 + readings.order)) < len(pair):
        raise DuplicateJudgmentError("A part was answered twice in one order of a sample.")
    low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    np.minimum.at(low, code, readings.value)
    np.maximum.at(high, code, readings.value)
    return np.asarray(sample[first][(times < 2) | (high - low > SAME)])

"""The majority of one group of raters beside the majority of another: how often they agree, and kappa.

Source: AGENT-CQ (sections 3.2 and 4.3, Table 2): the answer that two of three members of a jury prefer, or find equal,
beside the one that two of three people do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.kappa import kappas_of_cells
from analytics.statistics.agreement.percentage import majority, two_by_chance
from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.resampling import ResampleSpec, divide, query_estimates
from analytics.statistics.core.tidy import MISSING, Floats, Ints
from analytics.statistics.core.values import n_distinct

NO_FIRST = "{unit} without a majority of people"
NO_SECOND = "{unit} with a majority of people alone"
NOTHING = "No {unit} have a majority in both groups."
ONE_LABEL = "Both majorities are the same label throughout, so they would agree by chance alone."


@dataclass(frozen=True)
class MajorityAgreement:
    """Share of units on which two majorities are the same label, and Cohen's kappa of the two.

    `by_chance` is that share had each majority been drawn from its group's majorities on all units; None without any.
    """

    agreement: Estimate
    kappa: Estimate
    by_chance: float | None


def majority_agreement(
    one: Ints,
    other: Ints,
    query: Ints,
    *,
    resample: ResampleSpec,
    unit: str = "items",
    without: tuple[str, str] = (NO_FIRST, NO_SECOND),
) -> MajorityAgreement:
    """Of counts of labels (n, k) by two groups on the same units of `query` (n,); intervals over queries.

    A majority is more than half of a group's votes, and a tie can have it. Units that lack one in either group are left
    out and counted, as units `without` it. Raises TidyDataError where the groups have different labels or units.
    """
    if one.shape != other.shape or len(query) != len(one):
        raise TidyDataError("Majorities are compared by counts of the same labels on the same units.")
    k = one.shape[1]
    first, second = (majority(each).astype(np.int64) for each in (one, other))
    used = (first != MISSING) & (second != MISSING)
    cell = first[used] * k + second[used]
    disagreement = (1.0 - np.eye(k)).ravel()

    def figures(sums: Floats) -> Floats:
        equal = sums[:, :: k + 1].sum(axis=1)
        return np.column_stack([divide(equal, sums.sum(axis=1)), kappas_of_cells(sums, disagreement)])

    agreement, kappa = query_estimates(
        np.eye(k * k)[cell],
        query[used],
        figures,
        n=int(used.sum()),
        unit=unit,
        resample=resample,
        left_out=present(
            {
                without[0].format(unit=unit): int(np.count_nonzero(first == MISSING)),
                without[1].format(unit=unit): int(np.count_nonzero((second == MISSING) & (first != MISSING))),
            }
        ),
        empty=ONE_LABEL if used.any() else NOTHING.format(unit=unit),
        scales=["share", "coefficient"],
    )
    totals = np.bincount(first[used], minlength=k) + np.bincount(second[used], minlength=k)
    kappa = noted(kappa, totals, n_distinct(query[used]))
    labels = np.eye(k)
    return MajorityAgreement(agreement, kappa, two_by_chance(labels[first[used]], labels[second[used]]))

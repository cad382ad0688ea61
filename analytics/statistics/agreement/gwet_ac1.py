"""Gwet's AC1 with an interval over queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.alpha import UNPAIRED
from analytics.statistics.core.estimates import Estimate, ParameterError, TidyDataError, present
from analytics.statistics.core.resampling import ResampleSpec, divide, query_estimates
from analytics.statistics.core.tidy import Floats, Ints


@dataclass(frozen=True)
class GwetAC1:
    """AC1, and the two shares that it is made of: of pairs of raters that agree, and that would agree by chance.

    Both are None where AC1 is undefined.
    """

    ac1: Estimate
    agreement: float | None
    by_chance: float | None


def gwet_ac1(counts: Ints, query: Ints, *, resample: ResampleSpec, unit: str = "items") -> GwetAC1:
    """AC1 (Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement", British
    Journal of Mathematical and Statistical Psychology 61, section 3) of label counts (n, k), the columns standing for
    all k labels that the question offers, whether they were given or not.

    A row is what raters agree about, named `unit` in the plural. Agreement is the share of pairs of raters with the
    same label, averaged over the rows with two labels or more; agreement by chance the sum of p (1 - p) over labels,
    divided by k - 1, p being a label's share averaged over the rows with any. The interval is over queries, `query`
    (n,) being that of each row. Undefined where no row has two labels. Raises ParameterError below two columns, and
    TidyDataError where `query` has another length.
    """
    n_labels = counts.shape[1]
    if n_labels < 2:
        raise ParameterError("AC1 needs at least two labels to choose from.")
    if query.shape != (len(counts),):
        raise TidyDataError("AC1 needs one query for each row of counts.")
    rated = counts.sum(axis=1).astype(np.float64)
    paired = rated >= 2
    same = (counts.astype(np.float64) * (counts - 1)).sum(axis=1)
    agreement = np.divide(same, rated * (rated - 1), out=np.zeros(len(counts)), where=paired)
    shares = np.divide(counts, rated[:, None], out=np.zeros(counts.shape), where=rated[:, None] > 0)

    def figures(sums: Floats) -> Floats:
        """AC1, agreement and agreement by chance, of sums (r, k + 3)."""
        observed, label = divide(sums[:, 0], sums[:, 1]), divide(sums[:, 3:], sums[:, 2:3])
        chance = (label * (1 - label)).sum(axis=1) / (n_labels - 1)
        return np.stack([divide(observed - chance, 1 - chance), observed, chance], axis=1)

    ac1, observed, chance = query_estimates(
        np.column_stack([agreement, paired, rated > 0, shares]),
        query,
        figures,
        n=int(np.count_nonzero(paired)),
        unit=unit,
        resample=resample,
        left_out=present({UNPAIRED.format(unit=unit): int(np.count_nonzero(~paired))}),
        empty="No item has two values to compare.",
        scales=["coefficient", "share", "share"],
    )
    return GwetAC1(ac1, observed.value, chance.value if ac1.is_defined else None)

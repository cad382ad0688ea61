"""Coefficients of agreement beyond chance, of label counts, with an interval over queries: what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from analytics.statistics.agreement.alpha import ALL_THE_SAME, UNPAIRED
from analytics.statistics.core.estimates import Estimate, ParameterError, TidyDataError, present
from analytics.statistics.core.interval_notes import noted
from analytics.statistics.core.resampling import ResampleSpec, divide, query_estimates
from analytics.statistics.core.tidy import Floats, Ints


def chance_corrected(
    counts: Ints,
    query: Ints,
    by_chance: Callable[[Floats], Floats],
    *,
    name: str,
    resample: ResampleSpec,
    unit: str,
    notes: bool = False,
) -> tuple[Estimate, float | None, float | None]:
    """The coefficient (a - e) / (1 - e), and a and e, of label counts (n, k), the columns standing for all labels that
    the question offers, whether they were given or not (Gwet 2014, "Handbook of Inter-Rater Reliability", 4th edition,
    chapters 2 and 3).

    A row is what raters agree about, named `unit` in the plural. a is the share of pairs of raters with the same label,
    averaged over the rows with two labels or more. e is what `by_chance` makes of the labels' shares (r, k), each
    averaged over the rows with any label; it is None where the coefficient is undefined. The interval is over queries,
    `query` (n,) being that of each row; with `notes`, one of few uneven queries has its footnote (`interval_notes`).
    Undefined where no row has two labels, or chance alone agrees on everything. Raises ParameterError below two
    columns, with the coefficient's `name`, and TidyDataError where `query` has another length.
    """
    if counts.shape[1] < 2:
        raise ParameterError(f"{name} needs at least two labels to choose from.")
    if query.shape != (len(counts),):
        raise TidyDataError(f"{name} needs one query for each row of counts.")
    rated = counts.sum(axis=1).astype(np.float64)
    paired = rated >= 2
    same = (counts.astype(np.float64) * (counts - 1)).sum(axis=1)
    agreement = np.divide(same, rated * (rated - 1), out=np.zeros(len(counts)), where=paired)
    shares = np.divide(counts, rated[:, None], out=np.zeros(counts.shape), where=rated[:, None] > 0)

    def figures(sums: Floats) -> Floats:
        """The coefficient, agreement and agreement by chance, of sums (r, k + 3)."""
        observed, label = divide(sums[:, 0], sums[:, 1]), divide(sums[:, 3:], sums[:, 2:3])
        chance = by_chance(label)
        return np.stack([divide(observed - chance, 1 - chance), observed, chance], axis=1)

    coefficient, observed, chance = query_estimates(
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
    if not coefficient.is_defined and observed.is_defined:
        coefficient = replace(coefficient, undefined=ALL_THE_SAME)
    if notes:
        coefficient = noted(coefficient, counts[paired].sum(axis=0), len(np.unique(query[paired])))
    return coefficient, observed.value, chance.value if coefficient.is_defined else None

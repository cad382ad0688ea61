"""The severity of raters: how far each one's ratings lie from those of the others on the same texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, present
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate, sum_by
from analytics.statistics.core.values import Values

ALONE = "ratings of {unit} that nobody else rated"
NOTHING = "Nobody else rated what this rater rated."


@dataclass(frozen=True)
class Severity:
    """A rater's mean less that of the others on the same units: above 0 is lenient, below 0 severe."""

    rater: int
    difference: Estimate


def severities(values: Values, *, unit: str, resample: ResampleSpec) -> tuple[Severity, ...]:
    """Of each rater, by code: the mean over their ratings of the rating less the mean of the others' of the same unit.

    So a rater who was given harder texts than the others is not taken for a severe one. The interval is over queries.
    """
    code = values.units.code
    times = np.bincount(code)
    total = sum_by(code, values.value, len(times))
    others = (times[code] - 1).astype(np.float64)
    gap = values.value - divide(total[code] - values.value, others)
    found = []
    for rater in np.unique(values.rater):
        own = values.rater == rater
        used = own & (others > 0)
        left_out = present({ALONE.format(unit=unit): int(np.count_nonzero(own & ~used))})
        difference = mean_estimate(
            gap[used], values.query[used], unit=unit, resample=resample, left_out=left_out, empty=NOTHING
        )
        found.append(Severity(int(rater), difference))
    return tuple(found)

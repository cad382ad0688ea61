"""Times that judging took: per judgment, per item and per rater, and along a rater's work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import Floats, Ints

NO_TIME = "judgments without a recorded time"
THIRDS = 3
# In place of the third of a rater whose work can't be dealt to them.
SHORT = -2


@dataclass(frozen=True)
class Times:
    """Seconds: `mean` with its interval over queries, standard deviation `spread` over judgments (n - 1, None of one),
    and the quartiles over judgments.

    `item_medians` and `rater_medians` are the quartiles of the medians of items, and of raters. `thirds` are medians
    of the first, second and last third of raters' work, empty where no rater has three judgments.
    """

    mean: Estimate
    spread: float | None
    quartiles: tuple[float, ...]
    item_medians: tuple[float, ...]
    rater_medians: tuple[float, ...]
    thirds: tuple[float, ...]


def judging_times(seconds: Floats, item: Ints, rater: Ints, query: Ints, *, resample: ResampleSpec) -> Times:
    """Times of judgments (n,), nan where none is recorded, which are left out; a rater's rows are in the
    order of the work.

    The interval of the mean is taken of its logarithm: few long times make it too narrow where it is too low.

    HREF (section 2.1.2) gives mean and standard deviation. A rater's judgments are dealt to thirds by their number, the
    remainder to the first ones. Raises TidyDataError where the shapes differ.
    """
    if not seconds.shape == item.shape == rater.shape == query.shape:
        raise TidyDataError("Times need an item, a rater and a query for every judgment.")
    known = np.isfinite(seconds)
    value = seconds[known]
    mean = mean_estimate(
        value,
        query[known],
        unit="judgments",
        resample=resample,
        left_out=present({NO_TIME: int(np.count_nonzero(~known))}),
        empty="No judgment has a recorded time.",
        scale="positive",
    )
    return Times(
        mean,
        float(value.std(ddof=1)) if len(value) > 1 else None,
        quartiles(value),
        quartiles(medians_by(item[known], value)),
        quartiles(medians_by(rater[known], value)),
        _thirds(value, rater[known]),
    )


def quartiles(values: Floats) -> tuple[float, ...]:
    """First quartile, median and third quartile; empty without values."""
    return tuple(np.quantile(values, (0.25, 0.5, 0.75)).tolist()) if len(values) else ()


def medians_by(codes: Ints, values: Floats) -> Floats:
    """The median of the values (n,) of each code (n,) that occurs, by ascending code."""
    import pandas as pd

    return np.asarray(pd.Series(values).groupby(codes).median().to_numpy(), dtype=np.float64)


def thirds_of_work(rater: Ints) -> Ints:
    """The third of its rater's work, from 0, in which each judgment (n,) stands.

    A rater's rows are in the order of the work. The remainder goes to the first ones; -2 of a rater with fewer than
    three.
    """
    import pandas as pd

    rows = pd.Series(rater).groupby(rater)
    place, size = rows.cumcount().to_numpy(), rows.transform("size").to_numpy()
    return np.where(size >= THIRDS, place * THIRDS // np.maximum(size, 1), SHORT)


def _thirds(seconds: Floats, rater: Ints) -> tuple[float, ...]:
    third = thirds_of_work(rater)
    if not (third >= 0).any():
        return ()
    return tuple(float(np.median(seconds[third == each])) for each in range(THIRDS))

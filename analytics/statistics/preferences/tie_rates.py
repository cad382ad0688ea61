"""The share of ties among raters' labels."""

from __future__ import annotations

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import MISSING, TIE, Ints
from analytics.statistics.preferences.bias import NO_LABEL


def tie_rate(label: Ints, query: Ints, *, resample: ResampleSpec, tie: int = TIE) -> Estimate:
    """The share of ties among labels (n,), with its interval over queries (n,) (HREF, section 2.1.2).

    Every judgment weighs the same, unlike in the share of items whose majority is a tie. Judgments without a label are
    left out. Of votes, `tie` says which kind of them: TIE or BOTH_BAD. Raises TidyDataError where the shapes differ.
    """
    if label.shape != query.shape:
        raise TidyDataError("A tie rate needs a query for every label.")
    labelled = label != MISSING
    return mean_estimate(
        (label[labelled] == tie).astype(np.float64),
        query[labelled],
        unit="judgments",
        resample=resample,
        left_out=present({NO_LABEL: int(np.count_nonzero(~labelled))}),
        empty="No judgment has a label.",
        share=True,
    )

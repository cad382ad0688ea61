"""Krippendorff's alpha with a bootstrap interval over items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import krippendorff
import numpy as np

from evaluation.analytics.counts import collapse
from evaluation.analytics.estimates import Estimate, ParameterError, present, undefined
from evaluation.analytics.resampling import ResampleSpec, divide, estimate_from, resample_weights
from evaluation.analytics.tidy import Floats, Ints

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
UNPAIRED = "items with fewer than two values"


def krippendorff_alpha(
    counts: Ints, *, level: Level, resample: ResampleSpec, values: Sequence[float] | None = None
) -> Estimate:
    """Alpha of value counts (n, k), the columns standing for `values` in ascending order (default 0..k-1).

    Missing values are simply not counted. The point value is that of the `krippendorff` package; the
    interval resamples items, of which only those with two values or more enter (Krippendorff, "Content
    Analysis", chapter 12). Undefined where no item has two values, or all values are the same.
    """
    domain = np.arange(counts.shape[1], dtype=float) if values is None else np.asarray(values, dtype=float)
    if level not in LEVELS:
        raise ParameterError(f"Alpha is not known for the level of measurement {level}.")
    if domain.shape != (counts.shape[1],) or np.any(np.diff(domain) <= 0):
        raise ParameterError("Alpha needs one value per column of counts, in ascending order.")
    pairable = counts.sum(axis=1) >= 2
    used = counts[pairable]
    left_out = present({UNPAIRED: int(np.count_nonzero(~pairable))})
    reason = _why_undefined(used)
    if reason:
        return undefined(reason, n=len(used), level=resample.level, left_out=left_out)
    value = krippendorff.alpha(value_counts=used, level_of_measurement=level, value_domain=domain)
    return estimate_from(
        value,
        _replicates(used, level, domain, resample),
        n=len(used),
        unit="items",
        units=len(used),
        resampled="items",
        level=resample.level,
        left_out=left_out,
    )


def alpha_by_weights(patterns: Ints, drawn: Floats, level: Level, domain: Floats) -> Floats:
    """Alpha of each row of `drawn` (r, p), which says how often each count pattern (p, k) occurs.

    nan where a row has no variation. Every metric used here is the squared distance of scores: of the
    values themselves, or of their mid-ranks among the values drawn; the nominal one counts differing pairs.
    """
    per_item = patterns.sum(axis=1)
    pairs_weight = drawn / (per_item - 1)
    totals = drawn @ patterns
    n = totals.sum(axis=1)
    if level == "nominal":
        observed = pairs_weight @ (per_item**2 - (patterns**2).sum(axis=1))
        expected = n**2 - (totals**2).sum(axis=1)
    else:
        ranks = np.cumsum(totals, axis=1) - totals / 2
        scores = ranks if level == "ordinal" else np.broadcast_to(domain, totals.shape)
        # Centred scores keep the difference of squares from cancelling when values lie far from zero.
        scores = scores - divide((totals * scores).sum(axis=1), n)[:, None]
        squares, sums = scores**2 @ patterns.T, scores @ patterns.T
        observed = 2 * (pairs_weight * (per_item * squares - sums**2)).sum(axis=1)
        expected = 2 * n * (totals * scores**2).sum(axis=1)
    # A replicate of one value only leaves rounding noise where the expected disagreement is zero.
    expected = np.where((totals > 0).sum(axis=1) > 1, expected, 0.0)
    return np.asarray(1 - divide((n - 1) * observed, expected))


def _why_undefined(used: Ints) -> str:
    if not len(used):
        return "No item has two values to compare."
    if np.count_nonzero(used.sum(axis=0)) < 2:
        return "All values are the same, so agreement cannot be told from lack of variation."
    return ""


def _replicates(used: Ints, level: Level, domain: Floats, resample: ResampleSpec) -> Floats:
    if len(used) < 2 or not resample.replicates:
        return np.zeros(0)
    patterns, weights, _ = collapse(used.astype(np.int64))
    chunks = resample_weights(weights, rng=resample.rng, replicates=resample.replicates)
    return np.concatenate([alpha_by_weights(patterns, drawn, level, domain) for drawn in chunks])

"""Krippendorff's alpha of ratings, choices and checklists, with an interval over queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluation.analytics.alpha import UNPAIRED, Level, alpha_by_weights, krippendorff_alpha
from evaluation.analytics.counts import collapse
from evaluation.analytics.draws import cell_draws
from evaluation.analytics.estimates import Estimate, LeftOut
from evaluation.analytics.resampling import ResampleSpec, estimate_from
from evaluation.analytics.tidy import Floats
from evaluation.analytics.values import ValueCounts, Values, n_distinct, value_counts


def alpha_of_values(
    values: Values,
    *,
    level: Level,
    resample: ResampleSpec,
    points: Sequence[float] | None = None,
    unit: str = "items",
) -> Estimate:
    """Krippendorff's alpha of what was rated, `unit` being its name in the plural ("responses").

    `level` is "ordinal" for a scale of few points, "interval" for one of many, "nominal" for choices and yes or no.
    Without `points` the values that occur are the scale. Values between the points count at the interval level and
    are left out at the others. The units of a query are dependent, so the interval resamples queries.
    """
    table = value_counts(values, level=level, points=points)
    found = krippendorff_alpha(
        table.counts, level=level, resample=replace(resample, replicates=0), values=table.points
    )
    named = tuple(
        LeftOut(part.reason.replace("items", unit), part.n) if part.reason == UNPAIRED else part
        for part in found.left_out
    )
    left_out = named + table.left_out
    if found.value is None:
        return replace(found, unit=unit, left_out=left_out)
    pairable = table.counts.sum(axis=1) >= 2
    return estimate_from(
        found.value,
        _replicates(table, level, resample),
        n=found.n,
        unit=unit,
        units=n_distinct(table.query[pairable]),
        level=resample.level,
        left_out=left_out,
    )


def _replicates(table: ValueCounts, level: Level, resample: ResampleSpec) -> Floats:
    pairable = table.counts.sum(axis=1) >= 2
    patterns, _, cell = collapse(table.counts[pairable].astype(np.int64))
    domain = np.asarray(table.points)
    chunks = cell_draws(table.query[pairable], cell, len(patterns), resample)
    samples = [alpha_by_weights(patterns, drawn, level, domain) for drawn in chunks]
    return np.concatenate(samples) if samples else np.zeros(0)

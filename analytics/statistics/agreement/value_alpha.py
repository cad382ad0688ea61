"""Krippendorff's alpha of ratings, choices and checklists, with an interval over queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analytics.statistics.agreement.alpha import Level, agreement_by_chance, krippendorff_alpha
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.values import Values, pooled_counts, value_counts


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
    are left out at the others. The units of a query are dependent, so the interval is over queries.
    """
    return alpha_of_pooled([values], level=level, resample=resample, points=points, unit=unit)


def alpha_of_pooled(
    parts: Sequence[Values],
    *,
    level: Level,
    resample: ResampleSpec,
    points: Sequence[float] | None = None,
    unit: str = "items",
) -> Estimate:
    """The same of several questions' answers pooled as if they were one question's; a unit counts once per question."""
    table = pooled_counts(parts, level=level, points=points)
    found = krippendorff_alpha(
        table.counts, table.query, level=level, resample=resample, values=table.points, unit=unit
    )
    return replace(found, left_out=found.left_out + table.left_out)


def chance_of_values(values: Values, *, points: Sequence[float] | None = None) -> float | None:
    """Share of pairs of labels that would be equal by chance, as `agreement_by_chance` has it of counts."""
    return agreement_by_chance(value_counts(values, level="nominal", points=points).counts)

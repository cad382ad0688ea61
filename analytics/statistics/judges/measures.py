"""Measures beside answers: how a number that a judge gives goes with what raters said of the same thing.

Pearson's r and Spearman's rho are those of `ratings_vs_people.correlations`. The preference accuracy is the share of
choices in which the chosen response has the better number (LFQA section 5.4: a chosen answer against each other one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError, present
from analytics.statistics.core.resampling import ResampleSpec, mean_within
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.judges.ratings_vs_people import correlations

UNMEASURED = "{unit} without this measure"
UNMEASURED_CHOICES = "choices in which a response lacks this measure"
CHOICES = "choices"


@dataclass(frozen=True)
class Association:
    """Pearson's r and Spearman's rho of a measure and the mean of a group's answers."""

    pearson: Estimate
    spearman: Estimate


def associate(
    measure: Floats, mean: Floats, query: Ints, *, resample: ResampleSpec, unit: str
) -> Association:
    """The measure (n,), nan where it is missing, against the mean answer (n,) of the same units.

    Units, named `unit` in the plural, that lack the measure are left out and counted; intervals are over `query` (n,).
    Raises ParameterError for arrays of different lengths.
    """
    if not len(measure) == len(mean) == len(query):
        raise ParameterError("The measure, the means and the queries must be of the same units.")
    there = np.isfinite(measure)
    left_out = present({UNMEASURED.format(unit=unit): int((~there).sum())})
    pearson, spearman = correlations(
        measure[there], mean[there], query[there], resample=resample, unit=unit, left_out=left_out
    )
    return Association(pearson, spearman)


def preference_accuracy(chosen: Floats, other: Floats, query: Ints, *, resample: ResampleSpec) -> Estimate:
    """Share of choices (n,) in which the chosen response's number is above the other's; equal numbers count half.

    Of a measure whose lower numbers are better, give both with their signs turned. Choices that lack a number are left
    out and counted; the interval is over `query` (n,) and stays within 0 and 1. Raises ParameterError for arrays of
    different lengths.
    """
    if not len(chosen) == len(other) == len(query):
        raise ParameterError("The chosen responses, the others and the queries must be of the same choices.")
    there = np.isfinite(chosen) & np.isfinite(other)
    right = np.where(chosen > other, 1.0, np.where(chosen == other, 0.5, 0.0))[there]
    return mean_within(
        right,
        query[there],
        (0.0, 1.0),
        unit=CHOICES,
        resample=resample,
        left_out=present({UNMEASURED_CHOICES: int((~there).sum())}),
        empty="There are no choices between responses that have this measure.",
    )

"""Two groups of raters on the same things: how far apart their means are, and how far they agree, each and together.

Agreement is that of pairs of raters: how often two who answered the same unit give the same answer. Two of one group
are drawn without replacement, and of two groups one from each, so that the three numbers are on one footing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.percentage import agreement_of_two
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.effect_sizes import paired_effect
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import Values, unit_means


@dataclass(frozen=True)
class TestedGap:
    """A difference, the first group less the second, with its interval, Cohen's d of paired measures of the queries'
    differences, and the test of there being none."""

    difference: Estimate
    effect: Estimate
    test: Tested


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two raters: of the first group, of the second, one of each; `gap`: the first's less the second's."""

    within_first: Estimate
    within_second: Estimate
    between: Estimate
    gap: TestedGap


def mean_gap(
    one: Values, other: Values, *, resample: ResampleSpec, tests: Randomization, unit: str
) -> TestedGap:
    """Difference of the groups' means of the units (named `unit` in the plural) that both rated, each unit the same."""
    first, second = unit_means(one), unit_means(other)
    _, at_first, at_second = np.intersect1d(first.unit, second.unit, assume_unique=True, return_indices=True)
    gap = first.mean[at_first] - second.mean[at_second]
    return _tested(gap, first.query[at_first], resample, tests, f"{unit} that both groups rated")


def pair_agreement(
    one: Values, other: Values, *, resample: ResampleSpec, tests: Randomization, unit: str
) -> PairAgreement:
    """Agreement within and between the groups; units that too few of a group answered are in none of its numbers."""
    unit_codes = np.union1d(one.unit, other.unit)
    answers = np.union1d(one.value, other.value)
    first, second = (_counts(each, unit_codes, answers) for each in (one, other))
    query = np.zeros(len(unit_codes), dtype=np.int64)
    for each in (one, other):
        query[np.searchsorted(unit_codes, each.unit)] = each.query
    own_first, own_second = agreement_of_two(first), agreement_of_two(second)
    sizes = first.sum(axis=1) * second.sum(axis=1)
    both = np.where(sizes > 0, (first * second).sum(axis=1) / np.maximum(sizes, 1), np.nan)

    def estimate(shares: Floats, of: str) -> Estimate:
        known = np.isfinite(shares)
        return mean_estimate(
            shares[known],
            query[known],
            unit=f"{unit} that {of} answered",
            resample=resample,
            empty=f"There are no {unit} that {of} answered.",
            share=True,
        )

    gap = own_first - own_second
    known = np.isfinite(gap)
    return PairAgreement(
        estimate(own_first, "two of the first group"),
        estimate(own_second, "two of the second group"),
        estimate(both, "both groups"),
        _tested(gap[known], query[known], resample, tests, f"{unit} that two of each group answered"),
    )


def _counts(values: Values, units: Ints, answers: Floats) -> Ints:
    row, column = np.searchsorted(units, values.unit), np.searchsorted(answers, values.value)
    return count_matrix(row, column, len(units), len(answers)).astype(np.int64)


def _tested(gap: Floats, query: Ints, resample: ResampleSpec, tests: Randomization, unit: str) -> TestedGap:
    estimate = mean_estimate(gap, query, unit=unit, resample=resample, empty=f"There are no {unit}.")
    effect = paired_effect(gap, query, level=resample.level)
    return TestedGap(estimate, effect, sign_flip(gap, query, tests).two_sided)

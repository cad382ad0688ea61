"""Drift of a judge: passes over the same items at different times, held against the noise of two early ones.

A model at an endpoint can change without a word. Two early passes differ by the noise of asking twice; a later pass
that agrees less with the first than the second did, beyond chance, has drifted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, TidyDataError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import Bools, Floats, Ints

NOT_IN_BOTH = "{unit} without an answer in one of the passes"
NOTHING_SHARED = "None of the {unit} have an answer in all of these passes."


@dataclass(frozen=True)
class Drift:
    """A later pass's agreement with the first, less that of the second pass with it, on the same items; of numbers
    its distance from the first, less the second's.

    `test` is of no difference; None where there is no such item.
    """

    difference: Estimate
    test: Tested | None


def self_agreement(
    first: Ints, later: Ints, query: Ints, *, resample: ResampleSpec, unit: str = "items"
) -> Estimate:
    """Share of units (n,) to which both passes give the same label; a negative label is none.

    Raises TidyDataError where the shapes differ.
    """
    _check(first, later, query)
    used = (first >= 0) & (later >= 0)
    return mean_estimate(
        (first == later)[used].astype(np.float64),
        query[used],
        unit=unit,
        resample=resample,
        left_out=present(
            {NOT_IN_BOTH.format(unit=unit): int(np.count_nonzero((first >= 0) != (later >= 0)))}
        ),
        empty=NOTHING_SHARED.format(unit=unit),
        share=True,
    )


def drift(
    first: Ints,
    second: Ints,
    later: Ints,
    query: Ints,
    *,
    resample: ResampleSpec,
    tests: Randomization,
    unit: str = "items",
) -> Drift:
    """Hold a later pass's agreement with the first against the second's; labels (n,) of units, negative for none.

    Where nothing has changed, the second and the later pass are two draws of the same judge: exchanging them in any
    query changes no chance, and a sign-flip test over queries is exact, however dependent the items of a query are and
    whatever the judge's noise. Raises TidyDataError where the shapes differ.
    """
    _check(first, second, later, query)
    used = (first >= 0) & (second >= 0) & (later >= 0)
    gap = (later == first).astype(np.float64) - (second == first)
    n_first = int(np.count_nonzero(first >= 0))
    return _mean_gap(gap, used, query, n_first=n_first, resample=resample, tests=tests, unit=unit)


def drift_of_numbers(
    first: Floats,
    second: Floats,
    later: Floats,
    query: Ints,
    *,
    resample: ResampleSpec,
    tests: Randomization,
    unit: str = "items",
) -> Drift:
    """Hold a later pass's distance from the first against the second's; numbers (n,) of units, nan for none.

    The difference is above nothing where the later pass lies further away. As of labels, exchanging the second and the
    later pass in any query changes no chance where nothing has changed. Raises TidyDataError where the shapes differ.
    """
    _check(first, second, later, query)
    used = np.isfinite(first) & np.isfinite(second) & np.isfinite(later)
    gap = np.abs(later - first) - np.abs(second - first)
    n_first = int(np.count_nonzero(np.isfinite(first)))
    return _mean_gap(gap, used, query, n_first=n_first, resample=resample, tests=tests, unit=unit)


def _mean_gap(
    gap: Floats,
    used: Bools,
    query: Ints,
    *,
    n_first: int,
    resample: ResampleSpec,
    tests: Randomization,
    unit: str,
) -> Drift:
    difference = mean_estimate(
        gap[used],
        query[used],
        unit=unit,
        resample=resample,
        left_out=present({NOT_IN_BOTH.format(unit=unit): n_first - int(np.count_nonzero(used))}),
        empty=NOTHING_SHARED.format(unit=unit),
    )
    return Drift(difference, sign_flip(gap[used], query[used], tests).two_sided if used.any() else None)


def _check(*arrays: Ints | Floats) -> None:
    if any(each.shape != arrays[0].shape or each.ndim != 1 for each in arrays):
        raise TidyDataError("Each pass has one label for each item.")

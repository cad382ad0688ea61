"""Paired differences between settings of the same systems, and between systems in the same settings.

CondAmbigQA, section 5.3, compares models that answer by themselves, with documents, and with conditions given. What all
texts for a query have in common cancels out: the unit is the query, and each weighs the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from analytics.statistics.core.effect_sizes import paired_effect
from analytics.statistics.core.estimates import Estimate, TidyDataError
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate, sum_by
from analytics.statistics.core.tidy import Floats, Ints

QUERIES = "queries"
NOTHING = "No query has values of both."
Between = Literal["settings", "systems"]


@dataclass(frozen=True, eq=False)
class SettingValues:
    """Values (n,) of texts, with codes of their `query`, of the system whatever its setting (`base`) and of its
    `setting`; bases and settings are codes below `n_bases` and `n_settings`."""

    value: Floats
    query: Ints
    base: Ints
    setting: Ints
    n_bases: int
    n_settings: int

    def __post_init__(self) -> None:
        if not self.value.shape == self.query.shape == self.base.shape == self.setting.shape:
            raise TidyDataError("Each value needs a query, a system and a setting.")

    @property
    def means(self) -> Floats:
        """The mean of each query, base and setting, (q, n_bases, n_settings); nan where there is no value."""
        known = np.isfinite(self.value)
        queries, code = np.unique(self.query[known], return_inverse=True)
        cell = (code * self.n_bases + self.base[known]) * self.n_settings + self.setting[known]
        size = len(queries) * self.n_bases * self.n_settings
        times = np.bincount(cell, minlength=size).astype(np.float64)
        found = divide(sum_by(cell, self.value[known], size), times)
        return found.reshape(len(queries), self.n_bases, self.n_settings)


@dataclass(frozen=True)
class PairedCell:
    """Two settings, or two systems, by code: the means of both, and the second's less the first's.

    `within` is the code of the system, or setting, in which they are compared; None over all of them that have both.
    The test is of no difference, None without any query. `effect` is Cohen's d of paired measures.
    """

    between: Between
    first: int
    second: int
    within: int | None
    one: Estimate
    other: Estimate
    difference: Estimate
    effect: Estimate
    test: Tested | None


def paired_cells(
    given: SettingValues, *, resample: ResampleSpec, tests: Randomization
) -> tuple[PairedCell, ...]:
    """Every two settings and then every two systems: over all first, and then in each system, or setting, that has
    both.

    Over all, a query's difference is the mean over those in which it has both. Intervals are over queries; tests are
    sign-flip tests of them. One that is within the only system, or setting, is that over all and left out.
    """
    table = given.means
    return (
        *_cells("settings", table, resample, tests),
        *_cells("systems", table.transpose(0, 2, 1), resample, tests),
    )


def _cells(
    between: Between, table: Floats, resample: ResampleSpec, tests: Randomization
) -> Iterator[PairedCell]:
    """`table` is (q, within, compared)."""
    for first, second in combinations(range(table.shape[2]), 2):
        both = np.isfinite(table[:, :, first]) & np.isfinite(table[:, :, second])
        present = np.flatnonzero(both.any(axis=0))
        if not len(present):
            continue
        for within in (None, *(present if len(present) > 1 else ())):
            used = both if within is None else both & (np.arange(both.shape[1]) == within)
            rows = used.any(axis=1)
            one, other = (
                np.where(used, table[:, :, code], 0.0).sum(axis=1)[rows] / used.sum(axis=1)[rows]
                for code in (first, second)
            )
            query = np.arange(len(one))
            mean_one, mean_other, difference = (
                mean_estimate(values, query, unit=QUERIES, resample=resample, empty=NOTHING)
                for values in (one, other, other - one)
            )
            test = sign_flip(other - one, query, tests.of(between, first, second, within)).two_sided
            effect = paired_effect(other - one, query, level=resample.level)
            place = None if within is None else int(within)
            yield PairedCell(between, first, second, place, mean_one, mean_other, difference, effect, test)

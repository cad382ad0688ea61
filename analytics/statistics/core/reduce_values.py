"""Several readings of one thing by one rater, reduced to one answer by a rule that its kind of question names.

Preferences between two responses have rules of their own (see `replicates`). All columns have shape (n,), one entry
per reading; `rater` and `unit` are any codes, and what one rater said of one unit is reduced to one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.tidy import Floats, Ints

Rule: TypeAlias = Literal["mean", "majority"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True, eq=False)
class ReducedValues:
    """One row per rater and unit: the row of its first reading, its value, and of how many readings it is made."""

    row: Ints
    value: Floats
    n: Ints


def reduce_values(rater: Ints, unit: Ints, value: Floats, rule: Rule) -> ReducedValues:
    """One value per rater and unit, in ascending order of both.

    - mean: the mean of the readings, for numbers on a scale and for ranks.
    - majority: the most common value, for labels and for yes or no; nan without a unique one.

    Raises ParameterError for another rule.
    """
    if rule not in RULES:
        raise ParameterError(
            f"There is no rule {rule!r} to reduce answers. The rules are: {', '.join(RULES)}."
        )
    pair = rater.astype(np.int64) * (int(unit.max(initial=0)) + 1) + unit
    _, row, code, n = np.unique(pair, return_index=True, return_inverse=True, return_counts=True)
    if rule == "mean":
        total = np.bincount(code, weights=value, minlength=len(row))
        return ReducedValues(row, total / np.maximum(n, 1), n)
    return ReducedValues(row, _modes(code, value, len(row)), n)


def _modes(code: Ints, value: Floats, n: int) -> Floats:
    values, at = np.unique(value, return_inverse=True)
    width = max(len(values), 1)
    cell, times = np.unique(code.astype(np.int64) * width + at, return_counts=True)
    of = cell // width
    most = np.zeros(n, dtype=np.int64)
    np.maximum.at(most, of, times)
    top = times == most[of]
    unique = np.bincount(of[top], minlength=n) == 1
    found = np.full(n, np.nan)
    found[of[top]] = values[cell[top] % width]
    return np.where(unique, found, np.nan)

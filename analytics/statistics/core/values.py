"""The arrays that the statistics of ratings, choices and checklists are computed from, and their count tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np

from analytics.statistics.agreement.alpha import Level
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import (
    DuplicateJudgmentError,
    LeftOut,
    ParameterError,
    TidyDataError,
    present,
)
from analytics.statistics.core.tidy import (
    Distinct,
    Floats,
    Ints,
    _are_dense,
    _coerce,
    _Rows,
    _set,
    distinct,
    sorted_codes,
)

NO_SYSTEM = -1
OFF_POINTS = "values between the points of the scale"
# Points are low + k * step, so a stored value may differ from its point in the last bits.
SAME_POINT = 1e-9


@dataclass(frozen=True, eq=False)
class Values(_Rows):
    """The answers of one rater group to one question, replicates reduced; arrays of shape (n,), one row per answer.

    `unit` is the code of what was rated, an item's part, and so of what raters agree about (see `unit_codes`);
    `query`, `item`, `rater` and `part` are codes, `system` that of the response's system, NO_SYSTEM where the part
    is no response. `value` is the number on the scale, 0 or 1 for a checklist, the label's code for a choice.

    A missing answer is a missing row. Raises TidyDataError where a column has the wrong shape or range or a unit
    has two queries, items, parts or systems, DuplicateJudgmentError where a rater has rated a unit twice.
    """

    unit: Ints
    query: Ints
    system: Ints
    part: Ints
    item: Ints
    rater: Ints
    value: Floats

    def __post_init__(self) -> None:
        n = len(self.unit)
        for name in ("unit", "query", "part", "item", "rater"):
            _coerce(self, name, n, np.int32, 0, 2**31)
        _coerce(self, "system", n, np.int32, NO_SYSTEM, 2**31)
        coerce_numbers(self, "value", n)
        _, first, code = self.units
        first_row = first[code]
        for name in ("query", "system", "part", "item"):
            column = getattr(self, name)
            if not np.array_equal(column[first_row], column):
                raise TidyDataError(f"What was rated has more than one {name}.")
        if has_duplicates(code, self.rater):
            raise DuplicateJudgmentError("A rater has rated the same part of an item twice.")

    @cached_property
    def units(self) -> Distinct:
        return distinct(self.unit)

    def take(self, index: Ints) -> Self:
        """The rows at `index`, each at most once.

        What holds of all rows holds of these: to check every part anew takes longer than all figures of it.
        """
        part = object.__new__(type(self))
        for each in fields(self):
            _set(part, each.name, getattr(self, each.name)[index])
        return part

    @cached_property
    def n_units(self) -> int:
        return n_distinct(self.unit)

    @cached_property
    def n_queries(self) -> int:
        return n_distinct(self.query)


@dataclass(frozen=True, eq=False)
class UnitMeans(_Rows):
    """The mean value of each unit and the number `n` of its ratings; arrays of shape (u,), by ascending unit."""

    unit: Ints
    query: Ints
    system: Ints
    part: Ints
    item: Ints
    n: Ints
    mean: Floats


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Number of times that each of `points` (k,) was given to each unit: `counts` (u, k), `unit` and `query` (u,)."""

    counts: Ints
    unit: Ints
    query: Ints
    points: tuple[float, ...]
    left_out: tuple[LeftOut, ...]


def unit_codes(item: Ints, part: Ints) -> Ints:
    """Codes (n,) of the pairs of an item (n,) and a part (n,), from 0 without gaps; codes of Values.unit."""
    pair = np.asarray(item, dtype=np.int64) * (int(np.max(part, initial=0)) + 1) + part
    return distinct(pair).code


def unit_means(values: Values) -> UnitMeans:
    """The mean over raters of each unit's values."""
    unit, first, inverse = values.units
    n = np.bincount(inverse, minlength=len(unit))
    total = np.bincount(inverse, weights=values.value, minlength=len(unit))
    return UnitMeans(
        unit=unit,
        query=values.query[first],
        system=values.system[first],
        part=values.part[first],
        item=values.item[first],
        n=n,
        mean=total / np.maximum(n, 1),
    )


def point_codes(value: Floats, points: Sequence[float]) -> Ints:
    """Index of each value (n,) in `points`, which ascend; -1 for a value between them.

    Raises ParameterError where they don't.
    """
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 1 or not len(table) or np.any(np.diff(table) <= 0):
        raise ParameterError("The points of a scale must be given in ascending order.")
    nearest = np.searchsorted((table[1:] + table[:-1]) / 2, value)
    return np.where(np.abs(table[nearest] - value) <= SAME_POINT, nearest, -1)


def value_counts(values: Values, *, level: Level, points: Sequence[float] | None = None) -> ValueCounts:
    """The count matrix of `values` for `krippendorff_alpha`, with a row for each unit that was rated.

    The columns are the `points` of the scale, without them the values that occur. Judges and imports may give
    values between the points: at the interval level each is a column of its own, at the others it is left out.
    """
    return pooled_counts([values], level=level, points=points)


def pooled_counts(
    parts: Sequence[Values], *, level: Level, points: Sequence[float] | None = None
) -> ValueCounts:
    """Counts of several questions' answers pooled as if they were one question's; a unit counts once per question.

    Numbers stay as they are: of questions whose scales differ, such as -1 to 1 and 0 to 3, most of the variation is
    between the questions. The units of a question follow those of the questions before it.
    """
    width = max((int(each.unit.max(initial=-1)) for each in parts), default=-1) + 1
    value = np.concatenate([np.zeros(0), *(each.value for each in parts)])
    code, table, left_out = point_columns(value, level=level, points=points)
    ends = np.cumsum([len(each) for each in parts])
    return ValueCounts(
        counts=np.concatenate(
            [np.zeros((0, len(table)), dtype=np.int32)]
            + [
                count_matrix(each.units.code, code[end - len(each) : end], len(each.units.values), len(table))
                for each, end in zip(parts, ends, strict=True)
            ]
        ),
        unit=np.concatenate(
            [np.zeros(0, np.int64)]
            + [each.units.values.astype(np.int64) + at * width for at, each in enumerate(parts)]
        ),
        query=np.concatenate([np.zeros(0, np.int32), *(each.query[each.units.first] for each in parts)]),
        points=table,
        left_out=left_out,
    )


def point_columns(
    value: Floats, *, level: Level, points: Sequence[float] | None = None
) -> tuple[Ints, tuple[float, ...], tuple[LeftOut, ...]]:
    """The column of each value (n,) in the count matrix, -1 without one; the point of each column; what has none."""
    if points is None:
        table = np.unique(value)
        code: Ints = np.searchsorted(table, value)
    else:
        code = point_codes(value, points)
        table = np.asarray(points, dtype=np.float64)
        if level == "interval" and np.any(code < 0):
            on_points = np.where(code < 0, value, table[code])
            table = np.union1d(table, on_points)
            code = np.searchsorted(table, on_points)
    left_out = present({OFF_POINTS: int(np.count_nonzero(code < 0))})
    return code, tuple(float(point) for point in table), left_out


def coerce_numbers(target: object, name: str, n: int) -> None:
    """Checks that a column holds finite numbers and has shape (n,), and stores it as float64.

    Raises TidyDataError where it doesn't.
    """
    column = np.asarray(getattr(target, name), dtype=np.float64)
    if column.shape != (n,):
        raise TidyDataError(f"The column {name} has shape {column.shape} instead of ({n},).")
    if not np.isfinite(column).all():
        raise TidyDataError(f"The column {name} must hold finite numbers; leave out what is missing.")
    _set(target, name, column)


def has_duplicates(one: Ints, other: Ints) -> bool:
    """True if a pair of codes (n,), (n,) occurs twice."""
    pair = one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other
    pair.sort()
    return bool((pair[1:] == pair[:-1]).any())


def n_distinct(codes: Ints) -> int:
    """The number of different `codes` (n,)."""
    if _are_dense(codes):
        return int(np.count_nonzero(np.bincount(codes)))
    return len(sorted_codes(codes))

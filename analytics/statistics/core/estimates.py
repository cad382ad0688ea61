"""The result of every statistic: an `Estimate`, with what it `LeftOut`; and how it fails."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np


class AnalyticsError(Exception):
    """The input cannot be analysed; the message is a sentence fit for a screen."""


class TidyDataError(AnalyticsError):
    """An array has the wrong shape, or a value outside its range."""


class ParameterError(AnalyticsError):
    """A parameter of a statistic has a value that it cannot take."""


class UnknownNameError(AnalyticsError):
    """An arm, a system or a category was asked for that the data does not have."""


class DuplicateJudgmentError(AnalyticsError):
    """A rater judged an item twice where one judgment per item is required."""


@dataclass(frozen=True)
class LeftOut:
    """Things that a statistic could not use: `n` of them, and the reason as a noun phrase."""

    reason: str
    n: int


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval.

    `value`, `low` and `high` are None where they are undefined, and `undefined` then says why in a
    sentence: why the value is missing or, where a value is given, why the interval is. `n` counts the
    things averaged over, in `unit`; `left_out` those that were not. Shares are between 0 and 1. `note` is a sentence
    on an interval that can't be relied on as others can.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str
    level: float = 0.95
    method: str = ""
    left_out: tuple[LeftOut, ...] = ()
    undefined: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise ParameterError("An estimate must be a finite number; say why it is undefined instead.")
        if self.value is None and not self.undefined:
            raise ParameterError("An estimate without a value must say why it is undefined.")

    @property
    def is_defined(self) -> bool:
        return self.value is not None

    @property
    def known(self) -> float:
        """The value, of an estimate that is asked for only where it is defined."""
        assert self.value is not None
        return self.value

    @property
    def n_left_out(self) -> int:
        return sum(part.n for part in self.left_out)

    def shifted(self, by: float) -> Estimate:
        """The same estimate with `by` added to the value and both limits."""

        def add(number: float | None) -> float | None:
            return None if number is None else number + by

        return replace(self, value=add(self.value), low=add(self.low), high=add(self.high))

    def stretched(self, by: float) -> Estimate:
        """The same estimate with the value and both limits times `by`, a positive number."""

        def times(number: float | None) -> float | None:
            return None if number is None else number * by

        return replace(self, value=times(self.value), low=times(self.low), high=times(self.high))


def undefined(
    reason: str, *, n: int = 0, unit: str = "items", level: float = 0.95, left_out: Sequence[LeftOut] = ()
) -> Estimate:
    """An estimate that has no value, with the sentence that says why."""
    return Estimate(None, None, None, n, unit, level=level, left_out=tuple(left_out), undefined=reason)


def present(parts: Mapping[str, int]) -> tuple[LeftOut, ...]:
    """The reasons that apply: those with a count above zero, in the order given."""
    return tuple(LeftOut(reason, int(n)) for reason, n in parts.items() if n > 0)


def plain(result: Any) -> Any:
    """Any result of this package as plain numbers, strings, lists and dicts, ready for JSON."""
    if is_dataclass(result) and not isinstance(result, type):
        return {field.name: plain(getattr(result, field.name)) for field in fields(result)}
    if isinstance(result, np.ndarray):
        return result.tolist()
    if isinstance(result, np.generic):
        return result.item()
    if isinstance(result, Mapping):
        return {str(key): plain(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [plain(value) for value in result]
    return result

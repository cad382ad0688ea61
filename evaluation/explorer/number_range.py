"""Ranges of numbers, as an address writes them: `2..3` with both ends, `0.2..<0.3` without the upper, `4..`, `..<0`."""

import re
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Self

from django.db.models import Q
from django.db.models.lookups import GreaterThanOrEqual, LessThan, LessThanOrEqual

RANGE = re.compile(r"(?P<low>[^.<]*(?:\.[^.<]+)?)\.\.(?P<below><?)(?P<high>.*)")
# Numbers that differ by less, as a share of themselves, are the same: 0.1 + 0.2 lies at 0.3.
SAME = 5e-10


@dataclass(frozen=True)
class NumberRange:
    """Numbers from `low` to `high`, each infinite where there is none; `high` is not among them if `is_open`."""

    low: float
    high: float
    is_open: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """ValueError says what is wrong with it."""
        found = RANGE.fullmatch(text)
        if not found or not (found["low"] or found["high"]) or (found["below"] and not found["high"]):
            raise ValueError(f"{text!r} is no range: write it as 2..3, 0.2..<0.3 (without 0.3), 4.. or ..2.")
        low, high = _end(found["low"], -inf), _end(found["high"], inf)
        if low > high or (low == high and found["below"]):
            raise ValueError(f"The range {text!r} has no number in it.")
        return cls(low, high, bool(found["below"]))

    def __str__(self) -> str:
        return f"{_written(self.low)}..{'<' if self.is_open else ''}{_written(self.high)}"

    @property
    def in_words(self) -> str:
        low, high = _written(self.low), _written(self.high)
        if not high:
            return f"{low} or more"
        if not low:
            return f"below {high}" if self.is_open else f"{high} or less"
        return f"from {low} to below {high}" if self.is_open else f"from {low} to {high}"

    def holds(self, number: Any) -> Q:
        """Rows whose number, an expression, lies in it."""
        found = Q()
        if self.low > -inf:
            found &= Q(GreaterThanOrEqual(number, self.low - SAME * abs(self.low)))
        if self.high < inf:
            within = SAME * abs(self.high)
            found &= Q(
                LessThan(number, self.high - within)
                if self.is_open
                else LessThanOrEqual(number, self.high + within)
            )
        return found


def _end(text: str, missing: float) -> float:
    if not text:
        return missing
    try:
        number = float(text)
    except ValueError:
        number = inf
    if not isfinite(number):
        raise ValueError(f"{text!r} is no number that a range begins or ends with.")
    return number


def _written(end: float) -> str:
    return "" if abs(end) == inf else f"{end:.12g}"

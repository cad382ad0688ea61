"""Shares of simulated studies, with limits after Clopper and Pearson."""

from dataclasses import dataclass
from typing import Self

import scipy


@dataclass(frozen=True)
class Rate:
    """A share with its limits at 95 %; written in percent."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, n: int, studies: int) -> Self:
        limits = scipy.stats.binomtest(n, studies).proportion_ci(0.95, "exact")
        return cls(n / studies, float(limits.low), float(limits.high))

    def __str__(self) -> str:
        return f"{self.share:.1%} ({self.low:.1%} to {self.high:.1%})".replace("%", "")

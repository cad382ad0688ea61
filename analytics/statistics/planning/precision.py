"""The precision of designs by simulation: how wide an interval will be, and how often a difference will be seen.

Every simulated study is analysed as a report would do it: the interval over queries, one item each, and a difference
counts as seen where that interval leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from analytics.statistics.agreement.percentage import item_agreement
from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.tidy import FIRST, TIE, Floats
from analytics.statistics.planning.assumptions import RatingAssumptions, VoteAssumptions
from evaluation.design import generator

Planned: TypeAlias = Literal["win_rate", "agreement", "difference"]
STUDIES = 4_000
MOST_ITEMS = 100_000
MOST_RATERS = 50
# Below so many queries an interval does not cover as often as it says.
LEAST_ITEMS = 10


@dataclass(frozen=True)
class Precision:
    """A design of so many items, each judged by so many raters, over simulated studies.

    `half_width` is the median of the intervals' half widths, `half_width_90` the one that nine studies of ten stay
    below, `seen` the share of studies whose interval leaves out no difference (one half of an expected win rate, zero
    of ratings), None for agreement.
    """

    items: int
    raters: int
    half_width: float
    half_width_90: float
    seen: float | None


@dataclass(frozen=True)
class Wanted:
    """An aim of a plan: a half width that the median study reaches, or the share of studies that see the difference."""

    half_width: float | None = None
    seen: float | None = None

    def __post_init__(self) -> None:
        if (self.half_width is None) == (self.seen is None):
            raise ParameterError("A plan wants either a width or a chance to see the difference.")
        if self.half_width is not None and not self.half_width > 0:
            raise ParameterError("A half width is above 0.")
        if self.seen is not None and not 0 < self.seen < 1:
            raise ParameterError("The chance to see a difference lies between 0 and 1.")

    def is_met(self, found: Precision) -> bool:
        if self.half_width is not None:
            return found.half_width <= self.half_width
        return found.seen is not None and found.seen >= (self.seen or 0)


@dataclass(frozen=True)
class Model:
    """The figure that is planned for, and the assumptions that studies are drawn from."""

    planned: Planned
    assumed: VoteAssumptions | RatingAssumptions

    def means(self, studies: int, items: int, raters: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """The items' mean and variance in each simulated study: two of (studies,).

        Votes have few values, whose numbers in a study are multinomial; means and variances of normal values are drawn
        as such. So a study of many items takes no longer than one of few.
        """
        if isinstance(self.assumed, RatingAssumptions):
            spread = self.assumed.spread(raters)
            mean = self.assumed.difference + spread / np.sqrt(items) * rng.standard_normal(studies)
            return mean, spread**2 * rng.chisquare(items - 1, studies) / (items - 1)
        values, chances = self.distribution(raters)
        drawn = rng.multinomial(items, chances, size=studies)
        mean = drawn @ values / items
        return mean, ((drawn @ values**2) - items * mean**2).clip(0) / (items - 1)

    def variance(self, raters: int) -> float:
        """The variance over items of the mean of so many raters."""
        if isinstance(self.assumed, RatingAssumptions):
            return float(self.assumed.spread(raters) ** 2)
        values, chances = self.distribution(raters)
        return float(chances @ values**2 - (chances @ values) ** 2)

    def distribution(self, raters: int) -> tuple[Floats, Floats]:
        """The values that an item of votes can have and their probabilities: two of (v,)."""
        if not isinstance(self.assumed, VoteAssumptions):
            raise ParameterError("The values of ratings are no short list.")
        counts, chances = self.assumed.votes(raters)
        if self.planned == "agreement":
            each = item_agreement(counts)
        else:
            each = (counts[:, FIRST] + counts[:, TIE] / 2) / raters
        values, at = np.unique(each, return_inverse=True)
        sums = np.bincount(at, weights=chances)
        return values, sums / sums.sum()


def precision(
    model: Model, items: int, raters: int, *, seed: int, studies: int = STUDIES, level: float = 0.95
) -> Precision:
    """The precision of one design. Agreement needs at least two raters, every design at least ten items.

    Raises ParameterError for fewer, and for more than can be simulated.
    """
    if items < LEAST_ITEMS or items > MOST_ITEMS:
        raise ParameterError(f"A plan is for {LEAST_ITEMS} to {MOST_ITEMS:,} items.")
    if model.planned == "agreement" and raters == 1:
        raise ParameterError("Agreement needs at least two raters of an item.")
    if not 1 <= raters <= MOST_RATERS:
        raise ParameterError(f"A plan is for 1 to {MOST_RATERS} raters of an item.")
    rng = generator(seed, "plan", model.planned, items, raters)
    mean, variance = model.means(studies, items, raters, rng)
    low, high = _intervals(
        mean, np.sqrt(variance / items), items, level, is_share=model.planned != "difference"
    )
    half, null = (high - low) / 2, 0.5 if model.planned == "win_rate" else 0.0
    seen = None if model.planned == "agreement" else float(((low > null) | (high < null)).mean())
    return Precision(items, raters, float(np.median(half)), float(np.quantile(half, 0.9)), seen)


def least_items(
    model: Model, raters: int, wanted: Wanted, *, seed: int, studies: int = STUDIES, level: float = 0.95
) -> Precision | None:
    """The design with the fewest items that meets the aim, to within a fiftieth; None if 100,000 items do not."""

    def tried(items: int) -> Precision:
        return precision(model, items, raters, seed=seed, studies=studies, level=level)

    return _search(tried, wanted)


def _search(tried: Callable[[int], Precision], wanted: Wanted) -> Precision | None:
    """Doubles until the aim is met, then halves what is left between."""
    low, found = LEAST_ITEMS - 1, tried(LEAST_ITEMS)
    while not wanted.is_met(found):
        if found.items >= MOST_ITEMS:
            return None
        low, found = found.items, tried(min(2 * found.items, MOST_ITEMS))
    while found.items - low > max(1, found.items // 50):
        middle = (low + found.items) // 2
        if wanted.is_met(at := tried(middle)):
            found = at
        else:
            low = middle
    return found


def grid(
    model: Model, items: Sequence[int], raters: Sequence[int], *, seed: int, level: float = 0.95
) -> tuple[Precision, ...]:
    """The precision of every number of items with every number of raters, raters within items."""
    return tuple(precision(model, n, k, seed=seed, level=level) for n in items for k in raters)


def _intervals(mean: Floats, error: Floats, n: int, level: float, *, is_share: bool) -> tuple[Floats, Floats]:
    """The t intervals of `mean` (s,) with its standard `error`, of shares on the logit's scale as in a report."""
    import scipy

    t = float(scipy.stats.t.ppf((1 + level) / 2, n - 1))
    if not is_share:
        return mean - t * error, mean + t * error
    inside = (mean > 0) & (mean < 1)
    safe = np.where(inside, mean, 0.5)
    reach, middle = t * error / (safe * (1 - safe)), scipy.special.logit(safe)
    # Where all items give the same value a report gives Wilson's interval.
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    far = z**2 / (n + z**2)
    low = np.where(inside, scipy.special.expit(middle - reach), np.where(mean <= 0, 0.0, 1 - far))
    high = np.where(inside, scipy.special.expit(middle + reach), np.where(mean <= 0, far, 1.0))
    return low, high

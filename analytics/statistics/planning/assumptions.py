"""Assumptions that a study is planned with: a model of votes and one of ratings, given or taken from a pilot.

Votes on an item are Dirichlet-multinomial: every item has chances of its own for the labels, so that two raters of one
item agree more often than two of different items. Ratings are an item's mean and each rater's distance from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.tidy import FIRST, SECOND, TIE, Floats, Ints

# Beyond these the weights of the model would be zero or without end.
NOT_AT_ALL, ALWAYS = 1e-6, 1 - 1e-6
ROUNDING = 1e-9


@dataclass(frozen=True)
class VoteAssumptions:
    """Votes between two systems: the first one's expected win rate, the share of tie votes, and `two_votes`, the chance
    that two raters of an item give the same label."""

    win_rate: float
    ties: float
    two_votes: float

    def __post_init__(self) -> None:
        if not 0 <= self.ties < 1:
            raise ParameterError("The share of tie votes lies between 0 and 1, and is less than 1.")
        if not self.ties / 2 - ROUNDING <= self.win_rate <= 1 - self.ties / 2 + ROUNDING:
            low, high = self.ties / 2, 1 - self.ties / 2
            raise ParameterError(
                f"With {self.ties:.0%} ties, an expected win rate lies between {low:.1%} and {high:.1%}."
            )
        if not self.least_two_votes - ROUNDING <= self.two_votes <= 1:
            raise ParameterError(
                f"With these shares, two raters agree in {self.least_two_votes:.1%} of items by chance alone: their "
                "agreement lies between that and 100%."
            )

    @property
    def shares(self) -> Floats:
        """The shares of votes (3,) for the first system, the second one, and a tie."""
        found = np.zeros(3)
        found[[FIRST, SECOND, TIE]] = (
            self.win_rate - self.ties / 2,
            1 - self.win_rate - self.ties / 2,
            self.ties,
        )
        return found.clip(0)

    @property
    def least_two_votes(self) -> float:
        """The agreement of two votes on different items."""
        return float((self.shares**2).sum())

    @property
    def likeness(self) -> float:
        """The likeness of votes on one item beyond that of others, from 0 (none) to 1 (always alike)."""
        chance = self.least_two_votes
        return 0.0 if chance >= 1 else float(np.clip((self.two_votes - chance) / (1 - chance), 0, 1))

    def votes(self, raters: int) -> tuple[Ints, Floats]:
        """Every way in which `raters` can vote on an item, as counts (c, 3), and its probability (c,)."""
        import scipy

        counts = np.array([(a, b, raters - a - b) for a in range(raters + 1) for b in range(raters + 1 - a)])
        likeness = min(self.likeness, ALWAYS)
        if likeness > NOT_AT_ALL:
            some = self.shares > NOT_AT_ALL
            weights = self.shares[some] * (1 - likeness) / likeness
            log = scipy.stats.dirichlet_multinomial.logpmf(counts[:, some], weights, raters)
        else:
            log = scipy.stats.multinomial.logpmf(counts, raters, self.shares)
        return counts, np.exp(log)


@dataclass(frozen=True)
class RatingAssumptions:
    """Ratings of two systems on the same items, in points of their scale: the mean `difference`, the standard deviation
    `between_items` of the items' own differences, and `within_items` of one rater's rating of a response."""

    difference: float
    between_items: float
    within_items: float

    def __post_init__(self) -> None:
        if self.between_items < 0 or self.within_items < 0 or self.between_items + self.within_items == 0:
            raise ParameterError("Standard deviations are not negative, and one of the two is above 0.")

    def spread(self, raters: int) -> float:
        """The standard deviation of the difference of an item's two means of `raters` ratings each."""
        return float(np.sqrt(self.between_items**2 + 2 * self.within_items**2 / raters))


def votes_of_pilot(counts: Ints) -> VoteAssumptions:
    """The assumptions that a pilot's votes (items, 3) give; every item weighs the same, however often it was judged.

    Raises TidyDataError without an item that two raters judged, since their agreement can't be known then.
    """
    n = counts.sum(axis=1)
    if not (n >= 2).any():
        raise TidyDataError("A pilot needs items that at least two raters judged.")
    shares = (counts[n > 0] / n[n > 0, None]).mean(axis=0)
    several, times = counts[n >= 2], n[n >= 2]
    alike = ((several * (several - 1)).sum(axis=1) / (times * (times - 1))).mean()
    # Few items may agree less than chance has it, which no model of raters has.
    least = float((shares**2).sum())
    win_rate = float(shares[FIRST] + shares[TIE] / 2)
    return VoteAssumptions(win_rate, float(min(shares[TIE], 1 - 1e-9)), max(float(alike), least))


def ratings_of_pilot(first: Floats, second: Floats) -> RatingAssumptions:
    """The assumptions that a pilot's ratings of two systems give: two of (items, raters), nan where nobody rated.

    Raises TidyDataError with fewer than two items that both have ratings on, or none with two ratings of a response.
    """
    both = (np.isfinite(first).sum(axis=1) > 0) & (np.isfinite(second).sum(axis=1) > 0)
    if both.sum() < 2:
        raise TidyDataError("A pilot needs at least two items on which both systems were rated.")
    sides = [side[both] for side in (first, second)]
    n = [np.isfinite(side).sum(axis=1) for side in sides]
    squares = [((side - np.nanmean(side, axis=1, keepdims=True)) ** 2) for side in sides]
    freedom = sum(int((each - 1).sum()) for each in n)
    if not freedom:
        raise TidyDataError("A pilot needs responses that at least two raters rated.")
    within = float(sum(np.nansum(each) for each in squares) / freedom)
    differences = np.nanmean(sides[0], axis=1) - np.nanmean(sides[1], axis=1)
    noise = within * float((1 / n[0] + 1 / n[1]).mean())
    between = max(float(differences.var(ddof=1)) - noise, 0.0)
    if within == 0 and between == 0:
        raise TidyDataError("The pilot's ratings do not vary, so nothing can be planned from them.")
    return RatingAssumptions(float(differences.mean()), between**0.5, within**0.5)

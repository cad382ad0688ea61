"""Graded preferences: how much better one of two responses is, from -k (the first much better) to k (the second).

The label of a grade is its sign, so all figures of labels hold for graded preferences too; here stands what the
distance adds. Grades are canonical: towards the second response as stored, whichever was shown first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError, present
from analytics.statistics.core.resampling import ResampleSpec, mean_within
from analytics.statistics.core.tidy import UNKNOWN_ORDER, Floats, Ints
from analytics.statistics.core.values import NO_SYSTEM, Values

NO_ORDER = "judgments with unknown order on the screen"


@dataclass(frozen=True, eq=False)
class Grades:
    """One row per graded judgment of a group of raters; arrays of shape (n,).

    `item` and `rater` are codes, `first` says which canonical response was shown first (0, 1, or UNKNOWN_ORDER).
    """

    item: Ints
    rater: Ints
    grade: Floats
    first: Ints

    def __len__(self) -> int:
        return len(self.item)

    def as_values(self, query: Ints) -> Values:
        """The grades as ratings of whole items; `query` (n_items,) is each item's."""
        return Values(
            unit=self.item,
            query=query[self.item],
            system=np.full(len(self), NO_SYSTEM),
            part=np.zeros(len(self), dtype=np.int64),
            item=self.item,
            rater=self.rater,
            value=self.grade,
        )


def as_preference(grade: Floats, farthest: float) -> Floats:
    """Grades from -farthest to farthest as preferences from 0 (the first) over 1/2 (a tie) to 1, nan where absent.

    Raises ParameterError where `farthest` is not above 0.
    """
    if farthest <= 0:
        raise ParameterError("The farthest grade must be above 0.")
    return (grade / farthest + 1) / 2


def as_grade(preference: Floats, farthest: float) -> Floats:
    """The reverse of `as_preference`; rounded to what a mean of grades can differ by, so that -0.0 is 0."""
    return np.round((2 * preference - 1) * farthest, 9) + 0.0


def lean_to_first(grades: Grades, query: Ints, *, farthest: float, resample: ResampleSpec) -> Estimate:
    """Mean grade towards the response that was shown first; 0 where the order makes no difference.

    `query` (n_items,) is each item's, `farthest` the highest grade. Judgments whose order is not known are left out.
    """
    known = grades.first != UNKNOWN_ORDER
    # The second response is the positive side.
    side = np.where(grades.first[known] == 1, 1.0, -1.0)
    return mean_within(
        grades.grade[known] * side,
        query[grades.item[known]],
        (-farthest, farthest),
        unit="judgments",
        resample=resample,
        left_out=present({NO_ORDER: int(np.count_nonzero(~known))}),
        empty="The order on the screen is not known for any graded judgment.",
    )

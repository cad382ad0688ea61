"""Sets of entries made from drafted ones: decisions about them, how large their sets are, and what was added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.estimates import Estimate, TidyDataError
from analytics.statistics.core.resampling import SHARE, ResampleSpec, divide
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import Values
from analytics.statistics.ratings.scales import Distribution, MeanValue, distribution, mean_value

# Codes of decisions: accepted as it was, edited, merged with others, rejected.
N_DECISIONS = 4
# Codes of where a settled entry came from: a draft, a model's revision alone, or nowhere.
DRAFTED, REVISED, ADDED = range(3)
DRAFTED_ENTRIES = "drafted entries"
SETS = "sets"


@dataclass(frozen=True)
class Decisions:
    """Shares of the decisions about drafted entries, and nominal alpha between the raters of the same entry."""

    distribution: Distribution
    alpha: Estimate


@dataclass(frozen=True)
class SetFigures:
    """Means over settled sets: entries in a set, and the shares of a set that were added or came from a revision."""

    size: MeanValue
    added: MeanValue
    revised: MeanValue


@dataclass(frozen=True, eq=False)
class Composition:
    """One row per set, by ascending `judgment`; arrays of shape (s,). `added` and `revised` are shares of its size."""

    judgment: Ints
    size: Ints
    added: Floats
    revised: Floats


def compose(judgment: Ints, origin: Ints) -> Composition:
    """The sets that entries make up: `judgment` (n,) says which set an entry is in, `origin` (n,) where it is from.

    Raises TidyDataError where the shapes differ, or an origin is none of those.
    """
    if np.shape(judgment) != np.shape(origin) or np.ndim(judgment) != 1:
        raise TidyDataError("Every settled entry needs its judgment and where it came from.")
    if len(origin) and (np.min(origin) < DRAFTED or np.max(origin) > ADDED):
        raise TidyDataError("A settled entry comes from a draft, from a revision or from nowhere.")
    found, code = np.unique(judgment, return_inverse=True)
    n = len(found)
    size = np.bincount(code, minlength=n)
    added, revised = (
        divide(np.bincount(code[origin == kind], minlength=n).astype(np.float64), size.astype(np.float64))
        for kind in (ADDED, REVISED)
    )
    return Composition(found, size, added, revised)


def decisions(values: Values, *, resample: ResampleSpec) -> Decisions:
    """`values` has a row per rater and drafted entry, whose value is the decision's code.

    The unit of agreement is the drafted entry; entries that one rater alone decided about are left out of alpha. The
    entries of a query are dependent, so intervals are over queries.
    """
    points = range(N_DECISIONS)
    return Decisions(
        distribution(values, points, resample=resample, unit="decisions"),
        alpha_of_values(values, level="nominal", resample=resample, points=points, unit=DRAFTED_ENTRIES),
    )


def set_figures(size: Values, added: Values, revised: Values, *, resample: ResampleSpec) -> SetFigures:
    """Means of what `compose` found, each given as a row per rater and item; every set weighs the same."""
    return SetFigures(
        mean_value(size, resample=resample, unit=SETS),
        mean_value(added, resample=resample, unit=SETS, within=SHARE),
        mean_value(revised, resample=resample, unit=SETS, within=SHARE),
    )

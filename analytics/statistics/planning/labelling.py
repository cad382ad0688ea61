"""The number of items that people must judge for an interval of a given width where a judge judges more of them."""

from __future__ import annotations

import math

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.planning.precision import MOST_ITEMS, MOST_RATERS, Model
from analytics.statistics.replacement.prediction_powered import LEAST_LABELLED, Spread, labels_needed

LEAST_JUDGED = LEAST_LABELLED + 2


def labelled_items(
    model: Model, raters: int, correlation: float, judged: int, half_width: float, *, level: float = 0.95
) -> int | None:
    """The fewest items, each by so many `raters`, with which people's mean and a judge's on `judged` items (of which
    people's are a random part) have an interval of at most `half_width` to either side; None if all are too few.

    `correlation` is that of the judge with one person, over items. The mean of several people has less noise, and so a
    higher one. Raises ParameterError for one that these assumptions do not allow: no judge goes with one person better
    than what all people of an item have in common does.
    """
    if not LEAST_JUDGED <= judged <= MOST_ITEMS:
        raise ParameterError(f"A judge judges {LEAST_JUDGED} to {MOST_ITEMS:,} items of a plan.")
    most = highest_correlation(model)
    if not 0 <= correlation <= most + 1e-9:
        raise ParameterError(
            f"With these assumptions, a judge correlates with one person by 0 to {most:.2f}: what they do not share "
            "with other people nobody can foresee."
        )
    one = model.variance(1)
    spread = Spread(model.variance(raters), one, correlation * one)
    return labels_needed(spread, half_width, queries=judged, level=level)


def highest_correlation(model: Model) -> float:
    """The correlation over items of what people have in common with one person's answer."""
    one, many = model.variance(1), model.variance(MOST_RATERS)
    if one <= 0:
        return 0.0
    shared = (MOST_RATERS * many - one) / (MOST_RATERS - 1)
    return math.sqrt(min(max(shared / one, 0.0), 1.0))

"""Ratings and picks by the place on the screen at which a response stood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import (
    Range,
    ResampleSpec,
    mean_estimate,
    mean_within,
)
from analytics.statistics.core.tidy import Bools, Floats, Ints, distinct, split
from analytics.statistics.core.values import Values
from analytics.statistics.preferences.best_picks import Picks
from analytics.statistics.rankings.ranks import UNKNOWN_PLACE

UNKNOWN_RATED = "ratings of responses whose place on the screen is unknown"
UNKNOWN_PICKED = "picks of responses whose place on the screen is unknown"
NO_RESPONSE = "picks of no response"
NO_RATING = "No rating has this place."
NO_OTHER = "Nobody rated a response at this place beside one at another."
FEWER_RESPONSES = "picks among too few responses to have this place"


@dataclass(frozen=True)
class PlaceMean:
    """Responses shown at one place, from 0: their mean rating, and that of each less its rater's mean on the item.

    `test` is of no difference, by flipping the signs of queries, where it was asked for and there is a difference.
    """

    place: int
    mean: Estimate
    difference: Estimate
    test: Tested | None = None


@dataclass(frozen=True)
class PlaceMeans:
    """Every place that occurs, in order, and the mean at all of them; ratings of unknown place are left out."""

    places: tuple[PlaceMean, ...]
    overall: Estimate
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class PickedPlace:
    """Responses shown at one place, from 0: the share of picks that went to it, among those of items that have the
    place, and the mean of 1 / m over them, m the number of responses.

    `test` is of a share equal to chance, by flipping the signs of queries, where it was asked for.
    """

    place: int
    share: Estimate
    chance: float
    test: Tested | None = None


@dataclass(frozen=True)
class PickedPlaces:
    """Every place that occurs, in order; picks of no response and of unknown place are left out."""

    places: tuple[PickedPlace, ...]
    left_out: tuple[LeftOut, ...]


def place_means(
    values: Values,
    place: Ints,
    *,
    within: Range,
    resample: ResampleSpec,
    tests: Randomization | None = None,
) -> PlaceMeans:
    """The mean rating at each place (n,), UNKNOWN_PLACE where it is not known, and the mean difference of the ratings
    there from their rater's mean on the same item, with intervals over queries.

    `within` are the ends of the scale. Raters and items have differences of their own, so that neither strict raters
    nor items with more responses move them. Where the order is drawn at random or counterbalanced, a rater whom it does
    not move has differences of zero. Raises TidyDataError where the shapes differ.
    """
    if place.shape != (len(values),):
        raise TidyDataError("Ratings by place need a place for each rating.")
    known = place != UNKNOWN_PLACE
    rated, at = values.where(known), place[known]
    overall = mean_within(
        rated.value,
        rated.query,
        within,
        unit="ratings",
        resample=resample,
        empty="No rating has a known place.",
    )
    centred, compared = _around_own_mean(rated, at)
    return PlaceMeans(
        tuple(
            _mean_at(rated, centred, here, compared, code, within, resample, tests)
            for code, here in enumerate(split(at, int(at.max(initial=-1)) + 1))
            if len(here)
        ),
        overall,
        present({UNKNOWN_RATED: int(np.count_nonzero(~known))}),
    )


def _around_own_mean(values: Values, place: Ints) -> tuple[Floats, Bools]:
    """Each rating less its rater's mean on the item (n,), and which raters saw more than one place there (n,)."""
    width = int(values.rater.max(initial=0)) + 1
    given = values.item.astype(np.int64) * width + values.rater
    # The ratings of a judgment mostly stand together, so that there are fewer runs of them to tell apart than ratings.
    begins = np.append(True, given[1:] != given[:-1])[: len(given)]
    judgment = distinct(given[begins]).code[np.cumsum(begins) - 1]
    n = np.bincount(judgment)
    total = np.bincount(judgment, weights=values.value)
    # Where a judgment has more than one place, some of its ratings have another than the one that is kept.
    kept = np.zeros(len(n), dtype=place.dtype)
    kept[judgment] = place
    several = np.zeros(len(n), dtype=bool)
    several[judgment[place != kept[judgment]]] = True
    return values.value - (total / np.maximum(n, 1))[judgment], several[judgment]


def picked_places(
    picks: Picks,
    place: Ints,
    offered: Ints,
    *,
    resample: ResampleSpec,
    tests: Randomization | None = None,
) -> PickedPlaces:
    """The share of picks that went to each place, beside that by chance, with intervals over queries.

    `place` (n,) is that of the picked response, UNKNOWN_PLACE where it is not known, `offered` (n,) the number of
    responses that the item has. Picks of no response are left out, so that a rater whom the order does not move has the
    share of chance. Raises TidyDataError where the shapes differ, or a pick stands at a place that its item does not
    have.
    """
    if not place.shape == offered.shape == (len(picks),):
        raise TidyDataError("Picks by place need a place and a number of responses for each pick.")
    is_pick = picks.response >= 0
    known = is_pick & (place != UNKNOWN_PLACE)
    if (place[known] >= offered[known]).any():
        raise TidyDataError("A pick stands at a place that its item does not have.")
    at, size, query = place[known], offered[known], picks.query[known]
    return PickedPlaces(
        tuple(_share_at(at, size, query, code, resample, tests) for code in range(int(size.max(initial=0)))),
        present(
            {
                NO_RESPONSE: int(np.count_nonzero(~is_pick)),
                UNKNOWN_PICKED: int(np.count_nonzero(is_pick & ~known)),
            }
        ),
    )


def _mean_at(
    values: Values,
    centred: Floats,
    here: Ints,
    compared: Bools,
    place: int,
    within: Range,
    resample: ResampleSpec,
    tests: Randomization | None,
) -> PlaceMean:
    mean = mean_within(
        values.value[here], values.query[here], within, unit="ratings", resample=resample, empty=NO_RATING
    )
    used = here[compared[here]]
    query = values.query[used]
    difference = mean_estimate(centred[used], query, unit="ratings", resample=resample, empty=NO_OTHER)
    if tests is None or not len(used):
        return PlaceMean(place, mean, difference)
    return PlaceMean(place, mean, difference, sign_flip(centred[used], query, tests.of(place)).two_sided)


def _share_at(
    at: Ints, size: Ints, query: Ints, place: int, resample: ResampleSpec, tests: Randomization | None
) -> PickedPlace:
    used = size > place
    chance = 1 / size[used]
    test = None
    if tests is not None:
        test = sign_flip((at[used] == place) - chance, query[used], tests.of(place)).two_sided
    share = mean_estimate(
        (at[used] == place).astype(np.float64),
        query[used],
        unit="picks",
        resample=resample,
        left_out=present({FEWER_RESPONSES: int(np.count_nonzero(~used))}),
        empty="No pick is of an item that has this place.",
        share=True,
    )
    return PickedPlace(place, share, float(chance.mean()), test)

"""Ratings and picks by the place on the screen at which a response stood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import (
    Range,
    ResampleSpec,
    divide,
    mean_estimate,
    mean_within,
    query_estimates,
)
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.core.values import Values
from analytics.statistics.preferences.best_picks import Picks
from analytics.statistics.rankings.ranks import UNKNOWN_PLACE

UNKNOWN_RATED = "ratings of responses whose place on the screen is unknown"
UNKNOWN_PICKED = "picks of responses whose place on the screen is unknown"
NO_RESPONSE = "picks of no response"
FEWER_RESPONSES = "picks among too few responses to have this place"


@dataclass(frozen=True)
class PlaceMean:
    """Responses shown at one place, from 0: their mean rating, and that less the mean at all places."""

    place: int
    mean: Estimate
    difference: Estimate


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


def place_means(values: Values, place: Ints, *, within: Range, resample: ResampleSpec) -> PlaceMeans:
    """The mean rating at each place (n,), UNKNOWN_PLACE where it is not known, and its difference from the mean over
    all of them, with intervals over queries.

    `within` are the ends of the scale. Where the order is drawn at random or counterbalanced, a rater whom it does not
    move has differences of zero. A place beyond the responses of some items is compared with all items' mean. Raises
    TidyDataError where the shapes differ.
    """
    if place.shape != (len(values),):
        raise TidyDataError("Ratings by place need a place for each rating.")
    known = place != UNKNOWN_PLACE
    value, query, at = values.value[known], values.query[known], place[known]
    overall = mean_within(
        value, query, within, unit="ratings", resample=resample, empty="No rating has a known place."
    )
    return PlaceMeans(
        tuple(_mean_at(value, query, at == code, int(code), within, resample) for code in np.unique(at)),
        overall,
        present({UNKNOWN_RATED: int(np.count_nonzero(~known))}),
    )


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
    value: Floats, query: Ints, here: Bools, place: int, within: Range, resample: ResampleSpec
) -> PlaceMean:
    empty = "No rating has this place."
    mean = mean_within(value[here], query[here], within, unit="ratings", resample=resample, empty=empty)
    own = here.astype(np.float64)
    (difference,) = query_estimates(
        np.stack([value * own, own, value, np.ones(len(value))], axis=1),
        query,
        _less_overall,
        n=int(here.sum()),
        unit="ratings",
        resample=resample,
        empty=empty,
        scales=["plain"],
    )
    return PlaceMean(place, mean, difference)


def _less_overall(sums: Floats) -> Floats:
    return divide(sums[:, :1], sums[:, 1:2]) - divide(sums[:, 2:3], sums[:, 3:])


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

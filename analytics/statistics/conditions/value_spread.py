"""Differences of ratings over the values of an attribute: the spread of a response's relevance.

Where it is zero, a response that was written without knowing the attribute serves every value of it alike
(ContextEval, section 6). Mean ratings per attribute value are `scales.means_by_group`, and the correlation of
people's and a judge's mean ratings per item and value is `ratings_vs_people.compare_means`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.resampling import ResampleSpec, mean_within, query_estimates, shares_of_last
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.core.values import Values, n_distinct, point_codes, unit_means

OFF_DIFFERENCES = "spreads that are not a difference between two points of the scale"
ONE_VALUE = "attributes with only one value rated"
NOT_ALL_VALUES = "ratings of an attribute that do not cover all of its values"


@dataclass(frozen=True, eq=False)
class Spreads:
    """The largest difference over an attribute's values, one entry per row of ratings of it; arrays of shape (s,).

    `item`, `attribute` and `query` are codes, `rater` too, -1 where the ratings are means over raters.
    """

    item: Ints
    attribute: Ints
    query: Ints
    rater: Ints
    spread: Floats
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class SpreadShares:
    """Mean spread, and how often each of `differences` occurs: counts, and shares with intervals over queries."""

    mean: Estimate
    differences: tuple[float, ...]
    counts: tuple[int, ...]
    shares: tuple[Estimate, ...]
    n_queries: int


def spreads(values: Values, attribute: Ints) -> Spreads:
    """Largest less smallest rating that one rater gives to an attribute's values on one item (5, 5, 3, 3, 2: 3).

    `attribute` (n,) is the code of the attribute that the row's part is a value of. A rater who did not rate all of an
    attribute's values that anyone rated on the item is left out, since fewer ratings differ less. Raises TidyDataError
    where a row has no attribute.
    """
    return _spreads(values.item, attribute, values.part, values.query, values.rater, values.value)


def spreads_of_means(values: Values, attribute: Ints) -> Spreads:
    """The same of the mean ratings over raters, one spread per item and attribute."""
    _check(attribute, len(values))
    means = unit_means(values)
    _, first = np.unique(values.unit, return_index=True)
    nobody = np.full(len(means), -1)
    return _spreads(means.item, attribute[first], means.part, means.query, nobody, means.mean)


def adapted_spreads(values: Values, attribute: Ints, value: Ints, setting: Ints) -> Spreads:
    """The same over items: of responses that were each written for one value (ContextEval, section 7).

    `value` (n,) is the code of the attribute's value that the row is about, `setting` (n,) what else tells the items of
    a query apart, such as system and arm. The spread is over the values of an attribute on one query in one setting,
    of one rater's ratings; those of several responses for one value are averaged. Items on which several values of an
    attribute were rated are of responses that suit all of them, and left to `spreads`.

    `item` of the result is the code of a query in a setting. Raises TidyDataError where a row has no attribute.
    """
    return _adapted(values, attribute, value, setting, values.rater)


def adapted_spreads_of_means(values: Values, attribute: Ints, value: Ints, setting: Ints) -> Spreads:
    """The same of the mean of all ratings of each value: raters seldom see two responses to one query."""
    return _adapted(values, attribute, value, setting, np.full(len(values), -1))


def _adapted(values: Values, attribute: Ints, value: Ints, setting: Ints, rater: Ints) -> Spreads:
    _check(attribute, len(values))
    one = _is_single(values.item, attribute, value)
    query = values.query[one].astype(np.int64)
    width = int(np.max(setting, initial=0)) + 1
    place = np.unique(query * width + setting[one], return_inverse=True)[1]
    rows = np.column_stack([place, attribute[one], value[one], rater[one], query])
    told, code, n = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    mean = np.bincount(code.ravel(), weights=values.value[one], minlength=len(told)) / np.maximum(n, 1)
    item, of, part, who, queries = told.T
    return _spreads(item, of, part, queries, who, mean)


def _is_single(item: Ints, attribute: Ints, value: Ints) -> Bools:
    """True for rows (n,) on whose item one value alone of the attribute was rated."""
    pair = item.astype(np.int64) * (int(attribute.max(initial=0)) + 1) + attribute
    _, asked = np.unique(pair, return_inverse=True)
    n_values: Ints = _n_values(asked, value, int(asked.max(initial=-1)) + 1)[asked]
    return np.equal(n_values, 1)


def spread_shares(
    found: Spreads, points: Sequence[float], *, resample: ResampleSpec, nearest: bool = False
) -> SpreadShares:
    """Mean of the spreads and the share of each difference that two of the scale's `points` can have.

    Each spread weighs the same. With `nearest`, a spread between two differences, such as one of means, counts for
    the nearer, midway for the higher; without it such spreads are in the mean but not in the shares.
    """
    scale = np.asarray(points, dtype=np.float64)
    differences: Floats = np.unique(np.round(np.abs(scale[:, None] - scale[None, :]), 9))
    spread: Floats = found.spread
    if nearest:
        middle = (differences[1:] + differences[:-1]) / 2
        spread = np.take(differences, np.searchsorted(middle, spread + 1e-9, side="right"))
    code = point_codes(spread, differences.tolist())
    used = code >= 0
    given = np.eye(len(differences))[code[used]]
    unit = "spreads"
    empty = "No attribute has ratings of two of its values."
    shares = query_estimates(
        np.column_stack([given, np.ones(len(given))]),
        found.query[used],
        shares_of_last,
        n=len(given),
        unit=unit,
        resample=resample,
        left_out=found.left_out + present({OFF_DIFFERENCES: int(np.count_nonzero(~used))}),
        empty=empty,
        scales=["share"] * len(differences),
    )
    return SpreadShares(
        mean=mean_within(
            found.spread,
            found.query,
            (0.0, float(scale.max() - scale.min())),
            unit=unit,
            resample=resample,
            left_out=found.left_out,
            empty=empty,
        ),
        differences=tuple(differences.tolist()),
        counts=tuple(int(n) for n in given.sum(axis=0)),
        shares=shares,
        n_queries=n_distinct(found.query),
    )


def _spreads(item: Ints, attribute: Ints, part: Ints, query: Ints, rater: Ints, value: Floats) -> Spreads:
    _check(attribute, len(value))
    pair = item.astype(np.int64) * (int(attribute.max(initial=0)) + 1) + attribute
    _, asked = np.unique(pair, return_inverse=True)
    n_asked = int(asked.max(initial=-1)) + 1
    n_values = _n_values(asked, part, n_asked)
    judged = asked * (int(rater.max(initial=-1)) + 2) + (rater + 1)
    _, first, code = np.unique(judged, return_index=True, return_inverse=True)
    low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    np.minimum.at(low, code, value)
    np.maximum.at(high, code, value)
    wanted = n_values[asked[first]]
    single = wanted < 2
    partial = ~single & (np.bincount(code, minlength=len(first)) < wanted)
    kept = first[~(single | partial)]
    left_out = present(
        {ONE_VALUE: int(np.count_nonzero(n_values < 2)), NOT_ALL_VALUES: int(np.count_nonzero(partial))}
    )
    spread = (high - low)[~(single | partial)]
    return Spreads(item[kept], attribute[kept], query[kept], rater[kept], spread, left_out)


def _n_values(asked: Ints, part: Ints, n_asked: int) -> Ints:
    """Number of different parts that anyone rated, per attribute of an item (n_asked,)."""
    pair = asked.astype(np.int64) * (int(part.max(initial=0)) + 1) + part
    return np.bincount(asked[np.unique(pair, return_index=True)[1]], minlength=n_asked)


def _check(attribute: Ints, n: int) -> None:
    if np.shape(attribute) != (n,) or (n and int(np.min(attribute)) < 0):
        raise TidyDataError("Spreads need the code of an attribute for each row.")

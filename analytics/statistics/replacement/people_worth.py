"""The number of people that a judge is worth: as many as predict a further person's answer as well as the judge does.

One answer of a unit is held out, and k of the others predict it: by their most common label, ties shared evenly, or by
their mean. What the judge says instead is as good as some k. This is survey equivalence (Resnick, Kong, Schoenebeck and
Weninger 2021) with agreement, and for numbers the squared error, as its score. Nothing is drawn: of labels all held-out
answers and all sets of k others are counted, and of numbers the error that this comes to follows from their variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.counts import collapse
from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present, undefined
from analytics.statistics.core.jackknife import SAME, leave_out, t_interval
from analytics.statistics.core.resampling import (
    ResampleSpec,
    divide,
    query_estimates,
    shares_of_last,
    sums_by_query,
)
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import Values, unit_means

# More people than these predict hardly better, and are hardly ever asked.
MOST_PEOPLE = 10
FEW_ANSWERS = "{unit} with fewer than {n} answers"
NO_JUDGE = "{unit} without an answer of the judge"
NOTHING = "There are no {unit} that two people and the judge answered."
NEVER_DIFFER = "People never differ, so that any number of them predicts equally well."
# Of fewer queries the limits hold the truth less often than they say (docs/statistics.md).
LEAST_QUERIES = 50
FEW_QUERIES = f"An interval needs at least {LEAST_QUERIES} queries."
NO_INTERVAL = "There is no variation across queries, so there is no interval."


@dataclass(frozen=True)
class PeopleWorth:
    """The judge's place on the curve of 0, 1, 2, ... people, the fewest that predict as well as it does.

    `curve` has the agreement (or, of numbers, the root mean square error) of so many people with a further one,
    `judge` the judge's. `value` is None where no number of people on the curve predicts as well: `beyond` then is
    true, and the worth more than `most`, the last of the curve; of numbers there may be no such number at all.
    `low` and `high` are limits, None beyond the curve. `others` is the number of people beside the one held out that
    half of the units or more have; the curve of numbers goes on beyond it by its formula alone. `undefined` says why
    there is no worth, or no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    beyond: bool
    most: int | None
    others: int | None
    curve: tuple[Estimate, ...]
    judge: Estimate
    undefined: str


def worth_by_labels(
    people: Ints, judge: Ints, query: Ints, *, unit: str, resample: ResampleSpec
) -> PeopleWorth:
    """Of labels: people (n, k) are counts of labels, judge (n,) a label or negative, query (n,).

    The curve is over the same units throughout: those with at least as many answers as half of them have. Nobody
    guesses, 1 / k. Between two numbers of people the curve is a straight line; numbers that add nothing (two people
    agree with a third as one does) are no points of it. The limits are where the interval of the judge's agreement less
    the curve's, a t interval of the jackknife over queries, first and last holds zero. Raises TidyDataError where the
    judge has another number of units or an unknown label.
    """
    if judge.shape != (len(people),) or (len(judge) and int(judge.max()) >= people.shape[1]):
        raise TidyDataError("The judge must give one label of the question for each unit.")
    n = people.sum(axis=1)
    labelled = judge >= 0
    several = labelled & (n > 1)
    if not several.any():
        return _nothing(unit, resample.level)
    answers = int(np.median(n[several]))
    most = min(answers - 1, MOST_PEOPLE)
    used = labelled & (n > most)
    left_out = present(
        {
            FEW_ANSWERS.format(unit=unit, n=most + 1): int(np.count_nonzero(labelled & (n <= most))),
            NO_JUDGE.format(unit=unit): int(np.count_nonzero(~labelled)),
        }
    )
    patterns, _, inverse = collapse(people[used])
    curve = _agreement_of(patterns, most)[inverse]
    own = people[used, judge[used]] / n[used]
    columns = np.column_stack([curve, own, np.ones(len(own))])
    estimates = query_estimates(
        columns,
        query[used],
        shares_of_last,
        n=len(own),
        unit=unit,
        resample=resample,
        left_out=left_out,
        empty=NOTHING.format(unit=unit),
        scales=["share"] * (most + 2),
    )
    gaps = leave_out(sums_by_query(columns, query[used]), _gaps)
    value, beyond = _crossing(gaps.value)
    low = high = None
    if gaps.queries < LEAST_QUERIES:
        reason = FEW_QUERIES
    elif not np.isfinite(gaps.error).all() or gaps.error.max() <= SAME:
        reason = NO_INTERVAL
    else:
        limits = [
            t_interval(float(gap), float(error), gaps.groups, "plain", resample.level)
            for gap, error in zip(gaps.value, gaps.error, strict=True)
        ]
        lowest, highest = (np.array(each) for each in zip(*limits, strict=True))
        low, high = _crossing(lowest)[0], _last_crossing(highest)
        reason = ""
    return PeopleWorth(value, low, high, beyond, most, most, estimates[:-1], estimates[-1], reason)


def worth_by_numbers(people: Values, judge: Values, *, unit: str, resample: ResampleSpec) -> PeopleWorth:
    """Of numbers: over the units that two people or more and the judge rated; codes of units mean the same in both.

    The mean of k people misses a further one by s (1 + 1/k) in the mean square, where s is the variance of a unit's
    ratings (n - 1 below), whatever k: what is known of two people gives the whole curve. The worth is 1 / (e/s - 1),
    with e the judge's mean squared miss; a judge that misses by no more than s is worth more than any number. Limits
    are those of log(e/s), by a t interval of the jackknife over queries.
    """
    ours, own = unit_means(people), unit_means(judge)
    _, at, at_own = np.intersect1d(ours.unit, own.unit, assume_unique=True, return_indices=True)
    n = ours.n[at]
    several = n > 1
    left_out = present(
        {
            FEW_ANSWERS.format(unit=unit, n=2): int(np.count_nonzero(~several)),
            NO_JUDGE.format(unit=unit): len(ours) - len(at),
        }
    )
    if not several.any():
        return _nothing(unit, resample.level, left_out)
    others = int(np.median(n[several])) - 1
    place = np.full(int(ours.unit.max()) + 1, -1)
    place[ours.unit] = np.arange(len(ours))
    row = place[people.unit]
    squares = np.bincount(row, weights=(people.value - ours.mean[row]) ** 2, minlength=len(ours))
    around = squares[at][several] / n[several]
    spread = around * n[several] / (n[several] - 1)
    miss = around + (own.mean[at_own] - ours.mean[at])[several] ** 2
    columns, query = np.column_stack([spread, miss, np.ones(len(miss))]), ours.query[at][several]
    curve = query_estimates(
        columns,
        query,
        _root_errors,
        n=len(miss),
        unit=unit,
        resample=resample,
        left_out=left_out,
        empty=NOTHING.format(unit=unit),
        scales=["plain"] * (MOST_PEOPLE + 1),
    )
    found = leave_out(sums_by_query(columns, query), _log_ratio)
    ratio, error = float(found.value[0]), float(found.error[0])
    if not np.isfinite(ratio):
        return PeopleWorth(None, None, None, False, None, others, curve[:-1], curve[-1], NEVER_DIFFER)
    value = _people_of(ratio)
    reason = (
        FEW_QUERIES if found.queries < LEAST_QUERIES else NO_INTERVAL if not SAME < error < np.inf else ""
    )
    low = high = None
    if not reason:
        lowest, highest = t_interval(ratio, error, found.groups, "plain", resample.level)
        low, high = _people_of(highest), _people_of(lowest)
    return PeopleWorth(value, low, high, value is None, None, others, curve[:-1], curve[-1], reason)


def _nothing(unit: str, level: float, left_out: tuple[LeftOut, ...] = ()) -> PeopleWorth:
    reason = NOTHING.format(unit=unit)
    judge = undefined(reason, unit=unit, level=level, left_out=left_out)
    return PeopleWorth(None, None, None, False, None, None, (), judge, reason)


def _agreement_of(patterns: Ints, most: int) -> Floats:
    """The expected agreement (p, most + 1) of a held-out answer with the most common label of 0 to `most` others.

    patterns (p, k) are counts of labels, each of more than `most` answers.
    """
    import scipy

    n = patterns.sum(axis=1)
    sets = scipy.special.comb((n - 1)[:, None], np.arange(most + 1)[None, :])
    found = np.zeros((len(patterns), most + 1))
    for label in range(patterns.shape[1]):
        held = patterns[:, label] > 0
        others = patterns[held].copy()
        others[:, label] -= 1
        credit = sum(_with_count(others, label, count, most) for count in range(most + 1))
        found[held] += (patterns[held, label] / n[held])[:, None] * credit / sets[held]
    return found


def _with_count(others: Ints, label: int, count: int, most: int) -> Floats:
    """Number of sets of 0 to `most` answers (p, most + 1) in which `label` occurs `count` times and none more often,
    each divided by the number of labels that do."""
    import scipy

    # By how many answers were drawn and how many other labels have as many as this one.
    ways = np.zeros((len(others), most + 1, others.shape[1]))
    ways[:, count, 0] = scipy.special.comb(others[:, label], count)
    for other in range(others.shape[1]):
        if other == label:
            continue
        grown = np.zeros_like(ways)
        for drawn in range(count + 1):
            part = scipy.special.comb(others[:, other], drawn)[:, None, None] * ways[:, : most + 1 - drawn]
            if drawn == count:
                grown[:, drawn:, 1:] += part[:, :, :-1]
            else:
                grown[:, drawn:] += part
        ways = grown
    return np.asarray((ways / np.arange(1, others.shape[1] + 1)).sum(axis=2))


def _gaps(sums: Floats) -> Floats:
    """The judge's agreement less the curve's (r, most + 1), from sums of the curve, the judge's and the units."""
    shares = divide(sums[:, :-1], sums[:, -1:])
    return np.asarray(shares[:, -1:] - shares[:, :-1])


def _crossing(gaps: Floats) -> tuple[float | None, bool]:
    """The place at which the line through `gaps` reaches zero, with False; None, True where it never does.

    The line goes through those that are below all before them: two people are as good as one, and no further step.
    """
    lowest = np.minimum.accumulate(np.concatenate([[np.inf], gaps[:-1]]))
    places = np.flatnonzero(gaps < lowest - SAME)
    reached = np.flatnonzero(gaps[places] <= SAME)
    if not len(reached):
        return None, True
    if reached[0] == 0:
        return 0.0, False
    before, after = places[reached[0] - 1], places[reached[0]]
    part = gaps[before] / (gaps[before] - gaps[after])
    return float(before + part * (after - before)), False


def _last_crossing(gaps: Floats) -> float | None:
    """The place behind which the line through `gaps` stays below zero; None where it ends above."""
    above = np.flatnonzero(gaps > 0)
    if not len(above):
        return 0.0
    last = int(above[-1])
    if last == len(gaps) - 1:
        return None
    return float(last + gaps[last] / (gaps[last] - gaps[last + 1]))


def _log_ratio(sums: Floats) -> Floats:
    """The logarithm of the judge's mean squared miss over people's variance (r, 1), nan where one of them is zero."""
    ratio = divide(sums[:, 1:2], sums[:, 0:1])
    return np.log(ratio, out=np.full(ratio.shape, np.nan), where=ratio > SAME)


def _people_of(log_ratio: float) -> float | None:
    """Number of people whose mean misses by so much; None where no number of them does."""
    return None if log_ratio <= SAME else 1 / float(np.expm1(log_ratio))


def _root_errors(sums: Floats) -> Floats:
    """Root mean square errors of 1 to MOST_PEOPLE people and of the judge (r, MOST_PEOPLE + 1)."""
    spread, miss = (divide(sums[:, each : each + 1], sums[:, -1:]) for each in (0, 1))
    people = spread * (1 + 1 / np.arange(1, MOST_PEOPLE + 1))
    return np.asarray(np.sqrt(np.concatenate([people, miss], axis=1)))

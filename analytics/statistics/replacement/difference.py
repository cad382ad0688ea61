"""A judge's mean less people's, on what both judged: ratings, shares of an option, expected win rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.effect_sizes import paired_effect
from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip
from analytics.statistics.core.resampling import Range, ResampleSpec, mean_estimate, mean_within
from analytics.statistics.core.tidy import Floats, Ints, distinct
from analytics.statistics.core.values import Values, unit_means

ONLY_JUDGE = "{unit} that only the judge answered"
ONLY_PEOPLE = "{unit} that only people answered"
NOTHING_SHARED = "There are no {unit} that both people and the judge answered."


@dataclass(frozen=True, eq=False)
class SharedScores:
    """People's mean and the judge's of each unit that either answered; arrays (u,), nan where one of them did not.

    `query` and `system` are codes; `system` is NO_SYSTEM where the unit is of none.
    """

    people: Floats
    judge: Floats
    query: Ints
    system: Ints


@dataclass(frozen=True)
class JudgeMinusPeople:
    """The means of both on the units that both answered, and the judge's less people's.

    `effect` is Cohen's d of paired measures, of the queries' differences. `test` is of no difference; None where there
    is no such unit.
    """

    people: Estimate
    judge: Estimate
    difference: Estimate
    effect: Estimate
    test: Tested | None


def shared_scores(people: Values, judge: Values) -> SharedScores:
    """Both groups' unit means side by side; codes of units must mean the same in both."""
    one, other = unit_means(people), unit_means(judge)
    units, first, code = distinct(np.concatenate([one.unit, other.unit]))
    ours, own = np.full(len(units), np.nan), np.full(len(units), np.nan)
    ours[code[: len(one.unit)]] = one.mean
    own[code[len(one.unit) :]] = other.mean
    query, system = (
        np.concatenate([getattr(each, name) for each in (one, other)])[first] for name in ("query", "system")
    )
    return SharedScores(ours, own, query, system)


def judge_minus_people(
    people: Floats,
    judge: Floats,
    query: Ints,
    *,
    within: Range,
    unit: str,
    resample: ResampleSpec,
    tests: Randomization,
    left_out: tuple[LeftOut, ...] = (),
) -> JudgeMinusPeople:
    """Means of people and of a judge over the units (n,) that both scored, and the judge's less people's.

    people and judge (n,) hold one score for each unit, nan where there is none; query (n,). Scores lie `within` a
    range. Each unit weighs the same. The difference is taken unit by unit, so that how hard a unit is cancels out; its
    interval is over queries, its test a sign-flip test over them. `left_out` is what has no score of either. Raises
    TidyDataError where the columns don't fit.
    """
    if not people.shape == judge.shape == query.shape:
        raise TidyDataError("People and the judge need one score for each unit.")
    known = np.isfinite(people), np.isfinite(judge)
    used = known[0] & known[1]
    left_out += present(
        {
            ONLY_PEOPLE.format(unit=unit): int(np.count_nonzero(known[0] & ~known[1])),
            ONLY_JUDGE.format(unit=unit): int(np.count_nonzero(known[1] & ~known[0])),
        }
    )
    empty, of = NOTHING_SHARED.format(unit=unit), query[used]
    ours, own = (
        mean_within(each[used], of, within, unit=unit, resample=resample, left_out=left_out, empty=empty)
        for each in (people, judge)
    )
    gap = (judge - people)[used]
    difference = mean_estimate(gap, of, unit=unit, resample=resample, left_out=left_out, empty=empty)
    test = sign_flip(gap, of, tests).two_sided if used.any() else None
    effect = paired_effect(gap, of, level=resample.level)
    return JudgeMinusPeople(ours, own, difference, effect, test)

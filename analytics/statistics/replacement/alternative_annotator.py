"""The alternative-annotator test: may a judge stand in for one of the annotators?

Source: Calderon, Reichart and Dror 2025 ("The Alternative Annotator Test for LLM-as-a-Judge", sections 3.1 to 3.4), and
its released code where the paper leaves a choice. Each annotator is left out in turn; on every item of theirs the
judge and they are scored by how well they fit the others, by accuracy (labels) or by minus the root mean square error
(numbers). The judge wins against an annotator where a one-sided t-test of the items finds it less than epsilon behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError, TidyDataError, present, undefined
from analytics.statistics.core.jackknife import Jackknife, error_of
from analytics.statistics.core.resampling import ResampleSpec, divide, estimate_from, sum_by
from analytics.statistics.core.tidy import Bools, Floats, Ints

LEAST_ANNOTATORS = 3
LEAST_ITEMS = 30
# The false discovery rate at which annotators are counted as beaten, and the winning rate that passes.
FDR, PASSING = 0.05, 0.5
# Scores that differ by less are equal: squares of means differ in their last bits.
SAME = 1e-9
NO_JUDGE = "answers to what the judge did not answer"
ALONE = "answers to what no other person answered"
TOO_FEW_ITEMS = f"answers of people with fewer than {LEAST_ITEMS} {{unit}}"
TOO_FEW_ANNOTATORS = (
    f"The test needs at least {LEAST_ANNOTATORS} people with {LEAST_ITEMS} {{unit}} each; there are {{n}}."
)


@dataclass(frozen=True, eq=False)
class SharedAnswers:
    """People's answers, arrays (n,): `unit` and `rater` are codes, `value` a label's code or a number.

    `judge` (units,) has the judge's answer to each unit, nan where it gave none, `query` (units,) the units' queries.
    """

    unit: Ints
    rater: Ints
    value: Floats
    judge: Floats
    query: Ints

    def __post_init__(self) -> None:
        if (
            not self.unit.shape == self.rater.shape == self.value.shape
            or self.judge.shape != self.query.shape
        ):
            raise TidyDataError("Each answer needs a unit and a rater, and each unit a query.")


@dataclass(frozen=True)
class LeftOutAnnotator:
    """One annotator against the judge, over `n` items of theirs that others answered too.

    `judge` and `own` are the shares of items on which the judge, and the annotator, fit the others at least as well as
    the other of the two (rho f and rho h). `p_adjusted` is that of Benjamini and Yekutieli.
    """

    rater: int
    n: int
    judge: float
    own: float
    p_value: float
    p_adjusted: float

    @property
    def is_beaten(self) -> bool:
        return self.p_adjusted <= FDR


@dataclass(frozen=True)
class AlternativeAnnotator:
    """The test's outcome. `advantage` is the mean over annotators of their `judge` (rho), with its interval over
    queries.

    `winning_rate` (omega) is the share of annotators that the judge beats, None where the test can't be made; it
    `passes` at one half.
    """

    epsilon: float
    advantage: Estimate
    annotators: tuple[LeftOutAnnotator, ...]
    winning_rate: float | None
    passes: bool | None


def alternative_annotator(
    given: SharedAnswers, *, epsilon: float, numbers: bool, unit: str, resample: ResampleSpec
) -> AlternativeAnnotator:
    """The test of one judge against the people of `given`; of `numbers` the score is minus the root mean square error.

    Annotators with fewer than 30 usable items are left out; below three others the test is undefined. Items count as
    independent in it, as published; the interval of the advantage is over queries. Raises ParameterError where
    epsilon does not lie from 0 to 1.
    """
    if not 0 <= epsilon <= 1:
        raise ParameterError("Epsilon lies from 0 to 1.")
    others = np.bincount(given.unit, minlength=len(given.judge))[given.unit] - 1
    answered = np.isfinite(given.judge[given.unit])
    usable = answered & (others > 0)
    per_rater = np.bincount(given.rater[usable], minlength=int(given.rater.max(initial=-1)) + 1)
    enough = usable & (per_rater[given.rater] >= LEAST_ITEMS)
    parts = present(
        {
            NO_JUDGE: int(np.count_nonzero(~answered)),
            ALONE: int(np.count_nonzero(answered & (others == 0))),
            TOO_FEW_ITEMS.format(unit=unit): int(np.count_nonzero(usable & ~enough)),
        }
    )
    raters = np.flatnonzero(per_rater >= LEAST_ITEMS)
    if len(raters) < LEAST_ANNOTATORS:
        reason = TOO_FEW_ANNOTATORS.format(unit=unit, n=len(raters))
        nothing = undefined(reason, unit="answers", level=resample.level, left_out=parts)
        return AlternativeAnnotator(epsilon, nothing, (), None, None)
    behind = (_behind_of_numbers if numbers else _behind_of_labels)(given)[enough]
    rater = np.searchsorted(raters, given.rater[enough])
    judge_wins, own_wins = behind <= SAME, behind >= -SAME
    n = np.bincount(rater, minlength=len(raters))
    shares = [sum_by(rater, wins.astype(np.float64), len(raters)) / n for wins in (judge_wins, own_wins)]
    p_values = _t_tests(own_wins.astype(np.int64) - judge_wins, rater, n, epsilon)
    adjusted = benjamini_yekutieli(p_values.tolist())
    annotators = tuple(
        LeftOutAnnotator(
            rater=int(raters[row]), n=int(n[row]), judge=won, own=kept, p_value=p, p_adjusted=after
        )
        for row, (won, kept, p, after) in enumerate(
            zip(*(each.tolist() for each in shares), p_values.tolist(), adjusted, strict=True)
        )
    )
    rate = sum(each.is_beaten for each in annotators) / len(annotators)
    query = given.query[given.unit[enough]]
    value, found = _advantage(judge_wins, rater, query, n)
    advantage = estimate_from(
        value,
        float(found.error[0]),
        found,
        n=int(n.sum()),
        unit="answers",
        level=resample.level,
        left_out=parts,
        scale="share",
    )
    return AlternativeAnnotator(epsilon, advantage, annotators, rate, rate >= PASSING)


def benjamini_yekutieli(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values of a family, in the order given, adjusted for the false discovery rate under any dependence."""
    p = np.asarray(p_values, dtype=np.float64)
    m = len(p)
    order = np.argsort(p, kind="stable")[::-1]
    harmonic = (1 / np.arange(1, m + 1)).sum()
    raised = np.minimum.accumulate(p[order] * m * harmonic / np.arange(m, 0, -1))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(raised, 1.0)
    return tuple(adjusted.tolist())


def _behind_of_labels(given: SharedAnswers) -> Floats:
    """The number of the others who gave the annotator's label, less that of the judge's, for each answer (n,)."""
    label = given.value.astype(np.int64)
    own_judge = np.nan_to_num(given.judge, nan=-1).astype(np.int64)
    n_labels = int(max(label.max(initial=0), own_judge.max(initial=0))) + 1
    counts = np.bincount(given.unit * n_labels + label, minlength=len(own_judge) * n_labels)
    said = own_judge[given.unit]
    same_as_judge = counts[given.unit * n_labels + np.maximum(said, 0)] - (label == said)
    return np.asarray(counts[given.unit * n_labels + label] - 1 - same_as_judge, dtype=np.float64)


def _behind_of_numbers(given: SharedAnswers) -> Floats:
    """The judge's mean squared distance from the others less the annotator's, for each answer (n,)."""
    n = np.bincount(given.unit, minlength=len(given.judge))[given.unit] - 1
    total = np.bincount(given.unit, weights=given.value, minlength=len(given.judge))[given.unit] - given.value
    judge, mean = given.judge[given.unit], divide(total, n.astype(np.float64))
    return np.asarray((judge - given.value) * (judge + given.value - 2 * mean))


def _t_tests(behind: Ints, rater: Ints, n: Ints, epsilon: float) -> Floats:
    """One-sided p-values (raters,) of the mean of `behind` (-1, 0 or 1 by item) against being epsilon or more."""
    import scipy

    mean = sum_by(rater, behind.astype(np.float64), len(n)) / n
    spread = np.maximum(sum_by(rater, (behind**2).astype(np.float64), len(n)) - n * mean**2, 0.0)
    error = np.sqrt(spread / (n - 1) / n)
    # Without spread nothing is left to chance, and the mean decides.
    t = np.where(mean < epsilon, -np.inf, np.inf)
    np.divide(mean - epsilon, error, out=t, where=error > SAME)
    return np.asarray(scipy.special.stdtr(n - 1, t))


def _advantage(wins: Bools, rater: Ints, query: Ints, n: Ints) -> tuple[float, Jackknife]:
    """The mean over annotators of their shares of items that the judge wins, each query left out once."""
    won = sum_by(rater, wins.astype(np.float64), len(n))
    _, codes = np.unique(query, return_inverse=True)
    cell, of_row = np.unique(codes * len(n) + rater, return_inverse=True)
    of_rater = cell % len(n)
    without = [
        total[of_rater] - np.bincount(of_row, weights=weights, minlength=len(cell))
        for total, weights in ((won, wins.astype(np.float64)), (n, None))
    ]
    # Leaving out a query changes the shares of those annotators alone who answered it.
    moved = divide(without[0], without[1].astype(np.float64)) - (won / n)[of_rater]
    queries = int(codes.max()) + 1
    deviations = sum_by(cell // len(n), moved, queries)[:, None] / len(n)
    value = float((won / n).mean())
    error = error_of(deviations) if queries > 1 else np.array([np.nan])
    return value, Jackknife(np.array([value]), error, queries, queries)

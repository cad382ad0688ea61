"""May a judge stand in for people? Its fit with people beside a person's own, and the sentence that the tests support.

A judge *replaces* a person where it fits the other people at most epsilon worse than a person does: the hypothesis of
Calderon, Reichart and Dror 2025 ("The Alternative Annotator Test for LLM-as-a-Judge"), tested over queries and all
people together, so that a crowd whose members answer few items each can be asked as well. It *helps* where its answers
go with people's beyond chance: people's means are then more precise with it (prediction-powered means), whatever its
bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError
from analytics.statistics.core.randomization import Randomization, Tested, holm, sign_flip
from analytics.statistics.core.resampling import SHARE, ResampleSpec, divide, sum_by, sums_by_query
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.replacement.alternative_annotator import SharedAnswers
from analytics.statistics.replacement.difference import judge_minus_people

# Of fewer queries nothing is said of a judge (docs/statistics.md).
LEAST_QUERIES = 30
LEVEL = 0.05
Claim = Literal["replaces", "helps", "unsupported"]
"""What may be said of a judge."""
BiasKind = Literal["position", "length", "source"]
"""What a judge favours otherwise than people: the place on the screen, the longer text, text by models."""


@dataclass(frozen=True, eq=False)
class Fits:
    """The fits of a judge and of a person with the other people, a row per unit that the judge and two people answered.

    `judge` and `person` (u,) are means over the unit's people, each left out in turn: the share of the others with the
    same label, or 1 less the distance from the others' mean as a part of the scale. `above` (u,) is the judge's
    agreement beyond chance (labels), or the product of both deviations from their means (numbers). `query` (u,).
    """

    judge: Floats
    person: Floats
    above: Floats
    query: Ints

    def where(self, rows: Bools) -> Fits:
        return Fits(self.judge[rows], self.person[rows], self.above[rows], self.query[rows])

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class JudgeBias:
    """A bias of a judge with its sign-flip test; `p_corrected` after Holm's correction for all of its biases.

    It `counts` against the judge where it is supported and, as a part of the range of values, larger than epsilon:
    of very many queries the least difference is beyond chance.
    """

    kind: BiasKind
    bias: Estimate
    p_corrected: float
    counts: bool


@dataclass(frozen=True)
class PartFit:
    """A judge in one part of the queries: all of them, or a category.

    `p_helps` and `p_replaces` are one-sided and corrected for the number of parts; None below LEAST_QUERIES, where
    `claim` is None as well.
    """

    part: str
    queries: int
    judge: Estimate
    person: Estimate
    difference: Estimate
    p_helps: float | None
    p_replaces: float | None
    claim: Claim | None


def fits_with_people(given: SharedAnswers, *, width: float | None) -> Fits:
    """The fits of a judge and of the people of `given`; `width` is the scale's, None for labels.

    Raises ParameterError for a width that is not above 0.
    """
    if width is not None and not width > 0:
        raise ParameterError("The width of a scale is above 0.")
    n_units = len(given.judge)
    people = np.bincount(given.unit, minlength=n_units)
    used = np.isfinite(given.judge) & (people > 1)
    row = np.flatnonzero(used[given.unit])
    unit, value = given.unit[row], given.value[row]
    if width is None:
        judge, person, above = _of_labels(unit, value, given.judge, people, used)
    else:
        judge, person, above = _of_numbers(unit, value, given.judge, people, used, width)
    ours, own = (
        divide(sum_by(unit, each, n_units)[used], people[used].astype(float)) for each in (person, judge)
    )
    return Fits(own, ours, above, given.query[used])


def judge_parts(
    fits: Fits,
    category: Ints,
    categories: Sequence[str],
    *,
    epsilon: float,
    unit: str,
    resample: ResampleSpec,
    tests: Randomization,
) -> tuple[PartFit, ...]:
    """All queries first, then each category, with the claim about the judge that is supported in each.

    `category` (u,) are codes of `categories`, of the rows of `fits`. Where there is one category, it is left out. Each
    p is multiplied by the number of parts with enough queries (Bonferroni): a part has two claims, of which the
    stronger is made only with the weaker, so that one of all parts is false at most as often as LEVEL says.
    """
    if not 0 <= epsilon <= 1:
        raise ParameterError("Epsilon lies from 0 to 1.")
    parts = [("", np.ones(len(fits), dtype=bool))]
    if len(categories) > 1:
        parts += [(name, category == code) for code, name in enumerate(categories)]
    numbers = [len(np.unique(fits.query[rows])) for _, rows in parts]
    told = max(1, sum(n >= LEAST_QUERIES for n in numbers))
    found = []
    for (name, rows), n in zip(parts, numbers, strict=True):
        of = fits.where(rows)
        fit = judge_minus_people(
            of.person, of.judge, of.query, within=SHARE, unit=unit, resample=resample, tests=tests.of(name)
        )
        p_helps = p_replaces = None
        claim: Claim | None = None
        if n >= LEAST_QUERIES:
            p_helps = min(1.0, told * sign_flip(of.above, of.query, tests.of("helps", name)).one_sided(1))
            p_replaces = min(
                1.0, told * above_by_score(of.judge - of.person + epsilon, of.query, -1 + epsilon)
            )
            claim = claim_of(p_helps, p_replaces)
        found.append(PartFit(name, n, fit.judge, fit.people, fit.difference, p_helps, p_replaces, claim))
    return tuple(found)


def claim_of(p_helps: float, p_replaces: float) -> Claim:
    """The strongest of both that is supported; the stronger one only with the weaker."""
    if p_helps >= LEVEL:
        return "unsupported"
    return "replaces" if p_replaces < LEVEL else "helps"


def counted_biases(
    found: Iterable[tuple[BiasKind, Estimate, Tested | None]], least: float
) -> tuple[JudgeBias, ...]:
    """A judge's biases, tested together (Holm); those that are supported and larger than `least` count against it."""
    tested = [(kind, bias, test) for kind, bias, test in found if test is not None]
    corrected = holm([test.p_value for *_, test in tested])
    return tuple(
        JudgeBias(kind, bias, p, counts=p < LEVEL and abs(bias.value or 0.0) > least)
        for (kind, bias, _), p in zip(tested, corrected, strict=True)
    )


def held_back(parts: Sequence[PartFit], biases: Sequence[JudgeBias]) -> tuple[PartFit, ...]:
    """The parts of a judge beside its biases: with one that counts it helps where it would replace, as people's part
    corrects its means."""
    if not any(each.counts for each in biases):
        return tuple(parts)
    return tuple(replace(part, claim="helps") if part.claim == "replaces" else part for part in parts)


def above_by_score(values: Floats, query: Ints, least: float) -> float:
    """The one-sided p of a mean of `values` (m,) at or below zero, where none can be below `least` (negative).

    A score test over the sums of queries. Its variance is that of the distribution nearest to the observed one with a
    mean of zero (exponential tilting); one query more, with `least` throughout, stands for what was not seen. Of values
    that are mostly small and sometimes far below, as an agreement less a person's is, a t or sign-flip test would be
    too sure by far. With two values it is the score test of a share.
    """
    import scipy

    sums = sums_by_query(values, query)
    rows = np.bincount(query)
    sums = np.append(sums, least * rows[rows > 0].mean())
    mean = float(sums.mean())
    if mean <= 0 or not sums.min() < 0:
        return 1.0
    scale = float(np.abs(sums).max())
    scaled = sums / scale

    def tilted_mean(by: float) -> float:
        weights = np.exp(-by * scaled - np.max(-by * scaled))
        return float(weights @ scaled / weights.sum())

    high = 1.0
    while tilted_mean(high) > 0:
        high *= 2
    by = float(scipy.optimize.brentq(tilted_mean, 0.0, high))
    weights = np.exp(-by * scaled - np.max(-by * scaled))
    variance = float(weights @ sums**2 / weights.sum())
    return float(scipy.special.ndtr(-mean / np.sqrt(variance / len(sums))))


def _of_labels(
    unit: Ints, value: Floats, judge: Floats, people: Ints, used: Bools
) -> tuple[Floats, Floats, Floats]:
    """Of each answer the judge's fit and the person's; of each used unit the agreement beyond chance."""
    label = value.astype(np.int64)
    said = np.nan_to_num(judge, nan=0).astype(np.int64)
    n_labels = int(max(label.max(initial=0), said.max(initial=0))) + 1
    counts = np.bincount(unit * n_labels + label, minlength=len(judge) * n_labels).reshape(-1, n_labels)
    others = people[unit] - 1.0
    same = counts[unit, said[unit]] - (label == said[unit])
    own = counts[unit, label] - 1
    shares = counts[used] / people[used, None]
    chance = shares.mean(axis=0)
    above = shares[np.arange(len(shares)), said[used]] - chance[said[used]]
    return same / others, own / others, np.asarray(above)


def _of_numbers(
    unit: Ints, value: Floats, judge: Floats, people: Ints, used: Bools, width: float
) -> tuple[Floats, Floats, Floats]:
    total = sum_by(unit, value, len(judge))
    others = (total[unit] - value) / (people[unit] - 1.0)
    fits = [1 - np.abs(each - others) / width for each in (judge[unit], value)]
    mean, own = total[used] / people[used], judge[used]
    above = (mean - mean.mean()) * (own - own.mean()) if used.any() else mean
    return fits[0], fits[1], above

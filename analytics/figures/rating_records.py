"""Means, shares and distributions of ratings, choices and checklists: overall, by system and by what else tells
them apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, TypeVar

import numpy as np

from analytics.figures.families import corrected_p, is_supported
from analytics.figures.figure_input import AnswerInput, point_records, points_of, several
from analytics.figures.needs import SystemKinds
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import CorrectedTest, Tested
from analytics.statistics.core.tidy import Ints
from analytics.statistics.ratings.scales import (
    Distribution,
    MeanValue,
    best_and_worst,
    distribution,
    distributions_by_group,
    mean_value,
    means_by_group,
)


@dataclass(frozen=True)
class ValueShare:
    """The number and share of answers with a value."""

    value: float | str
    label: str
    n: int
    share: Estimate


@dataclass(frozen=True)
class SystemRatings:
    """The answers about a system's responses; labels have no mean."""

    system: str
    mean: Estimate | None
    standard_deviation: float | None
    n_units: int
    n_queries: int
    distribution: tuple[ValueShare, ...]


@dataclass(frozen=True)
class TestedEnd:
    """The system with the highest mean, tested against every other, or that with the lowest: the largest p of its
    tests."""

    end: Literal["best", "worst"]
    system: str
    test: Tested


@dataclass(frozen=True)
class SystemBeyondChance:
    """Rated above, or below, every other; `next` is the system with the nearest mean, `n` the shared queries, at least.

    `p_value` is the largest of its sign-flip tests over queries, corrected among the `tests` of their family.
    """

    system: str
    mean: float
    next: str
    next_mean: float
    n: int
    tests: int
    p_value: float


@dataclass(frozen=True)
class KindMean:
    """The mean over systems of one kind together."""

    kind: str
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int


@dataclass(frozen=True)
class ArmMean:
    """The mean in one setting."""

    arm: str
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int


@dataclass(frozen=True)
class CategoryMean:
    """The mean over one category of queries."""

    category: str
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int


@dataclass(frozen=True)
class Ratings:
    """The mean, of a checklist the share of yes and of labels None, and how often each value was given: overall, by
    system, and by kind of system, setting and category where there are several.

    The best and the worst system are those that are beyond chance once tests have been corrected.
    """

    mean: MeanValue | None
    distribution: tuple[ValueShare, ...]
    by_system: tuple[SystemRatings, ...]
    best_and_worst: tuple[TestedEnd, ...]
    best_system: SystemBeyondChance | None
    worst_system: SystemBeyondChance | None
    by_kind: tuple[KindMean, ...]
    by_arm: tuple[ArmMean, ...]
    by_category: tuple[CategoryMean, ...]

    @property
    def overall(self) -> Estimate:
        """The mean over all, of what is not answered with labels."""
        assert self.mean is not None
        return self.mean.mean


def ratings(given: AnswerInput, kinds: SystemKinds) -> Ratings:
    spread_out = distribution(
        given.values, points_of(given.question), resample=given.resample("distribution"), unit="answers"
    )
    mean = None
    if not given.has_labels:
        mean = mean_value(given.values, resample=given.resample("mean"), within=given.ends)
    return Ratings(
        mean,
        value_shares(given, spread_out),
        by_system(given),
        tested_ends(given),
        best_system=None,
        worst_system=None,
        **by_factors(given, kinds.of_systems(given.items.systems)),
    )


def value_shares(given: AnswerInput, found: Distribution) -> tuple[ValueShare, ...]:
    """Number and share of each of the question's values."""
    points = point_records(given.question)
    return tuple(
        ValueShare(**vars(point), n=n, share=share)
        for point, n, share in zip(points, found.counts, found.shares, strict=True)
    )


def by_system(given: AnswerInput) -> tuple[SystemRatings, ...]:
    """Mean and distribution of each system's responses; nothing where answers are about no response."""
    values, systems = given.values, given.items.systems
    spreads = distributions_by_group(
        values,
        points_of(given.question),
        values.system,
        len(systems),
        resample=given.resample("distribution by system"),
        unit="answers",
    )
    means = means_of(given, values.system, len(systems), "by system") or (None,) * len(systems)
    return tuple(
        SystemRatings(
            name,
            mean.mean if mean else None,
            mean.standard_deviation if mean else None,
            (mean or spread_out).n_units,
            (mean or spread_out).n_queries,
            value_shares(given, spread_out),
        )
        for name, spread_out, mean in zip(systems, spreads, means, strict=True)
        if spread_out.n_units
    )


def tested_ends(given: AnswerInput) -> tuple[TestedEnd, ...]:
    """Of the systems with the highest and the lowest mean, whether they are rated above, or below, every other.

    Of two systems the best alone; nothing where there is one, or more is not better.
    """
    question, values = given.question, given.values
    systems = dict(several(values.system, given.items.systems))
    if not systems or not question.more_is_better:
        return ()
    ends: tuple[Literal["best", "worst"], ...] = ("best", "worst") if len(systems) > 2 else ("best",)
    found = best_and_worst(values, values.system, list(systems), given.tests("ratings", len(ends)))
    return tuple(
        TestedEnd(end, systems[each.group], each.test) for end, each in zip(ends, found, strict=False)
    )


def system_beyond_chance(figures: Ratings, end: str) -> SystemBeyondChance | None:
    """The "best" or "worst" system, from a question's figures whose tests have been corrected.

    None where chance could make it so.
    """
    tested = next((each for each in figures.best_and_worst if each.end == end), None)
    if tested is None or not is_supported(tested.test):
        return None
    side = 1 if end == "best" else -1
    system, test = tested.system, tested.test
    means = {each.system: each.mean.known for each in figures.by_system if each.mean}
    following = max((other for other in means if other != system), key=lambda other: side * means[other])
    if side * (means[system] - means[following]) <= 0:
        return None
    assert isinstance(test, CorrectedTest)
    return SystemBeyondChance(
        system=system,
        mean=means[system],
        next=following,
        next_mean=means[following],
        n=test.n,
        tests=test.tests,
        p_value=corrected_p(test),
    )


AnyMean = TypeVar("AnyMean", KindMean, ArmMean, CategoryMean)


class ByFactors(TypedDict):
    by_kind: tuple[KindMean, ...]
    by_arm: tuple[ArmMean, ...]
    by_category: tuple[CategoryMean, ...]


def by_factors(given: AnswerInput, kinds: Sequence[str]) -> ByFactors:
    """By kind of system, setting and category, each only where there are several."""
    if given.has_labels:
        return {"by_kind": (), "by_arm": (), "by_category": ()}
    values, items = given.values, given.items
    names_of_kinds = tuple(sorted(set(kinds)))
    # A system that is not there (-1) reads the entry behind the last.
    kind_of = np.array([*(names_of_kinds.index(kind) for kind in kinds), -1], dtype=np.int64)

    def means_by(factor: str, made: type[AnyMean], codes: Ints, names: Sequence[str]) -> tuple[AnyMean, ...]:
        compared = several(codes, names)
        means = means_of(given, codes, len(names), f"by {factor}") if compared else ()
        return tuple(made(name, **vars(means[code])) for code, name in compared)

    return {
        "by_kind": means_by("kind", KindMean, kind_of[values.system], names_of_kinds),
        "by_arm": means_by("arm", ArmMean, items.arm[values.item], items.arms),
        "by_category": means_by("category", CategoryMean, items.category[values.item], items.categories),
    }


def means_of(given: AnswerInput, codes: Ints, n: int, purpose: str) -> Sequence[MeanValue]:
    """Nothing for a choice, whose labels have no mean."""
    if given.has_labels:
        return ()
    resample = given.resample(purpose)
    return means_by_group(given.values, codes, n, resample=resample, within=given.ends)

"""Drift of judges' numbers and ranks: anchor runs beside their first pass, and beside people's means."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import NBSP, decimal
from analytics.display.tables import P_COLUMNS, Builder, TableCell, columns, interval, words
from analytics.figures.families import FamilyTest, corrected_p, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.judges.drift import (
    add_passes,
    beside_people,
    day_of,
    drift_tests,
    is_of_members,
    members_of,
    passes_of,
)
from analytics.figures.report_view import ReportView
from analytics.frames.passes import StudyPasses
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import Range
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import unit_means
from analytics.statistics.judges.drift import Drift, drift_of_numbers
from analytics.statistics.judges.ratings_vs_people import compare_means
from evaluation.protocols import QuestionSpec
from evaluation.protocols.kinds import KINDS

CAPTION = (
    "Each pass of a judge over its anchor items: mean absolute difference of its numbers from those of its "
    "first pass and from people's means, in points of the scale, of a ranking in places of a response, and "
    "Pearson's correlation with each. Further: how much further a later pass lies from the first than the second "
    "pass does; p: sign-flip test over queries against no difference."
)


@dataclass(frozen=True)
class NumbersBeside:
    """Numbers beside the first pass's, or people's means: mean absolute difference, mean difference, correlation."""

    error: Estimate
    difference: Estimate
    pearson: Estimate


@dataclass(frozen=True)
class NumberPass:
    """A complete run of this version of the judge; `self` is None for the first, `drift` for the first two."""

    rater: str
    purpose: str
    finished: str
    self: NumbersBeside | None
    people: NumbersBeside | None
    drift: Drift | None


@dataclass(frozen=True)
class NumberPasses:
    """Passes of a judge in their order; the first is what later ones are compared with."""

    passes: tuple[NumberPass, ...]


@dataclass(frozen=True)
class JurorNumberPasses:
    """The same of a member of a jury, by the pseudonym of the run that is in figures."""

    member: str
    passes: tuple[NumberPass, ...]


@dataclass(frozen=True)
class JuryNumberPasses:
    """Passes of those members of a jury that have anchor runs."""

    members: tuple[JurorNumberPasses, ...]


class NumberDriftFigure(Figure[NumberPasses | JuryNumberPasses]):
    needs = (StudyPasses,)
    heading = "judges"
    place = 61
    beside = ("judges/drift",)
    definition = (
        "The numbers of each anchor run of a judge, or of each member of a jury, or the ranks of a ranking, compared "
        "with its first pass and with people's means, and a test of drift: its distance from the first pass against "
        "that of the second pass, which is the judge's own noise."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        if form == "ranking":
            return True
        return form == "rated" and KINDS[question.kind].storage == "number" and question.kind != "checklist"

    def compute(self, given: FigureInput) -> NumberPasses | JuryNumberPasses | None:
        passes = self.need(given, StudyPasses)
        if not is_of_members(given):
            found = self._of_judge(given, passes, given.group_key)
            return NumberPasses(found) if found else None
        beside = beside_people(given)
        members = ((name, self._of_judge(beside, passes, name)) for name in members_of(given))
        jurors = tuple(JurorNumberPasses(name, found) for name, found in members if found)
        return JuryNumberPasses(jurors) if jurors else None

    def _of_judge(self, given: FigureInput, study: StudyPasses, rater: str) -> tuple[NumberPass, ...]:
        """None of a judge without two passes."""
        found_passes = list(passes_of(given, study, rater))
        passes = [each.given for each in found_passes if isinstance(each.given, AnswerInput)]
        if len(passes) < 2:
            return ()
        member = "" if rater == given.group_key else f" of {rater}"
        values, query = _aligned(passes)
        records = []
        for place, (each, at) in enumerate(zip(found_passes, passes, strict=True)):
            of, found = each.of, None
            own = _beside(at, passes[0], f"self {place}{member}") if place else None
            people = None if at.people is None else _beside(at, at.people, f"people {place}{member}")
            if place > 1:
                purpose = f"drift {place}{member}"
                found = drift_of_numbers(
                    values[0],
                    values[1],
                    values[place],
                    query,
                    unit=at.unit,
                    resample=given.resample(purpose),
                    tests=given.tests(purpose, len(passes) - 2),
                )
            records.append(NumberPass(of.rater, of.purpose, of.finished, own, people, found))
        return tuple(records)

    def tests(self, record: NumberPasses | JuryNumberPasses) -> Iterator[FamilyTest]:
        return drift_tests(each for _, passes in _passes_in(record) for each in passes)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        names = ["From first", "r", "From people", "r with people", "n", "Further", *P_COLUMNS]
        build = Builder(
            CAPTION,
            columns(["Judge", "Question", "Pass", *names], names=3),
            foot="The second pass shows how much the judge differs from itself without having changed.",
        )
        drifted = add_passes(build, view, self._passes_of, _cells, _drifted)
        if build.rows:
            yield Block(
                "Judge drift in numbers",
                text=tuple(drifted),
                tables=(build.build(),),
                anchor="number-drift",
            )

    def _passes_of(self, group: GroupView) -> Iterable[tuple[str, tuple[NumberPass, ...]]]:
        return _passes_in(self.of(group)) if self.is_in(group) else ()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A judge's numbers have drifted if a later anchor run lies further from the judge's first pass than "
            "the second pass did, on the same items, by a sign-flip test over queries of the absolute "
            "differences, corrected for the number of passes and questions (Holm)."
        )


FIGURE = NumberDriftFigure()


def _passes_in(found: NumberPasses | JuryNumberPasses) -> Iterator[tuple[str, tuple[NumberPass, ...]]]:
    """The passes of a judge, under no name, or of each member of a jury."""
    if isinstance(found, NumberPasses):
        yield "", found.passes
    else:
        yield from ((each.member, each.passes) for each in found.members)


def _beside(later: AnswerInput, other: AnswerInput, purpose: str) -> NumbersBeside:
    """A pass's numbers beside the first pass's, or beside people's means."""
    found = compare_means(
        other.values, later.values, resample=later.resample(purpose), within=_ends(later), unit=later.unit
    )
    return NumbersBeside(found.error, found.difference, found.pearson)


def _ends(given: AnswerInput) -> Range | None:
    """The least and the greatest number that can be given; of a ranking of one response there is one only."""
    if given.form != "ranking":
        return given.ends
    most = given.items.system.shape[1]
    return (1.0, float(most)) if most > 1 else None


def _aligned(passes: Sequence[AnswerInput]) -> tuple[list[Floats], Ints]:
    """The mean number of each pass by what it is of, nan where it has none, and the queries of those."""
    means = [unit_means(each.values) for each in passes]
    units, first = np.unique(np.concatenate([each.unit for each in means]), return_index=True)
    query = np.concatenate([each.query for each in means])[first]
    numbers = [np.full(len(units), np.nan) for _ in passes]
    for of_pass, each in zip(numbers, means, strict=True):
        of_pass[np.searchsorted(units, each.unit)] = each.mean
    return numbers, query


def _cells(build: Builder, found: NumberPass) -> Sequence[TableCell]:
    own, people, drifted = found.self, found.people, found.drift
    beside_people = [build.coefficient(each) for each in (people.error, people.pearson)] if people else None
    return (
        *((build.coefficient(own.error), build.coefficient(own.pearson)) if own else _first()),
        *(beside_people or (words(""), words(""))),
        build.n(own.error) if own else words(""),
        *(
            (build.coefficient(drifted.difference), *build.tested(drifted.test))
            if drifted
            else (words("noise" if own else ""), words(""), words(""))
        ),
    )


def _first() -> tuple[TableCell, TableCell]:
    return words("first pass"), words("")


def _drifted(judge: str, question: QuestionView, found: NumberPass) -> str:
    """The sentence that a test supports; '' where none does."""
    each = found.drift
    if each is None or not is_supported(each.test) or each.difference.known <= 0:
        return ""
    limits = interval(each.difference, decimal)
    asked = f"\N{LEFT DOUBLE QUOTATION MARK}{question.prompt}\N{RIGHT DOUBLE QUOTATION MARK}"
    numbers, points = ("ranks", "places") if question.form == "ranking" else ("numbers", "points")
    return (
        f"{judge} had drifted by {day_of(found)}: asked {asked}, its {numbers} lay "
        f"{decimal(each.difference.known)}{NBSP}{points} further from its first pass than those of its "
        f"second pass{f' (95{NBSP}% interval {limits})' if limits else ''}, corrected p "
        f"{corrected_p(each.test):.2g}."
    )

"""Drift of judges: anchor runs beside their first pass, and beside people."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import NBSP, percent, points
from analytics.display.tables import P_COLUMNS, Builder, TableCell, columns, head, interval, words
from analytics.figures.beside_people import label_tables
from analytics.figures.families import FamilyTest, corrected_p, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    PAIRS,
    UNITS,
    AnswerInput,
    FigureInput,
    PairInput,
    level_of,
)
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, tag_of
from analytics.frames.passes import Pass, StudyPasses, with_parts
from analytics.frames.rows import JURY
from analytics.statistics.agreement.leave_one_out import outer_agreement
from analytics.statistics.core.counts import count_matrix, unique_mode
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import MISSING, N_LABELS, Ints
from analytics.statistics.judges.drift import Drift, drift, self_agreement
from evaluation.models import Rater
from evaluation.protocols import Kind, Over, QuestionSpec

TITLE = "Judge drift"
CAPTION = (
    "Each pass of a judge over its anchor items: how often it gives the same answer as its first pass, and its "
    "leave-one-out agreement with people, in percent. Difference: a later pass's agreement with the first minus "
    "the second pass's, in points; p: sign-flip test over queries against no difference."
)


@dataclass(frozen=True)
class LabelPass:
    """A complete run of this version of the judge.

    `self` is the share of items with the label that the first pass gave, None for the first; `people` the leave-one-out
    agreement with people; `drift` is None for the first two passes.
    """

    rater: str
    purpose: str
    finished: str
    self: Estimate | None
    people: Estimate | None
    drift: Drift | None


class OnePass(Protocol):
    """A complete run of this version of a judge, of labels or of numbers."""

    @property
    def purpose(self) -> str: ...

    @property
    def finished(self) -> str: ...

    @property
    def drift(self) -> Drift | None: ...


AnyPass = TypeVar("AnyPass", bound=OnePass)


@dataclass(frozen=True, eq=False)
class PassInput:
    """One pass of the judge that a group is, and what it answered."""

    of: Pass
    given: FigureInput


@dataclass(frozen=True)
class JudgePasses:
    """Passes of a judge in their order; the first is what later ones are compared with."""

    passes: tuple[LabelPass, ...]


@dataclass(frozen=True)
class JurorPasses:
    """The same of a member of a jury, by the pseudonym of the run that is in figures."""

    member: str
    passes: tuple[LabelPass, ...]


@dataclass(frozen=True)
class JuryPasses:
    """Passes of those members of a jury that have anchor runs."""

    members: tuple[JurorPasses, ...]


class DriftFigure(Figure[JudgePasses | JuryPasses]):
    needs = (StudyPasses,)
    heading = "judges"
    place = 60
    beside = ("judges/number_drift",)
    definition = (
        "Each anchor run of a judge, or of each member of a jury, compared with its first pass and with people, and a "
        "test of drift: its agreement with the first pass against that of the second pass, which is the judge's own "
        "noise."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or (form != "ranking" and level_of(question) == "nominal")

    def compute(self, given: FigureInput) -> JudgePasses | JuryPasses | None:
        passes = self.need(given, StudyPasses)
        if not is_of_members(given):
            found = self._of_judge(given, passes, given.group_key)
            return JudgePasses(found) if found else None
        beside = beside_people(given)
        members = ((name, self._of_judge(beside, passes, name)) for name in members_of(given))
        jurors = tuple(JurorPasses(name, found) for name, found in members if found)
        return JuryPasses(jurors) if jurors else None

    def _of_judge(self, given: FigureInput, study: StudyPasses, rater: str) -> tuple[LabelPass, ...]:
        """None of a judge without two passes."""
        passes = list(passes_of(given, study, rater))
        if len(passes) < 2:
            return ()
        own = "" if rater == given.group_key else f" of {rater}"
        labels, query = _aligned([each.given for each in passes])
        first, second = labels[0], labels[1]
        unit = given.unit if isinstance(given, AnswerInput) else UNITS[Over.ITEM]
        records = []
        for place, (each, label) in enumerate(zip(passes, labels, strict=True)):
            same = found = None
            if place:
                same = self_agreement(
                    first, label, query, resample=given.resample(f"self {place}{own}"), unit=unit
                )
            if place > 1:
                purpose = f"drift {place}{own}"
                found = drift(
                    first,
                    second,
                    label,
                    query,
                    resample=given.resample(purpose),
                    tests=given.tests(purpose, len(labels) - 2),
                    unit=unit,
                )
            of = each.of
            records.append(LabelPass(of.rater, of.purpose, of.finished, same, _with_people(each), found))
        return tuple(records)

    def tests(self, record: JudgePasses | JuryPasses) -> Iterator[FamilyTest]:
        return drift_tests(each for _, passes in _passes_in(record) for each in passes)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        build = Builder(
            CAPTION,
            columns(
                ["Judge", "Question", "Pass", "Same as first", "n", "With people", "Difference", *P_COLUMNS],
                names=3,
            ),
            foot="The second pass shows how much the judge differs from itself without having changed.",
        )
        drifted = add_passes(build, view, self._passes_of, _cells, _drifted)
        if build.rows:
            yield Block(TITLE, text=tuple(drifted), tables=(build.build(),), anchor="drift")

    def _passes_of(self, group: GroupView) -> Iterable[tuple[str, tuple[LabelPass, ...]]]:
        return _passes_in(self.of(group)) if self.is_in(group) else ()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A judge has drifted if a later anchor run agrees less with the judge's first pass than the second "
            "pass did, on the same items, by a sign-flip test over queries, corrected for the number of passes "
            "and questions (Holm)."
        )


FIGURE = DriftFigure()


def _passes_in(found: JudgePasses | JuryPasses) -> Iterator[tuple[str, tuple[LabelPass, ...]]]:
    """The passes of a judge, under no name, or of each member of a jury."""
    if isinstance(found, JudgePasses):
        yield "", found.passes
    else:
        yield from ((each.member, each.passes) for each in found.members)


def is_of_members(given: FigureInput) -> bool:
    """True of the members of a jury, each of whom may have passes."""
    return isinstance(given, PairInput | AnswerInput) and given.group.kind == JURY


def members_of(given: FigureInput) -> Sequence[str]:
    """The members of a jury, by pseudonym."""
    if isinstance(given, PairInput):
        return given.group.judgments.raters
    assert isinstance(given, AnswerInput)
    return given.group.raters


def beside_people(given: FigureInput) -> FigureInput:
    """The members of a jury stand beside nobody, as the jury does; of each one, people are what it is held against."""
    if isinstance(given, PairInput):
        return replace(given, people=given.by_group.get(Rater.Kind.PERSON))
    assert isinstance(given, AnswerInput)
    return replace(given, people=given.by_group.get(Rater.Kind.PERSON))


def passes_of(given: FigureInput, passes: StudyPasses, rater: str) -> Iterator[PassInput]:
    """Of a judge with anchor runs its passes, in their order."""
    for each in passes.of_rater(rater):
        if isinstance(given, PairInput):
            group = passes.pair_group(given.question.key, each)
            if group is not None:
                counts = count_matrix(group.judgments.item, group.judgments.label, len(given.items), N_LABELS)
                yield PassInput(each, replace(given, group=group, counts=counts))
        elif isinstance(given, AnswerInput):
            answered = passes.answer_group(each)
            if answered is not None and len(answered.answers[given.question.key]):
                answers = with_parts(answered.answers[given.question.key], given.answers.parts)
                yield PassInput(each, replace(given, group=answered, answers=answers))


def add_passes(
    build: Builder,
    view: ReportView,
    passes_of: Callable[[GroupView], Iterable[tuple[str, Sequence[AnyPass]]]],
    cells: Callable[[Builder, AnyPass], Iterable[TableCell]],
    sentence: Callable[[str, QuestionView, AnyPass], str],
) -> list[str]:
    """A row per pass of each judge and question; the sentences on those that had drifted."""
    drifted = []
    for question in view.judged:
        for group in question.groups:
            for member, passes in passes_of(group):
                judge = view.raters.get(member, member) if member else group.label
                for place, found in enumerate(passes):
                    build.add(
                        head(judge, tag=tag_of(group)),
                        words(question.prompt),
                        words(f"{place + 1}: {day_of(found)}, {found.purpose}"),
                        *cells(build, found),
                    )
                    drifted.append(sentence(judge, question, found))
    return [each for each in drifted if each]


def _cells(build: Builder, found: LabelPass) -> Sequence[TableCell]:
    own, people, drifted = found.self, found.people, found.drift
    return (
        build.share(own) if own else words("first pass"),
        build.n(own) if own else words(""),
        build.share(people) if people else words(""),
        *(
            (build.share(drifted.difference), *build.tested(drifted.test))
            if drifted
            else (words("noise" if own else ""), words(""), words(""))
        ),
    )


def _drifted(judge: str, question: QuestionView, found: LabelPass) -> str:
    """The sentence that a test supports; '' where none does."""
    each = found.drift
    if each is None or not is_supported(each.test) or each.difference.known >= 0:
        return ""
    limits = interval(each.difference, percent)
    less = f"{points(each.difference.known)}{NBSP}points less often"
    asked = f"\N{LEFT DOUBLE QUOTATION MARK}{question.prompt}\N{RIGHT DOUBLE QUOTATION MARK}"
    return (
        f"{judge} had drifted by {day_of(found)}: asked {asked}, it gave the same answer as its first pass "
        f"{less} than its second pass did{f' (95{NBSP}% interval {limits})' if limits else ''}, corrected p "
        f"{corrected_p(each.test):.2g}."
    )


def drift_tests(passes: Iterable[OnePass]) -> Iterator[FamilyTest]:
    """The tests of a judge's passes, of labels and of numbers, which are one family."""
    for each in passes:
        if each.drift is not None and each.drift.test is not None:
            yield FamilyTest("drift", each.drift.test)


def day_of(found: OnePass) -> str:
    return found.finished[:10]


def _with_people(each: PassInput) -> Estimate | None:
    given = each.given
    if given.people is None:
        return None
    if isinstance(given, PairInput):
        assert isinstance(given.people, PairInput)
        theirs, label, query = given.people.votes, unique_mode(given.votes), given.items.query
    else:
        assert isinstance(given, AnswerInput)
        assert isinstance(given.people, AnswerInput)
        theirs, label, query = label_tables(given.people, given)
    return outer_agreement(theirs, label, query, resample=given.resample(f"people beside {each.of.rater}"))


def _aligned(passes: Sequence[FigureInput]) -> tuple[list[Ints], Ints]:
    """Labels of each pass by what they are of, negative where it has none, and the queries of those."""
    if isinstance(passes[0], PairInput):
        labels = [unique_mode(each.votes) for each in passes if isinstance(each, PairInput)]
        return labels, passes[0].items.query
    answers = [each.answers for each in passes if isinstance(each, AnswerInput)]
    parts = max(len(answers[0].parts), 1)
    units = [each.item.astype(np.int64) * parts + each.part for each in answers]
    used = np.unique(np.concatenate(units))
    labels = [np.full(len(used), MISSING, dtype=np.int64) for _ in answers]
    # A preference that is a tie is -1; one more keeps codes from 0.
    shift = 1 if answers[0].question.kind == Kind.PREFERENCE else 0
    for label, unit, each in zip(labels, units, answers, strict=True):
        label[np.searchsorted(used, unit)] = np.round(each.value).astype(np.int64) + shift
    return labels, answers[0].items.query[used // parts]

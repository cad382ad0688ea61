"""A judge's bias by source: whether it favours text by models more than people do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.tables import P_COLUMNS, Builder, columns, head, words
from analytics.figures.beside_people import TITLE, is_single_judge, side_less_people
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, AnswerInput, FigureInput, PairInput
from analytics.figures.groups import GroupView
from analytics.figures.needs import SystemKinds
from analytics.figures.report_view import ReportView
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.tidy import Bools, Ints
from analytics.statistics.replacement.difference import shared_scores
from analytics.statistics.replacement.source_bias import source_bias
from evaluation.models import System
from evaluation.protocols import Kind, QuestionSpec

PURPOSE = "source bias"


@dataclass(frozen=True)
class JudgeSourceBias:
    """A judge's mean minus people's of text by models and of text by persons, and the first minus the second; of pairs
    only the judge's expected win rate of the model's text minus people's."""

    models: Estimate | None
    persons: Estimate | None
    bias: Estimate
    test: Tested | None


class SourceBiasFigure(Figure[JudgeSourceBias]):
    needs = (SystemKinds,)
    heading = "judges"
    across_judges = True
    place = 13
    deferred_as = "bias of judges by source"
    stops_with = ("win_rate",)
    beside_people = True
    definition = (
        "A judge's mean minus people's of text by models beside that of text by persons, and the difference of the "
        "two with a test; of pairs of both, the judge's expected win rate of the model's text minus people's."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in (PAIRS, "ranking") or (form == "rated" and question.kind == Kind.SCALE)

    def is_of(self, given: FigureInput) -> bool:
        assert isinstance(given, PairInput | AnswerInput)
        by_person = {kind == System.Kind.PERSON for kind in self._kinds(given)}
        return is_single_judge(given) and len(by_person) == 2

    def _kinds(self, given: FigureInput) -> tuple[str, ...]:
        assert isinstance(given, PairInput | AnswerInput)
        return self.need(given, SystemKinds).of_systems(given.items.systems)

    def compute(self, given: FigureInput) -> JudgeSourceBias | None:
        """AGENT-CQ section 4.3. None where all text is of one kind."""
        kinds = self._kinds(given)
        return _of_pairs(given, kinds) if isinstance(given, PairInput) else _of_texts(given, kinds)

    def tests(self, record: JudgeSourceBias) -> Iterator[FamilyTest]:
        if record.test is not None:
            yield FamilyTest(PURPOSE, record.test)

    def title(self, view: ReportView) -> str:
        return TITLE

    def blocks(self, view: ReportView) -> Iterator[Block]:
        forms = {question.form for question in view.judged}
        of_pairs = " Of pairs, the judge's expected win rate of the model's text minus people's."
        build = Builder(
            "Bias by source: the judge's mean minus people's of text by models, of text by persons, and the first "
            f"minus the second.{of_pairs if PAIRS in forms else ''}"
            f"{' Ranks count from 1 for the best.' if 'ranking' in forms else ''}",
            columns(["Question", "Raters", "By models", "By persons", "Bias", *P_COLUMNS, "n"], names=2),
        )
        marks: dict[str, list[tuple[GroupView, Estimate]]] = {}
        for question in view.judged:
            for group in (each for each in question.groups if self.is_in(each)):
                found = self.of(group)
                blank = words("")
                build.add(
                    head(question.prompt),
                    words(group.label),
                    *(build.coefficient(each) if each else blank for each in (found.models, found.persons)),
                    build.coefficient(found.bias),
                    *build.tested(found.test, found.bias.undefined),
                    build.n(found.bias),
                )
                # Of ranks a higher one is worse.
                if question.form != "ranking":
                    marks.setdefault(question.prompt, []).append((group, found.bias))
        if build.rows:
            plot = score_plot(
                marks.items(),
                what="Bias of judges by source",
                caption="Bias by source; above 0 a judge gives higher values to text by models than people do.",
            )
            yield Block("Bias by source", tables=(build.build(),), plot=plot, folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A judge's bias by source is its value minus people's mean, of text by models (or prompt variants) minus "
            "that of text by persons, on what both judged; it is tested by a sign-flip test over queries or, "
            "where no query has text of both kinds, by a permutation of queries."
        )


FIGURE = SourceBiasFigure()


def _by_person(kinds: tuple[str, ...], system: Ints) -> Bools:
    """True of what a person wrote; `system` are codes of systems, each with its kind."""
    return np.array([kind == System.Kind.PERSON for kind in kinds], dtype=bool)[system]


def _of_texts(given: FigureInput, kinds: tuple[str, ...]) -> JudgeSourceBias | None:
    assert isinstance(given, AnswerInput)
    assert isinstance(given.people, AnswerInput)
    shared = shared_scores(given.people.values, given.values)
    used = np.isfinite(shared.people) & np.isfinite(shared.judge) & (shared.system >= 0)
    if not used.any():
        return None
    by_model = ~_by_person(kinds, shared.system[used])
    if by_model.all() or not by_model.any():
        return None
    found = source_bias(
        (shared.judge - shared.people)[used],
        by_model,
        shared.query[used],
        resample=given.resample(PURPOSE),
        tests=given.tests(PURPOSE, 1),
        unit=given.unit,
    )
    return JudgeSourceBias(**vars(found))


def _of_pairs(given: PairInput, kinds: tuple[str, ...]) -> JudgeSourceBias | None:
    assert isinstance(given.people, PairInput)
    items = given.items
    first, second = (_by_person(kinds, each) for each in (items.system_1, items.system_2))
    rows = np.flatnonzero(first != second)
    if not len(rows):
        return None
    # The side of the model's text.
    found = side_less_people(given, rows, np.where(first[rows], 1, 0), PURPOSE)
    return JudgeSourceBias(models=None, persons=None, bias=found.difference, test=found.test)

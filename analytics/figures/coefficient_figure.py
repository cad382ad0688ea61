"""A coefficient of agreement between raters as a figure: its questions, its record and its table."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from analytics.display.blocks import Block
from analytics.display.numbers import percent
from analytics.display.tables import Builder, Column, columns, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, AnswerInput, FigureInput, PairInput, level_of, points_of
from analytics.figures.report_view import ReportView, group_head
from analytics.statistics.agreement.coefficients import Coefficient
from analytics.statistics.core.values import value_counts
from evaluation.protocols import QuestionSpec

AnyCoefficient = TypeVar("AnyCoefficient", bound=Coefficient)
# The end of every definition.
OF_LABELS = "of preferences, choices, checklists and tags, with observed and chance agreement."


class CoefficientFigure(Figure[AnyCoefficient]):
    """A chance-corrected coefficient of every question that is answered with labels."""

    heading = "agreement"
    # In tables and above them.
    name: ClassVar[str]
    # A sentence below the table.
    foot: ClassVar[str] = ""
    # What the methods say of its agreement by chance.
    method: ClassVar[str]

    @staticmethod
    @abstractmethod
    def coefficient(*counts: Any, **options: Any) -> AnyCoefficient:
        """A function of `analytics/statistics/agreement/coefficients.py`, by its name alone."""

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or (form in ("rated", "choice") and level_of(question) == "nominal")

    def compute(self, given: FigureInput) -> AnyCoefficient:
        # Asked of the class, a function is not taken for a method of the figure.
        coefficient, resample = type(self).coefficient, given.resample(self.key.partition("/")[2])
        if isinstance(given, PairInput):
            # Without ties the third label can't be given.
            counts = given.votes if given.question.ties else given.votes[:, :2]
            return coefficient(counts, given.items.query, resample=resample)
        assert isinstance(given, AnswerInput)
        table = value_counts(given.values, level="nominal", points=points_of(given.question))
        return coefficient(table.counts, table.query, resample=resample, unit=given.unit)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = view.asked(self.key)
        several = len(questions) > 1
        names = columns(["Raters", *(["Question"] if several else [])], names=1 + several)
        build = Builder(
            f"{self.name}, with the observed agreement of two raters and their agreement by chance, in percent.",
            [*names, Column(self.name), Column("Agreement"), Column("By chance"), Column("n")],
            foot=self.foot,
        )
        for group in view.groups_of_several:
            for question, found in view.answered(questions, group):
                record = self.of(found)
                build.add(
                    group_head(group),
                    *([words(question.prompt)] if several else []),
                    build.coefficient(record.estimate),
                    build.number(record.agreement, percent),
                    build.number(record.by_chance, percent),
                    build.n(record.estimate),
                    of=where.of(group),
                )
        yield Block(self.name, tables=(build.build(),))

    def methods(self, view: ReportView) -> Iterable[str]:
        return (self.method,)

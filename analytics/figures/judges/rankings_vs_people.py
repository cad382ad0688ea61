"""Judges beside people by their rankings: Kendall's tau-b of mean ranks."""

from collections.abc import Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head
from analytics.figures.agreement.concordance import TAU
from analytics.figures.beside_people import TITLE
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, group_words
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.rankings.concordance import tau_with
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class RankingsBesidePeople:
    """Mean tau-b of the group's rankings with people's."""

    tau: Estimate


class RankingsVsPeopleFigure(Figure[RankingsBesidePeople]):
    heading = "judges"
    place = 30
    definition = "Kendall's tau-b between people's mean ranks of an item's responses and a judge's."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "ranking"

    def compute(self, given: FigureInput) -> RankingsBesidePeople | None:
        if given.people is None:
            return None
        assert isinstance(given, AnswerInput)
        assert isinstance(given.people, AnswerInput)
        ranks = given.people.answers.as_ranks(), given.answers.as_ranks()
        return RankingsBesidePeople(tau_with(*ranks, resample=given.resample("tau")))

    def title(self, view: ReportView) -> str:
        return TITLE

    def intro(self, view: ReportView) -> str:
        return "Judges' answers are compared with people's, on what both answered."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        build = Builder(
            f"Kendall's {TAU} between people's and the judge's mean ranks of an item's responses, averaged over items.",
            columns(["Question", "Raters", TAU, "n"], names=2),
        )
        for question in view.judged:
            for group in (each for each in question.groups if self.is_in(each)):
                tau = self.of(group).tau
                build.add(
                    head(question.prompt),
                    group_words(group),
                    build.coefficient(tau),
                    build.n(tau),
                )
        yield Block("Rankings vs people", tables=(build.build(),))


FIGURE = RankingsVsPeopleFigure()

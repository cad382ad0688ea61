"""Questions with one choice out of several: how often each was made, by group of raters and by system."""

from collections.abc import Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, TableCell, columns, count, head
from analytics.figures import where
from analytics.figures.figure_input import AnswerInput, FigureInput, point_records, points_of, several
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.rating_figure import RatingFigure
from analytics.figures.rating_records import Ratings, SystemRatings
from analytics.figures.report_view import ReportView, anchor_of, group_head, tag_of
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from evaluation.protocols import QuestionSpec


class ChoicesFigure(RatingFigure[Ratings]):
    heading = "choices"
    definition = "Choices: how often each option was chosen, overall and by system."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "choice"

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The share of each option, overall and by system."""
        assert isinstance(given, AnswerInput)
        points, values = points_of(given.question), given.values
        values = values.where(np.isin(values.value, points))
        systems = several(values.system, given.items.systems)
        for point, option in zip(points, point_records(given.question), strict=True):
            name = f"Share of {option.label}"
            chosen = (values.value == point).astype(np.float64)
            yield Quantity(name, mean_sums(chosen, values.query, unit="answers", within=SHARE))
            for code, system in systems:
                own = values.system == code
                sums = mean_sums(chosen[own], values.query[own], unit="answers", within=SHARE)
                yield Quantity(name, sums, systems=(system,))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            labels = [point.label for point in question.points]
            build = Builder(
                "How often each option was chosen, in percent.", columns(["Raters", *labels, "n"])
            )
            for group in question.groups:
                build.add(
                    group_head(group), *_shares_and_n(build, question, self.of(group)), of=where.of(group)
                )
            yield Block(question.prompt, tables=(build.build(),), anchor=anchor_of(question))
            lead = view.lead(question)
            for group in view.lead_first(question):
                if self.of(group).by_system:
                    yield Block(
                        view.title_for(group, f"By system: {question.prompt}"),
                        tables=(_by_system(view, question, labels, group),),
                        folded=group is not lead,
                        tag=tag_of(group),
                    )

    def methods(self, view: ReportView) -> Iterator[str]:
        yield from ()


FIGURE = ChoicesFigure()
KEY = FIGURE.key


def _by_system(view: ReportView, question: QuestionView, labels: list[str], group: GroupView) -> Table:
    build = Builder(
        "How often each option was chosen for the responses of each system, in percent.",
        columns(["System", *labels, "n"]),
    )
    for each in ChoicesFigure.of(group).by_system:
        of = where.of(group, system=each.system)
        build.add(head(view.system(each.system)), *_shares_and_n(build, question, each), of=of)
    return build.build()


def _shares_and_n(build: Builder, question: QuestionView, found: Ratings | SystemRatings) -> list[TableCell]:
    shares = found.distribution
    n = sum(each.n for each in shares)
    cells = (
        where.answered(build.share(each.share), each.share, question.key, str(each.value)) for each in shares
    )
    return [*cells, count(n, "judgments")]

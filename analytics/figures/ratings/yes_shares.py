"""Checklists that ask yes or no: shares of yes."""

from collections.abc import Iterator, Sequence

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.tables import DASH, Builder, TableCell, columns, head
from analytics.figures import where
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.rating_figure import RatingFigure, mean_of, rows_of
from analytics.figures.rating_records import Ratings
from analytics.figures.report_view import ReportView, tag_of
from evaluation.protocols import Kind, Over, QuestionSpec

KEY = "ratings/yes_shares"


class YesSharesFigure(RatingFigure[Ratings]):
    heading = "checks"
    definition = "Checklists: the share of yes answers, overall, by system, setting and category."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.CHECKLIST and question.over != Over.CHOICE

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = view.asked(self.key)
        plotted = [group for group in view.groups if any(view.answered(questions, group))]
        build = Builder(
            "Share of yes among all answers, in percent; n is the number of answers.",
            columns(["Question", *(label for group in plotted for label in (group.label, "n"))]),
        )
        for question in questions:
            cells: list[TableCell] = []
            for group in plotted:
                found = view.group_in(question, group)
                mean = self.of(found).overall if found else None
                cells += (
                    [build.share(mean, tag_of(group)), build.n(mean)]
                    if mean
                    else [TableCell(DASH), TableCell(DASH)]
                )
            build.add(head(question.prompt), *cells)
        plot = share_plot(
            [
                (
                    question.prompt,
                    [(group, self.of(group).overall) for group in view.plotted(question)],
                )
                for question in questions
            ],
            what="Share of yes",
            caption="Share of yes.",
        )
        yield Block(tables=(build.build(),), plot=plot)
        for group in (view.leading, *view.parts):
            yield from _by_system(view, questions, group)


FIGURE = YesSharesFigure()


def _by_system(view: ReportView, questions: Sequence[QuestionView], group: GroupView) -> Iterator[Block]:
    asked = [
        (question, YesSharesFigure.of(found))
        for question, found in view.answered(questions, group)
        if YesSharesFigure.of(found).by_system
    ]
    if not asked:
        return
    build = Builder(
        "Share of yes by system, in percent.",
        columns(["System", *(question.prompt for question, _ in asked)]),
    )
    for name, factor, key in rows_of(view, [found for _, found in asked]):
        system = key if factor == "system" else None
        cells = [
            where.rated(build.share(mean), question, mean.n, system=system) if mean else TableCell(DASH)
            for question, found in asked
            for mean in [mean_of(found, factor, key)]
        ]
        build.add(head(name), *cells, of=where.of(group, system=system) if system else None)
    yield Block(
        view.title_for(group, "By system"),
        tables=(build.build(),),
        folded=group is not view.leading,
        tag=tag_of(group),
    )

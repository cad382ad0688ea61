"""Ratings on a scale, of responses or whole items: means by system, and how often each point was given."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import P_COLUMNS, Builder, Table, columns, count, head, words
from analytics.figures import where
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.rating_figure import RatingFigure, distribution_table, finer, mean_cell, rows_of
from analytics.figures.rating_records import Ratings
from analytics.figures.report_view import ReportView, anchor_of, tag_of
from evaluation.protocols import Kind, Over, QuestionSpec

KEY = "ratings/scales"


class ScalesFigure(RatingFigure[Ratings]):
    heading = "ratings"
    definition = (
        "Ratings on a scale: mean and distribution, overall, by system, kind of system, setting and category, and "
        "tests of whether the best system is rated above every other and the worst below."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind != Kind.CHECKLIST and question.over != Over.VALUE

    def intro(self, view: ReportView) -> str:
        return "Means of all ratings, and for each question how often each rating was given."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = view.asked(self.key)
        yield Block(tables=(_means(view, questions, view.leading),), tag=tag_of(view.leading))
        for question in questions:
            yield _question(view, question)
        for group in view.others:
            if any(view.answered(questions, group)):
                heading = view.title_for(group, "Means")
                table = _means(view, questions, group)
                yield Block(heading, tables=(table,), folded=True, tag=tag_of(group))
        for group in view.parts:
            yield from _distributions(view, questions, group)
        yield from finer(view, questions, type(self))


FIGURE = ScalesFigure()


def _means(view: ReportView, questions: Sequence[QuestionView], group: GroupView) -> Table:
    """Systems as rows and questions as columns; a last row for all."""
    asked = list(view.answered(questions, group))
    found = [ScalesFigure.of(records) for _, records in asked]
    by_system = any(each.by_system for each in found)
    labels = [question.prompt for question, _ in asked]
    build = Builder("Mean ratings.", columns(["System" if by_system else "Ratings", *labels]))
    for name, factor, key in rows_of(view, found):
        of = where.of(group, system=key) if factor == "system" else None
        cells = (mean_cell(build, question, ScalesFigure.of(own), factor, key) for question, own in asked)
        build.add(head(name), *cells, of=of)
    both = [(question, ScalesFigure.of(own).overall) for question, own in asked]
    overall = [where.rated(build.coefficient(mean), question, mean.n) for question, mean in both]
    build.add(head("All"), *overall, of=where.of(group))
    numbers = [where.rated(count(mean.n), question, mean.n) for question, mean in both]
    build.add(head("Number of ratings"), *numbers, of=where.of(group))
    return build.build()


def _question(view: ReportView, question: QuestionView) -> Block:
    group = view.lead(question)
    return Block(
        question.prompt,
        tables=(
            distribution_table(view, question, group, ScalesFigure.of(group)),
            *_best_and_worst(view, ScalesFigure.of(group)),
        ),
        plot=_plot(view, question),
        tag=tag_of(group),
        anchor=anchor_of(question),
    )


def _distributions(view: ReportView, questions: Sequence[QuestionView], group: GroupView) -> Iterator[Block]:
    tables = tuple(
        replace(table, caption=f"{question.prompt}: {table.caption[:1].lower()}{table.caption[1:]}")
        for question, found in view.answered(questions, group)
        for table in (
            distribution_table(view, question, found, ScalesFigure.of(found)),
            *_best_and_worst(view, ScalesFigure.of(found)),
        )
    )
    if tables:
        heading = view.title_for(group, "How often each rating was given")
        yield Block(heading, tables=tables, folded=True, tag=tag_of(group))


def _best_and_worst(view: ReportView, found: Ratings) -> Iterator[Table]:
    tested = found.best_and_worst
    if not tested:
        return
    lowest = ", and that with the lowest below" if len(tested) > 1 else ""
    build = Builder(
        f"Tests of whether the system with the highest mean is rated above every other{lowest}: the largest p of the "
        "sign-flip tests against each, over the queries that both have; n is the smallest number of those queries.",
        columns(["System", "Rated", *P_COLUMNS, "n"], names=2),
    )
    for each in tested:
        rated = "above every other" if each.end == "best" else "below every other"
        test = each.test
        build.add(head(view.system(each.system)), words(rated), *build.tested(test), count(test.n))
    yield build.build()


def _plot(view: ReportView, question: QuestionView) -> DotPlot | None:
    low, high = question.ends
    plotted = list(view.plotted(question))
    rows = [
        (
            label,
            [
                (where.narrowed(group, system=each.system), each.mean)
                for group in plotted
                for each in ScalesFigure.of(group).by_system
                if each.system == key and each.mean
            ],
        )
        for key, label in view.systems.items()
    ]
    rows = [(label, marks) for label, marks in rows if marks]
    if not rows:
        rows = [("All", [(group, ScalesFigure.of(group).overall) for group in plotted])]
    ideal = question.ideal
    inside = ideal is not None and low < ideal < high
    return mean_plot(
        rows,
        what=f"Mean rating: {question.prompt}",
        axis="Mean rating",
        caption=f"Mean rating{'; the dotted line is the ideal' if inside else ''}.",
        within=(low, high),
        reference=ideal if inside else None,
    )

"""Validation of contexts: the share of follow-up questions of which a majority says yes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, several
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, group_head
from analytics.statistics.conditions.check_majorities import yes_majorities
from analytics.statistics.core.estimates import Estimate
from evaluation.protocols import Kind, Over, QuestionSpec

KEY = "conditions/context_checks"


@dataclass(frozen=True)
class SourceCheck:
    """Of the contexts that one source wrote, empty where it is not known."""

    source: str
    share: Estimate


@dataclass(frozen=True)
class ContextChecks:
    """Share of follow-up questions of which a majority says yes; also by what wrote the context, where that is more
    than one."""

    share: Estimate
    by_source: tuple[SourceCheck, ...]


class ContextChecksFigure(Figure[ContextChecks]):
    heading = "checks"
    place = 20
    definition = (
        "Checks of follow-up questions, such as whether one is important: the share of those of which a majority says "
        "yes, overall and by what wrote the context, such as a model."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.CHECKLIST and question.over == Over.FOLLOW_UP

    def compute(self, given: FigureInput) -> ContextChecks:
        """ContextEval Figure 2."""
        assert isinstance(given, AnswerInput)
        values, items = given.values, given.items
        source = items.context_source[values.item]
        by_source = (
            SourceCheck(
                name,
                yes_majorities(
                    values.where(np.equal(source, code)), resample=given.resample(f"majority {name}")
                ),
            )
            for code, name in several(source, items.context_sources)
        )
        return ContextChecks(yes_majorities(values, resample=given.resample("majority")), tuple(by_source))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = view.asked(self.key)
        if not questions:
            return
        tables = _tables(view, questions)
        plot = share_plot(
            [
                (question.prompt, [(group, self.of(group).share) for group in view.plotted(question)])
                for question in questions
            ],
            what="Share of follow-up questions with a majority of yes",
            axis="Share with a majority of yes",
            caption="Share of follow-up questions of which a majority says yes.",
        )
        yield Block("By majority", tables=tables, plot=plot, anchor="checks-by-majority")

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "A follow-up question passes a check by majority if more than half of its raters say yes; those with as "
            "many yes as no are left out."
        )


FIGURE = ContextChecksFigure()


def _tables(view: ReportView, questions: Sequence[QuestionView]) -> tuple[Table, ...]:
    """The shares, with n in a column where it is the same for every check, and otherwise in a table of its own.

    Even splits are left out check by check.
    """
    rows = list(_rows(view, questions))
    prompts = [question.prompt for question in questions]
    same = all(len({(cell.n, cell.left_out) for cell in cells if cell}) == 1 for *_, cells in rows)
    shares = Builder(
        "Share of follow-up questions of which more than half of the raters say yes, in percent.",
        columns(["Raters", "Contexts by", *prompts, *(["n"] if same else [])], names=2),
    )
    for group, name, cells in rows:
        figures = [shares.share(cell) if cell else TableCell(DASH) for cell in cells]
        n = [shares.n(next(cell for cell in cells if cell))] if same else []
        shares.add(group, name, *figures, *n)
    if same:
        return (shares.build(),)
    counts = Builder(
        "Number of follow-up questions that these shares are of, check by check.",
        columns(["Raters", "Contexts by", *prompts], names=2),
    )
    for group, name, cells in rows:
        counts.add(group, name, *(counts.n(cell) if cell else TableCell(DASH) for cell in cells))
    return shares.build(), counts.build()


def _rows(
    view: ReportView, questions: Sequence[QuestionView]
) -> Iterator[tuple[TableCell, TableCell, list[Estimate | None]]]:
    """Group, what wrote the context, and the share of each check, of those that any has."""
    for group in view.groups:
        found = [view.group_in(question, group) for question in questions]
        names = dict.fromkeys(
            row.source for each in found if each for row in ContextChecksFigure.of(each).by_source
        )
        for name in (None, *names) if any(found) else ():
            cells = [_share(each, name) for each in found]
            yield group_head(group), words("all" if name is None else name or "not known"), cells


def _share(group: GroupView | None, source: str | None) -> Estimate | None:
    """Of all contexts, or of those by this source."""
    if group is None:
        return None
    found = ContextChecksFigure.of(group)
    if source is None:
        return found.share
    return next((row.share for row in found.by_source if row.source == source), None)

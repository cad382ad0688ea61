"""Validation of contexts: the share of follow-up questions of which a majority says yes."""

from collections.abc import Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.tables import DASH, Builder, TableCell, columns, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import AnswerInput, FigureInput, several
from analytics.figures.report_view import ReportView, group_head
from analytics.statistics.conditions.check_majorities import yes_majorities
from analytics.statistics.core.estimates import plain
from evaluation.protocols import Kind, Over, QuestionSpec

KEY = "conditions/context_checks"
# Contexts are told apart by their keys where these are names, as of the models that made them, and not one per query.
MAX_CONTEXTS = 20


class ContextChecksFigure(Figure):
    heading = "checks"
    place = 20
    definition = (
        "Checks of follow-up questions, such as whether one is important: the share of those of which a majority says "
        "yes, overall and by the context's key."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.CHECKLIST and question.over == Over.FOLLOW_UP

    def compute(self, given: FigureInput) -> Record:
        """ContextEval Figure 2."""
        assert isinstance(given, AnswerInput)
        values, items = given.values, given.items
        contexts = several(items.context[values.item], items.contexts)
        by_context = [
            {
                "context": name,
                "share": plain(
                    yes_majorities(
                        values.where(np.equal(items.context[values.item], code)),
                        resample=given.resample(f"majority {name}"),
                    )
                ),
            }
            for code, name in (contexts if len(contexts) <= MAX_CONTEXTS else [])
        ]
        return {
            "share": plain(yes_majorities(values, resample=given.resample("majority"))),
            "by_context": by_context,
        }

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = view.asked(self.key)
        if not questions:
            return
        build = Builder(
            "Share of follow-up questions of which more than half of the raters say yes, in percent.",
            columns(["Raters", "Contexts", *(question["prompt"] for question in questions), "n"], names=2),
        )
        for group in view.groups:
            found = [view.group_in(question, group) for question in questions]
            told = [each for each in found if each]
            if not told:
                continue
            names = dict.fromkeys(row["context"] for each in told for row in each[self.key]["by_context"])
            for name in ("", *names):
                cells = [_share(each, name) for each in found]
                build.add(
                    group_head(group),
                    words(name or "all"),
                    *(build.share(cell) if cell else TableCell(DASH) for cell in cells),
                    build.n(next(cell for cell in cells if cell)),
                )
        plot = share_plot(
            [
                (question["prompt"], [(group, group[self.key]["share"]) for group in view.voiced(question)])
                for question in questions
            ],
            what="Share of follow-up questions with a majority of yes",
            caption="Share of follow-up questions of which a majority says yes.",
        )
        yield Block("By majority", tables=(build.build(),), plot=plot, anchor="checks-by-majority")

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "A follow-up question passes a check by majority if more than half of its raters say yes; those with as "
            "many yes as no are left out."
        )


FIGURE = ContextChecksFigure()


def _share(group: Record | None, context: str) -> Record | None:
    """Of all contexts, or of those with this key."""
    if group is None:
        return None
    found: Record = group[KEY]
    if not context:
        share: Record = found["share"]
        return share
    return next((row["share"] for row in found["by_context"] if row["context"] == context), None)

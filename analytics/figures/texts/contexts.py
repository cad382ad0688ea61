"""Shares of the study's queries that need and have a context, and the follow-up questions of each."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import decimal, percent
from analytics.display.tables import Builder, Table, columns, count, head, words
from analytics.figures.document import QueryCountRecord
from analytics.figures.figure import StudyFigure
from analytics.figures.report_view import ReportView
from analytics.statistics.core.estimates import Estimate


class ContextsFigure(StudyFigure):
    heading = "texts"
    place = 7
    definition = (
        "Share of the queries that need a context, by the pipeline's rule and by each generator; share of the drawn "
        "follow-up questions that its jury kept; share of the study's queries with a context, and number of follow-up "
        "questions of each."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        """ContextEval, sections 2 and 3.3."""
        if found := view.report["contexts"]:
            tables = (_table(found, is_share=True), _table(found, is_share=False))
            yield Block("Contexts", tables=tuple(filter(None, tables)))


FIGURE = ContextsFigure()


def _table(found: list[QueryCountRecord], *, is_share: bool) -> Table | None:
    rows = [each for each in found if each["is_share"] is is_share]
    if not rows:
        return None
    caption = (
        "Queries that need or have a context, and follow-up questions that were kept, in percent, with Wilson "
        "intervals where it is of queries."
        if is_share
        else "Follow-up questions per query, of the queries that have some."
    )
    names = ["Number", "Of", "Share"] if is_share else ["Follow-up questions", "Queries", "Per query"]
    build = Builder(
        caption,
        columns(["What is counted", "By", *names], names=2),
        foot=" ".join(filter(None, (each["note"] for each in rows))),
    )
    for each in rows:
        build.add(
            head(each["name"]),
            words(each["by"]),
            count(each["n"]),
            count(each["among"]),
            build.figure(Estimate(each["ratio"], each["low"], each["high"], each["among"], "items"), percent)
            if each["low"] is not None
            else build.number(each["ratio"], percent if is_share else decimal),
        )
    return build.build()

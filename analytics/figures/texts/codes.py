"""Shares of the codes that a model gave to the study's queries or texts, by system."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, columns, head, words
from analytics.figures.document import CodingRecord
from analytics.figures.figure import StudyFigure
from analytics.figures.report_view import ReportView
from analytics.statistics.core.reading import read
from analytics.statistics.texts.code_shares import CodeShares

SEVERAL = "Several codes may be right, so shares may add up to more than 100."


class CodesFigure(StudyFigure):
    heading = "texts"
    place = 6
    definition = (
        "Codes that a model gave to the study's queries or to texts of its systems, such as types of queries and "
        "categories of clarifying questions: share of each, by system, and who coded them."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        """ContextEval Table 1, AGENT-CQ Table 4."""
        for coding in view.report["codings"]:
            yield Block(coding["title"], (f"Coded by {coding['by']}.",), tables=(_table(view, coding),))


FIGURE = CodesFigure()


def _table(view: ReportView, coding: CodingRecord) -> Table:
    systems, lists = coding["systems"], coding["lists"]
    of_queries = systems == [""]
    who = "Queries" if of_queries else ""
    coded, queries = coding["queries"], view.report["counts"]["queries"]
    foot = [SEVERAL] if any(each["several"] for each in lists) else []
    if coded < queries:
        foot.append(f"Coded for {coded:,} of {queries:,} queries.")
    names = ["List", "Code"] if len(lists) > 1 else ["Code"]
    build = Builder(
        f"Share of each code among the {'queries' if of_queries else 'texts of a system'}, in percent.",
        columns(
            [*names, *(who or view.systems.get(key, key) or "No system" for key in systems)], names=len(names)
        ),
        foot=" ".join(foot),
    )
    for each in lists:
        for row in each["codes"]:
            name = (head(_words(each["list"])), words(_words(row["code"])))
            build.add(
                *(name if len(lists) > 1 else (head(_words(row["code"])),)),
                *(build.share(share) for share in read(CodeShares, row).shares),
            )
    last = [build.n(share) for share in read(CodeShares, lists[0]["codes"][0]).shares]
    build.add(
        head(f"Number of {'queries' if of_queries else 'texts'}"),
        *([words("")] if len(lists) > 1 else []),
        *last,
    )
    return build.build()


def _words(code: str) -> str:
    return code.replace("_", " ")

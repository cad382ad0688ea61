"""Number and share of the study's queries by category, split and source, and by category in each split."""

from collections.abc import Iterator, Mapping

from analytics.display.blocks import Block
from analytics.display.numbers import percent
from analytics.display.tables import Builder, Table, columns, count, head
from analytics.figures.figure import Record, StudyFigure
from analytics.figures.leaderboards.standings import SPLIT_NAMES
from analytics.figures.report_view import ReportView

# Of more rows than this the tables are opened by who wants them.
MOST_OPEN = 24
NAMES: Mapping[str, Mapping[str, str]] = {"category": {}, "split": SPLIT_NAMES, "source": {}}


class QueriesFigure(StudyFigure):
    heading = "texts"
    place = 5
    definition = (
        "Number and share of the study's queries, and number of its items, by category, by split and by source, "
        "wherever there are several of them; of several splits, the categories of each, too."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        """ContextEval Table 1 of categories that are types of queries; HREF Table 4 and Figure 5."""
        found = view.report["queries"]
        if found:
            whole = [each for each in found if each["split"] is None]
            folded = sum(len(each["values"]) for each in whole) > MOST_OPEN
            yield Block("Queries", tables=tuple(map(_table, whole)), folded=folded)
            if inside := [each for each in found if each["split"] is not None]:
                yield Block("Categories of each split", tables=tuple(map(_table, inside)), folded=True)


FIGURE = QueriesFigure()


def _table(found: Record) -> Table:
    by, others = found["by"], found["others"]
    beyond = (
        f"{others['values']:,} more have {others['queries']:,} queries and {others['items']:,} items in all."
        if others["values"]
        else ""
    )
    split = found["split"]
    of = "all queries"
    if split is not None:
        of = (
            f"the queries of the split {NAMES['split'].get(split, split)}"
            if split
            else "the queries of no split"
        )
    build = Builder(
        f"Queries by {by}, and their share of {of} in percent.",
        columns([by.capitalize(), "Queries", "Share", "Items"]),
        foot=beyond,
    )
    for each in found["values"]:
        build.add(
            head(NAMES[by].get(each["value"], each["value"]) or "none"),
            count(each["queries"]),
            build.number(each["share"], percent),
            count(each["items"]),
        )
    return build.build()

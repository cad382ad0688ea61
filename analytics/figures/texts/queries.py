"""Number and share of the study's queries by category, split and source, and by category in each split."""

from collections.abc import Iterator, Mapping, Sequence

from analytics.display.blocks import Block
from analytics.display.group_plots import PERCENT, short_percent
from analytics.display.numbers import percent
from analytics.display.plots import DotPlot, Mark, PlotRow, dot_plot
from analytics.display.tables import Builder, Table, columns, count, head
from analytics.figures import where
from analytics.figures.document import QueriesRecord
from analytics.figures.figure import StudyFigure
from analytics.figures.report_view import SPLIT_NAMES, ReportView

# Of more rows than this the tables are opened by who wants them.
MOST_OPEN = 24
# Whose the marks of all queries are.
ALL = "queries"
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
            if plot := _plot([each for each in whole if each["by"] == "category"]):
                yield Block("Queries by category", plot=plot, folded=folded)
            if inside := [each for each in found if each["split"] is not None]:
                yield Block(
                    "Categories of each split",
                    tables=tuple(map(_table, inside)),
                    plot=_plot(inside),
                    folded=True,
                )


FIGURE = QueriesFigure()


def _plot(found: Sequence[QueriesRecord]) -> DotPlot | None:
    """The share of each category, in a row of its own; marks are of splits. None of more than can be read."""
    shares = [{each["value"]: each["share"] for each in of["values"]} for of in found]
    categories = list(dict.fromkeys(value for of in shares for value in of))
    if not found or len(categories) > MOST_OPEN or any(of["others"]["values"] for of in found):
        return None
    splits = [_split(of["split"]) for of in found]
    return dot_plot(
        [
            PlotRow(
                value or "none",
                tuple(
                    Mark("person", split, of.get(value, 0.0))
                    for split, of in zip(splits, shares, strict=True)
                ),
            )
            for value in categories
        ],
        what="Share of queries by category",
        axis="Share of queries",
        unit=PERCENT,
        caption=f"Share of the queries of each category{'' if splits == [ALL] else ', by split'}.",
        form=short_percent,
        within=(0.0, 1.0),
        reference=0.0,
    )


def _split(split: str | None) -> str:
    return ALL if split is None else NAMES["split"].get(split, split) or "no split"


def _table(found: QueriesRecord) -> Table:
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
            count(each["items"], "items"),
            of=where.of_queries(by, each["value"], split),
        )
    return build.build()

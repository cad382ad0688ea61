"""Times per judgment, item and rater, and skips."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, TableCell, columns, count, head, words
from analytics.figures.figure import Record, StudyFigure
from analytics.figures.raters.judgments import MAX_RATERS
from analytics.figures.report_view import ReportView

WHOSE = {"person": "People", "simulated": "Simulated raters"}
WATCHED = {"active": "active", "visible": "visible"}
NOT_RECORDED = "No judgment has such a time."


class TimesFigure(StudyFigure):
    heading = "raters"
    place = 95
    definition = (
        "Times of people's judgments in seconds, active (from opening to submitting) and visible (with the page in "
        "view): mean, standard deviation and quartiles, by item and rater, along a rater's work; and skips."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for found in view.report["times"]:
            tables = (_times(found), _thirds(found), _raters(view, found))
            yield Block(f"Times: {WHOSE[found['kind']].lower()}", tables=tables, folded=True)


FIGURE = TimesFigure()


def _seconds(value: float) -> str:
    return f"{value:.1f}"


def _times(found: Record) -> Table:
    build = Builder(
        "Seconds per judgment, active and with the page in view, and the quartiles of the medians of items and raters.",
        columns(["Time", "Of", "Mean", "SD", "First quartile", "Median", "Third quartile", "n"], names=2),
    )
    for key, name in WATCHED.items():
        times = found[key]
        build.add(
            head(name),
            words("judgments"),
            build.figure(times["mean"], _seconds),
            build.number(times["spread"], _seconds, times["mean"]["undefined"] or "There is one judgment."),
            *_quartiles(build, times["quartiles"]),
            build.n(times["mean"]),
        )
        for what in ("item", "rater"):
            cells = _quartiles(build, times[f"{what}_medians"])
            build.add(head(name), words(f"{what}s"), words(""), words(""), *cells, words(""))
    return build.build()


def _quartiles(build: Builder, values: list[float]) -> list[TableCell]:
    return [build.number(value, _seconds, NOT_RECORDED) for value in values or (None,) * 3]


def _thirds(found: Record) -> Table:
    build = Builder(
        "Median seconds along a rater's work, of raters with three judgments or more.",
        columns(["Time", "First third", "Second third", "Last third"]),
    )
    for key, name in WATCHED.items():
        values = found[key]["thirds"] or (None,) * 3
        build.add(head(name), *(build.number(value, _seconds, NOT_RECORDED) for value in values))
    return build.build()


def _raters(view: ReportView, found: Record) -> Table:
    beyond = len(found["raters"]) - MAX_RATERS
    build = Builder(
        "Median seconds per judgment, and skipped items, by rater.",
        columns(["Rater", "Judgments", "Active", "Visible", "Skipped"]),
        foot=f"{beyond:,} more raters are in the JSON." if beyond > 0 else "",
    )
    for each in found["raters"][:MAX_RATERS]:
        build.add(
            head(view.raters[each["rater"]]),
            count(each["judgments"]),
            build.number(each["active"], _seconds),
            build.number(each["visible"], _seconds, NOT_RECORDED),
            count(each["skipped"]),
        )
    return build.build()

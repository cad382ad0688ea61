"""Times per judgment, item and rater, and skips."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, TableCell, columns, count, head, words
from analytics.figures import where
from analytics.figures.document import ItemTimes, RaterTimes, TimesRecord
from analytics.figures.figure import StudyFigure
from analytics.figures.raters.judgments import MAX_RATERS
from analytics.figures.report_view import ReportView
from analytics.statistics.core.reading import read
from analytics.statistics.raters.times import Times

WHOSE = {"person": "People", "simulated": "Simulated raters"}
WATCHED: dict[Literal["active", "visible"], str] = {"active": "active", "visible": "visible"}
NOT_RECORDED = "No judgment has such a time."
NO_TIMES = "No judgment has a recorded time."
IMPORTED = "Imported judgments have the times of their file, such as those from accepting an assignment to submitting."


class TimesFigure(StudyFigure):
    heading = "raters"
    place = 95
    definition = (
        "Times of people's judgments in seconds, active (from opening to submitting) and visible (with the page in "
        "view): mean, standard deviation and quartiles, by item and rater, along a rater's work; the items that took "
        "longest; and skips by rater and item."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for found in view.report["times"]:
            raters = WHOSE[found["kind"]].lower()
            if found["active"]["mean"]["n"]:
                tables = (_times(found), _thirds(found), _raters(view, found), _items(found))
                yield Block(f"Times: {raters}", tables=tables, folded=True)
            else:
                skips = (_skips_by_rater(view, found), _skips_by_item(found))
                yield Block(f"Skips: {raters}", (NO_TIMES,), tables=skips, folded=True)


FIGURE = TimesFigure()


def _seconds(value: float) -> str:
    return f"{value:.1f}"


def _times(found: TimesRecord) -> Table:
    build = Builder(
        "Seconds per judgment, active and with the page in view, and the quartiles of the medians of items and raters.",
        columns(["Time", "Of", "Mean", "SD", "First quartile", "Median", "Third quartile", "n"], names=2),
        foot=IMPORTED if found["imported"] else "",
    )
    for key, name in WATCHED.items():
        times = read(Times, found[key])
        build.add(
            head(name),
            words("judgments"),
            *_mean(build, times),
            *_quartiles(build, times.quartiles),
            build.n(times.mean),
        )
        for what in ("item", "rater"):
            cells = _quartiles(build, times.item_medians if what == "item" else times.rater_medians)
            build.add(head(name), words(f"{what}s"), words(""), words(""), *cells, words(""))
    return build.build()


def _mean(build: Builder, times: Times) -> tuple[TableCell, TableCell]:
    """The mean and the standard deviation."""
    if times.mean.value is None:
        none = build.number(None, _seconds, NOT_RECORDED)
        return none, none
    return build.figure(times.mean, _seconds), build.number(times.spread, _seconds, "There is one judgment.")


def _quartiles(build: Builder, values: Sequence[float]) -> list[TableCell]:
    return [build.number(value, _seconds, NOT_RECORDED) for value in values or (None,) * 3]


def _thirds(found: TimesRecord) -> Table:
    build = Builder(
        "Median seconds along a rater's work, of raters with three judgments or more.",
        columns(["Time", "First third", "Second third", "Last third"]),
    )
    for key, name in WATCHED.items():
        values = read(Times, found[key]).thirds or (None,) * 3
        build.add(head(name), *(build.number(value, _seconds, NOT_RECORDED) for value in values))
    return build.build()


def _raters(view: ReportView, found: TimesRecord) -> Table:
    build = Builder(
        "Judgments with a recorded time, their median seconds, and skipped items, by rater.",
        columns(["Rater", "Judgments", "Active", "Visible", "Skipped"]),
        foot=_others(found["raters"]),
    )
    for each in found["raters"][:MAX_RATERS]:
        build.add(_name(view, each), *_medians(build, each), of=where.recorded(each["rater"]))
    return build.build()


def _items(found: TimesRecord) -> Table:
    build = Builder(
        "Judgments with a recorded time and their median seconds, of the items that took longest, and how many raters "
        "skipped them; items that were skipped most stand among them.",
        columns(["Item", "Judgments", "Active", "Visible", "Skipped"]),
    )
    for each in found["items"]:
        build.add(head(each["item"]), *_medians(build, each))
    return build.build()


def _medians(build: Builder, each: RaterTimes | ItemTimes) -> tuple[TableCell, ...]:
    return (
        count(each["judgments"]),
        build.number(each["active"], _seconds, NOT_RECORDED),
        build.number(each["visible"], _seconds, NOT_RECORDED),
        _skipped(each),
    )


def _skipped(each: RaterTimes | ItemTimes) -> TableCell:
    return replace(count(each["skipped"]), where=where.outcome("skipped", "items", each["skipped"]))


def _skips_by_rater(view: ReportView, found: TimesRecord) -> Table:
    build = Builder("Skipped items, by rater.", columns(["Rater", "Skipped"]), foot=_others(found["raters"]))
    for each in found["raters"][:MAX_RATERS]:
        build.add(_name(view, each), _skipped(each), of=where.recorded(each["rater"]))
    return build.build()


def _skips_by_item(found: TimesRecord) -> Table:
    build = Builder(
        "Raters who skipped an item, of the items that were skipped most.", columns(["Item", "Skipped"])
    )
    for each in found["items"]:
        build.add(head(each["item"]), _skipped(each))
    return build.build()


def _name(view: ReportView, each: RaterTimes) -> TableCell:
    """A rater who only skipped is none of those with judgments, and has a pseudonym alone."""
    return head(view.raters.get(each["rater"], each["rater"]))


def _others(raters: list[RaterTimes]) -> str:
    beyond = len(raters) - MAX_RATERS
    return f"{beyond:,} more raters are in the JSON." if beyond > 0 else ""

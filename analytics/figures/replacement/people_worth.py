"""The number of people that a judge is worth: its place on the curve of the majority, or mean, of 1, 2, ... people."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import PERCENT, mark_of, short_percent
from analytics.display.numbers import decimal
from analytics.display.plots import DotPlot, Mark, PlotRow, dot_plot
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head
from analytics.figures.beside_people import TITLE, is_single_judge, label_tables
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    PAIRS,
    UNITS,
    AnswerInput,
    FigureInput,
    PairInput,
    level_of,
    points_of,
)
from analytics.figures.groups import GroupView
from analytics.figures.report_view import ReportView, group_words
from analytics.statistics.core.counts import unique_mode
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import MISSING, TIE
from analytics.statistics.replacement.people_worth import PeopleWorth, worth_by_labels, worth_by_numbers
from evaluation.protocols import Kind, Over, QuestionSpec

# Numbers of people of which the table shows the curve.
SHOWN = (1, 2, 3, 5, 10)
EXTRAPOLATED = (
    "Extrapolated: most of what was rated has fewer people beside the one whose rating is held out."
)


@dataclass(frozen=True)
class JudgeWorth:
    """The number of people that a judge is worth, as the statistic has it, and the score by which it is told."""

    value: float | None
    low: float | None
    high: float | None
    beyond: bool
    most: int | None
    others: int | None
    curve: tuple[Estimate, ...]
    judge: Estimate
    undefined: str
    score: Literal["agreement", "rmse"]


class PeopleWorthFigure(Figure[JudgeWorth]):
    heading = "judges"
    place = 14
    stops_with = ("agreement",)
    beside_people = True
    deferred_as = "people that a judge is worth"
    definition = (
        "How many people a judge is worth: the fewest whose majority (of a scale, whose mean) predicts a further "
        "person's answer as well as the judge does, with the curve of 0, 1, 2, ... people."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in (PAIRS, "rated", "choice", "picks")

    def is_of(self, given: FigureInput) -> bool:
        return is_single_judge(given)

    def compute(self, given: FigureInput) -> JudgeWorth:
        numbers = not isinstance(given, PairInput) and level_of(given.question) != "nominal"
        found = _of_numbers(given) if numbers else _of_labels(given)
        return JudgeWorth(**vars(found), score="rmse" if numbers else "agreement")

    def title(self, view: ReportView) -> str:
        return TITLE

    def blocks(self, view: ReportView) -> Iterator[Block]:
        tables = [_table(view, self.key, score) for score in ("agreement", "rmse")]
        tables = [table for table in tables if table.rows]
        if tables:
            yield Block("Judges in people", tables=tuple(tables))
        for question in view.judged:
            for group in question.groups:
                plot = _curve(group, self.of(group)) if self.is_in(group) else None
                if plot:
                    title = f"{question.prompt or 'Preference'}: {group.label} in people"
                    yield Block(title, plot=plot, folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A judge is worth as many people as predict a further person's answer as well as it does, by their "
            "majority or, on a scale, by their mean."
        )
        scores = {found.score for found in self.records(view)}
        if "agreement" in scores:
            yield (
                "To find how well a majority predicts, every answer is held out in turn and predicted by every set of "
                "so many others."
            )
        if "rmse" in scores:
            yield (
                "The mean of k people misses a further rating by s (1 + 1/k) in the mean square, s being the variance "
                "of the ratings of one thing, which is taken from all things that two or more people rated; for more "
                "people than rated most things besides, this is an extrapolation."
            )


FIGURE = PeopleWorthFigure()


def _of_numbers(given: FigureInput) -> PeopleWorth:
    assert isinstance(given, AnswerInput)
    assert isinstance(given.people, AnswerInput)
    resample = given.resample("worth")
    return worth_by_numbers(given.people.values, given.values, unit=given.unit, resample=resample)


def _of_labels(given: FigureInput) -> PeopleWorth:
    resample = given.resample("worth")
    if isinstance(given, PairInput):
        assert isinstance(given.people, PairInput)
        # Nobody's guess is among the labels that can be given.
        n_labels = given.n_votes if given.question.ties else TIE
        return worth_by_labels(
            given.people.votes[:, :n_labels],
            unique_mode(given.votes[:, :n_labels]),
            given.items.query,
            unit=UNITS[Over.ITEM],
            resample=resample,
        )
    assert isinstance(given, AnswerInput)
    assert isinstance(given.people, AnswerInput)
    people, judge, query = label_tables(given.people, given)
    if given.question.kind == Kind.PREFERENCE and not given.question.ties:
        people, judge = people[:, 1:], np.where(judge > 0, judge - 1, MISSING)
    elif given.question.kind != Kind.PREFERENCE:
        lacking = len(points_of(given.question)) - people.shape[1]
        people = np.pad(people, ((0, 0), (0, max(lacking, 0))))
    return worth_by_labels(people, judge, query, unit=given.unit, resample=resample)


def _points(found: JudgeWorth) -> Sequence[Estimate]:
    """The curve from one person on: that of labels begins with nobody."""
    return found.curve[1:] if found.score == "agreement" else found.curve


def _curve(group: GroupView, found: JudgeWorth) -> DotPlot | None:
    """A row per number of people, beside the judge, whose place is where the curve crosses the line."""
    judge = found.judge
    if judge.value is None:
        return None
    is_share = found.score == "agreement"
    rows = [
        PlotRow(
            f"{_people(k)}{' (extrapolated)' if found.others is not None and k > found.others else ''}",
            (Mark("person", "People", point.value, point.low, point.high, point.n),),
        )
        for k, point in enumerate(_points(found), 1)
    ]
    measured = (
        "Agreement of so many people's majority with a further person"
        if is_share
        else "Root mean square error of so many people's mean as a prediction of a further person's rating"
    )
    return dot_plot(
        [*rows, PlotRow(group.label, (mark_of(group, judge),))],
        what=f"{measured}, and that of {group.label}",
        axis="Agreement with a further person" if is_share else "Root mean square error",
        unit=PERCENT if is_share else "",
        caption=f"{measured}, with 95 % intervals. The dotted line is the judge, who is worth as many people as lie "
        "on it.",
        form=short_percent if is_share else decimal,
        within=(0.0, 1.0) if is_share else None,
        reference=judge.value,
    )


def _table(view: ReportView, key: str, score: str) -> Table:
    caption = {
        "agreement": "agreement with a further person of so many people's majority, and of the judge, in percent",
        "rmse": "root mean square error of so many people's mean, and of the judge, as a prediction of a further "
        "person's rating",
    }[score]
    build = Builder(
        f"How many people a judge is worth: {caption}.",
        columns(["Question", "Judge", *(_people(k) for k in SHOWN), "The judge", "Worth", "n"], names=2),
    )
    for question in view.judged:
        for group in question.groups:
            found = PeopleWorthFigure.of(group) if PeopleWorthFigure.is_in(group) else None
            if found is None or found.score != score:
                continue
            points = _points(found)
            write = build.share if score == "agreement" else build.coefficient
            build.add(
                head(question.prompt or "Preference"),
                group_words(group),
                *(
                    _marked(build, found, k, write(points[k - 1])) if k <= len(points) else TableCell(DASH)
                    for k in SHOWN
                ),
                write(found.judge),
                _worth(build, found),
                build.n(found.judge),
            )
    return build.build()


def _worth(build: Builder, found: JudgeWorth) -> TableCell:
    marks = build.note(found.undefined)
    if found.value is None and not found.beyond:
        return TableCell(DASH, marks=marks)
    most = found.most
    above = "more than any" if most is None else f"more than {most}"
    text = above if found.value is None else decimal(found.value)
    marks += _beyond_others(build, found, found.value)
    if found.undefined:
        return TableCell(text, marks=marks)
    low, high = (above if end is None else decimal(end) for end in (found.low, found.high))
    return TableCell(text, high if low == high else f"{low} to {high}", marks)


def _marked(build: Builder, found: JudgeWorth, k: int, cell: TableCell) -> TableCell:
    """The cell of so many people, with a footnote where there are not as many."""
    return replace(cell, marks=cell.marks + _beyond_others(build, found, k))


def _beyond_others(build: Builder, found: JudgeWorth, k: float | None) -> tuple[int, ...]:
    others = found.others
    return build.note(EXTRAPOLATED) if others is not None and k is not None and k > others else ()


def _people(k: int) -> str:
    return "1 person" if k == 1 else f"{k} people"

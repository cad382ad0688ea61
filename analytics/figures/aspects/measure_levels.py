"""The mean of each measure at every level of people's overall rating."""

from collections.abc import Iterable, Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot, score_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, head, words
from analytics.figures.aspect_figure import overall_aspects
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import UNITS, AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, number
from analytics.frames.aspects import OVERALL_KEYS
from analytics.frames.measures import MeasureValues
from analytics.statistics.aspects.levels import measure_by_level
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.values import UnitMeans, unit_means
from evaluation.models import Rater
from evaluation.protocols import Kind, QuestionSpec


class MeasureLevelsFigure(Figure):
    heading = "aspects"
    place = 50
    definition = (
        "The mean of each measure among the responses at each level of the overall rating: the one nearest to "
        "people's mean."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE

    def compute(self, given: FigureInput) -> Record | None:
        """LFQA Figure 5."""
        assert isinstance(given, AnswerInput)
        if given.group_key != Rater.Kind.PERSON or not given.measures:
            return None
        if given.question.key not in OVERALL_KEYS and not overall_aspects(given):
            return None
        means = unit_means(given.values)
        found = [record for each in given.measures if (record := _record(given, each, means)) is not None]
        return {"measures": found} if found else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            people = next(each for each in question["groups"] if self.key in each)
            measures = people[self.key]["measures"]
            yield Block(f"Measures by {question['prompt']}", tables=(_table(measures, question),))
            for each in measures:
                yield Block(plot=_plot(each, question))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "For means of a measure by overall level, a response is at the level that is nearest to people's mean "
            "rating of it, the higher one halfway between two."
        )


FIGURE = MeasureLevelsFigure()


def _record(given: AnswerInput, measured: MeasureValues, means: UnitMeans) -> Record | None:
    """None for a measure of something else than what was rated."""
    numbers = measured.at(given.answers)[means.unit]
    if not np.isfinite(numbers).any():
        return None
    low, high = measured.measure.low, measured.measure.high
    within = None if low is None or high is None else (low, high)
    levels = measure_by_level(
        numbers,
        means.mean,
        means.query,
        points=given.question.points,
        within=within,
        resample=given.resample(f"measure {measured.measure.name} of {measured.rater} by level"),
        unit=UNITS[given.question.over],
    )
    return {
        "measure": measured.measure.name,
        "label": measured.measure.title,
        "judge": measured.label,
        "rater": measured.rater,
        "within": list(within) if within else None,
        "levels": plain(levels),
    }


def _level(question: Record, value: float) -> str:
    label = next((point["label"] for point in question["points"] if point["value"] == value), "")
    return f"{number(value)} {label}".strip()


def _table(measures: list[Record], question: Record) -> Table:
    build = Builder(
        f"Mean of each measure by {question['prompt']}: the level that is nearest to people's mean.",
        columns(["Measure", "By", question["prompt"], "Mean", "n"], names=3),
    )
    for each in measures:
        for level in each["levels"]:
            build.add(
                head(each["label"]),
                words(each["judge"]),
                words(_level(question, level["level"])),
                build.coefficient(level["mean"]),
                build.n(level["mean"]),
            )
    return build.build()


def _plot(measure: Record, question: Record) -> DotPlot | None:
    judge = {"kind": "judge", "label": measure["judge"]}
    rows = [(_level(question, each["level"]), [(judge, each["mean"])]) for each in measure["levels"]]
    what = f"{measure['label']} by {question['prompt']}"
    caption = f"{measure['label']}, mean by {question['prompt']}."
    if measure["within"] is None:
        return score_plot(rows, what=what, axis=measure["label"], caption=caption)
    low, high = measure["within"]
    return mean_plot(rows, what=what, axis=measure["label"], caption=caption, within=(low, high))

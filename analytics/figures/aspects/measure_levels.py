"""Measures, and judges' own overall ratings, at every level of people's overall rating: mean and spread."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import PlottedRaters, mean_plot, score_plot
from analytics.display.numbers import decimal, ended
from analytics.display.plots import DotPlot
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.aspect_figure import overall_aspects
from analytics.figures.figure import Figure
from analytics.figures.figure_input import UNITS, AnswerInput, FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import DerivedJudges, StudyMeasures
from analytics.figures.report_view import ReportView, number
from analytics.frames.aspects import OVERALL_KEYS
from analytics.frames.measures import MeasureValues
from analytics.statistics.aspects.levels import LevelSpread, measure_by_level
from analytics.statistics.core.values import UnitMeans, unit_means
from evaluation.models import Rater
from evaluation.protocols import Kind, QuestionSpec

KEY = "aspects/measure_levels"
RATING = "rating"
# Judges beyond these are in the records alone; a longer table is opened by who wants it.
MOST_JUDGES, MOST_OPEN = 10, 15
QUARTILES = ("Lower", "Median", "Upper")


@dataclass(frozen=True)
class MeasureByLevel:
    """A measure by people's overall rating, and the ends of it, None where it has none."""

    measure: str
    label: str
    judge: str
    rater: str
    within: tuple[float, float] | None
    levels: tuple[LevelSpread, ...]


@dataclass(frozen=True)
class MeasuresByLevel:
    """In the record of people, the measures by people's overall rating."""

    measures: tuple[MeasureByLevel, ...]


@dataclass(frozen=True)
class RatingsByLevel:
    """In the record of a judge, its own ratings of what people rated, by people's overall rating."""

    levels: tuple[LevelSpread, ...]


# Judges, each with its ratings.
Judges = Sequence[tuple[GroupView, tuple[LevelSpread, ...]]]


class MeasureLevelsFigure(Figure[MeasuresByLevel | RatingsByLevel]):
    needs = (DerivedJudges, StudyMeasures)
    heading = "aspects"
    place = 50
    deferred_as = "measures by level"
    definition = (
        "Each measure, and each judge's own overall rating, among the responses at each level of the overall rating, "
        "the one nearest to people's mean: mean, standard deviation and quartiles."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE

    def is_of(self, given: FigureInput) -> bool:
        """Of an overall rating."""
        assert isinstance(given, AnswerInput)
        return given.question.key in OVERALL_KEYS or bool(
            overall_aspects(given, self.need(given, DerivedJudges))
        )

    def compute(self, given: FigureInput) -> MeasuresByLevel | RatingsByLevel | None:
        """LFQA Figure 5: measures in the record of people, a judge's own ratings in that of the judge."""
        assert isinstance(given, AnswerInput)
        if given.group_key == Rater.Kind.PERSON:
            return _of_measures(given, self.need(given, StudyMeasures).values)
        if given.group.kind == Rater.Kind.JUDGE and not given.group.heuristic:
            return _of_judge(given)
        return None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            found = [(group, self.of(group)) for group in question.groups]
            measures = [each for _, own in found if isinstance(own, MeasuresByLevel) for each in own.measures]
            judges = [(group, own.levels) for group, own in found if isinstance(own, RatingsByLevel)]
            names = [name for name, some in (("measures", measures), ("judges", judges)) if some]
            table = _table(measures, judges, question)
            yield Block(
                f"{' and '.join(names).capitalize()} by {question.prompt}",
                tables=(table,),
                folded=len(table.rows) > MOST_OPEN,
            )
            for each in measures:
                yield Block(plot=_plot(each, question))
            if judges:
                yield Block(plot=_plot_of_judges(judges[:MOST_JUDGES], question))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "For means by overall level, of measures and of judges' own ratings, a response is at the level that is "
            "nearest to people's mean rating of it, the higher one halfway between two."
        )


FIGURE = MeasureLevelsFigure()


def _of_measures(given: AnswerInput, measures: Sequence[MeasureValues]) -> MeasuresByLevel | None:
    if not measures:
        return None
    means = unit_means(given.values)
    found = tuple(record for each in measures if (record := _record(given, each, means)) is not None)
    return MeasuresByLevel(found) if found else None


def _of_judge(given: AnswerInput) -> RatingsByLevel | None:
    """The judge's own ratings, of what people rated; None where it rated nothing of that."""
    if given.people is None:
        return None
    assert isinstance(given.people, AnswerInput)
    means, own = unit_means(given.people.values), unit_means(given.values)
    _, at, at_own = np.intersect1d(means.unit, own.unit, assume_unique=True, return_indices=True)
    if not len(at):
        return None
    ratings = np.full(len(means), np.nan)
    ratings[at] = own.mean[at_own]
    levels = measure_by_level(
        ratings,
        means.mean,
        means.query,
        points=given.question.points,
        within=given.ends,
        resample=given.resample("ratings by people's level"),
        unit=given.unit,
        score=RATING,
    )
    return RatingsByLevel(tuple(levels))


def _record(given: AnswerInput, measured: MeasureValues, means: UnitMeans) -> MeasureByLevel | None:
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
    return MeasureByLevel(
        measured.measure.name,
        measured.measure.title,
        measured.label,
        measured.rater,
        within,
        tuple(levels),
    )


def _level(question: QuestionView, value: float) -> str:
    label = next((point.label for point in question.points if point.value == value), "")
    return f"{number(value)} {label}".strip()


def _table(measures: Sequence[MeasureByLevel], judges: Judges, question: QuestionView) -> Table:
    """Measures first, then the judges that rated the same, as many as are shown."""
    prompt, more = question.prompt, len(judges) - MOST_JUDGES
    scores = [name for name, found in (("each measure", measures), ("each judge's ratings", judges)) if found]
    build = Builder(
        f"Mean of {' and of '.join(scores)} by {prompt}: the level that is nearest to people's mean. SD and quartiles "
        "are of single values at that level.",
        columns(["Score", "By", prompt, "Mean", "SD", *QUARTILES, "n"], names=3),
        foot=f"Of {MOST_JUDGES} judges; {more:,} more are in the report's data." if more > 0 else "",
    )
    rows = [(each.label, each.judge, each.levels) for each in measures]
    rows += [(prompt, group.label, levels) for group, levels in judges[:MOST_JUDGES]]
    for label, by, levels in rows:
        for level in levels:
            spread = level.standard_deviation
            build.add(
                head(label),
                words(by),
                words(_level(question, level.level)),
                build.coefficient(level.mean),
                TableCell(DASH if spread is None else decimal(spread)),
                *(TableCell(decimal(each)) for each in level.quartiles),
                *(TableCell(DASH) for _ in QUARTILES[len(level.quartiles) :]),
                build.n(level.mean),
            )
    return build.build()


def _plot(measure: MeasureByLevel, question: QuestionView) -> DotPlot | None:
    judge = PlottedRaters("judge", measure.judge)
    rows = [(_level(question, each.level), [(judge, each.mean)]) for each in measure.levels]
    what = f"{measure.label} by {question.prompt}"
    caption = ended(f"{measure.label}, mean by {question.prompt}")
    if measure.within is None:
        return score_plot(rows, what=what, axis=measure.label, caption=caption)
    low, high = measure.within
    return mean_plot(rows, what=what, axis=measure.label, caption=caption, within=(low, high))


def _plot_of_judges(judges: Judges, question: QuestionView) -> DotPlot | None:
    """A row per level, on the whole scale."""
    prompt = question.prompt
    return mean_plot(
        [
            (
                _level(question, point.number),
                [(group, levels[at].mean) for group, levels in judges],
            )
            for at, point in enumerate(question.points)
        ],
        what=f"Judges' {prompt} by people's",
        axis=prompt,
        caption=f"Judges' mean {prompt} by people's.",
        within=question.ends,
        whole=True,
    )

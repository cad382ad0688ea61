"""The mean of each aspect at every level of the overall rating."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, head
from analytics.figures.aspect_figure import AspectFigure
from analytics.figures.figure_input import AnswerInput, PointRecord
from analytics.figures.groups import QuestionView
from analytics.figures.report_view import ReportView, number, tag_of
from analytics.frames.aspects import AspectRatings
from analytics.statistics.aspects.levels import LevelMean, means_by_level
from analytics.statistics.core.values import point_codes
from evaluation.protocols import QuestionSpec

KEY = "aspects/levels"


@dataclass(frozen=True)
class AspectByLevel:
    """The means of an aspect's ratings by the level of the overall rating."""

    key: str
    prompt: str
    levels: tuple[LevelMean, ...]


@dataclass(frozen=True)
class AspectLevels:
    """Of single ratings by one group; `between_points` are overall ratings between the levels, which are at none."""

    between_points: int
    aspects: tuple[AspectByLevel, ...]


class LevelsFigure(AspectFigure[AspectLevels]):
    place = 30
    deferred_as = "aspects by level"
    definition = "The mean of each aspect among the ratings that gave each level of the overall rating."

    def record(
        self, given: AnswerInput, aspects: Sequence[QuestionSpec], rated: AspectRatings
    ) -> AspectLevels:
        """LFQA Figure 7."""
        rated = rated.where(np.isfinite(rated.overall))
        between = point_codes(rated.overall, given.question.points) < 0
        found = []
        for at, aspect in enumerate(aspects):
            levels = means_by_level(
                rated.given[:, at],
                rated.overall,
                rated.query,
                points=given.question.points,
                within=(aspect.points[0], aspect.points[-1]),
                resample=given.resample(f"{aspect.key} by level"),
            )
            found.append(AspectByLevel(aspect.key, aspect.prompt, tuple(levels)))
        return AspectLevels(int(np.count_nonzero(between)), tuple(found))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            lead = view.lead(question)
            for group in view.lead_first(question):
                yield Block(
                    view.title_for(group, f"Aspects by {question.prompt}"),
                    tables=(_table(self.of(group), question),),
                    folded=group is not lead,
                    tag=tag_of(group),
                )
            for at, aspect in enumerate(self.of(lead).aspects):
                title = f"{aspect.prompt} by {question.prompt}"
                if plot := _plot(view, question, at):
                    yield Block(title, plot=plot, folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Means of an aspect by overall level are over single ratings: a rater's rating of the aspect counts at "
            "the level that the same rater gave overall."
        )


FIGURE = LevelsFigure()


def _table(found: AspectLevels, question: QuestionView) -> Table:
    prompt, between = question.prompt, found.between_points
    build = Builder(
        f"Mean rating of each aspect by the {prompt} that the same rater gave.",
        columns([prompt, *(each.prompt for each in found.aspects), "n"]),
        foot=f"Not included: {between:,} ratings between these levels." if between else "",
    )
    for at, point in enumerate(question.points):
        means = [each.levels[at].mean for each in found.aspects]
        build.add(head(_level(point)), *map(build.coefficient, means), build.n(means[0]))
    return build.build()


def _level(point: PointRecord) -> str:
    return f"{number(point.number)} {point.label}".strip()


def _plot(view: ReportView, question: QuestionView, at: int) -> DotPlot | None:
    """A row per level, on the whole scale of the aspect; None where nobody rated the aspect."""
    plotted = [
        (group, LevelsFigure.of(group).aspects[at])
        for group in view.plotted(question)
        if LevelsFigure.is_in(group)
    ]
    if not plotted:
        return None
    aspect = plotted[0][1]
    asked = next((each for each in view.judged if each.key == aspect.key), None)
    if asked is None:
        return None
    return mean_plot(
        [
            (_level(point), [(group, found.levels[row].mean) for group, found in plotted])
            for row, point in enumerate(question.points)
        ],
        what=f"{aspect.prompt} by {question.prompt}",
        axis=aspect.prompt,
        caption=f"Mean {aspect.prompt} by the {question.prompt} that the same rater gave.",
        within=asked.ends,
        whole=True,
    )

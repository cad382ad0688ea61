"""Graded preferences: by how much one response is better than the other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.groups import GroupView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import CELLS, PairView, ReportView, group_head, number, tag_of
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.preferences.grades import lean_to_first
from analytics.statistics.ratings.scales import (
    Distribution,
    distribution,
    distributions_by_group,
    means_by_group,
)
from evaluation.protocols import QuestionSpec

KEY = "preferences/grades"


@dataclass(frozen=True)
class GradeWord:
    """The study's own word for a distance from a tie."""

    distance: int
    label: str


@dataclass(frozen=True)
class GradeShare:
    """The number and share of judgments with a grade."""

    grade: float
    n: int
    share: Estimate


@dataclass(frozen=True)
class GradedCell:
    """The grades of one pair in one arm."""

    arm: str | None
    system_1: str | None
    system_2: str | None
    category: str | None
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int
    distribution: tuple[GradeShare, ...]


@dataclass(frozen=True)
class GradesGiven:
    """Grades of preference, with Krippendorff's ordinal alpha and the mean grade towards the response shown first, of
    every reading."""

    words: tuple[GradeWord, ...]
    alpha: Estimate
    distribution: tuple[GradeShare, ...]
    by_cell: tuple[GradedCell, ...]
    to_first: Estimate


class GradesFigure(Figure[GradesGiven]):
    heading = "grades"
    place = 10
    beside = (CELLS,)
    definition = (
        "Grades of a preference: mean and distribution by pair and setting, alpha, and the lean towards the "
        "response shown first."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS and bool(question.grades)

    def compute(self, given: FigureInput) -> GradesGiven | None:
        """By arm and pair, towards the second system; None where nobody gave a grade."""
        assert isinstance(given, PairInput)
        grades, raw = given.group.grades, given.group.graded_readings
        if grades is None or raw is None:
            return None
        items, question, points = given.items, given.question, tuple(map(float, given.question.grades))
        values = grades.as_values(items.query)
        cells = list(items.cells(("arm", "pair")))
        cell_of = np.full(len(items), -1)
        for at, (_, rows) in enumerate(cells):
            cell_of[rows] = at
        pair = cell_of[grades.item]
        spread = distribution(values, points, resample=given.resample("grades"), unit="judgments")
        means = means_by_group(
            values,
            pair,
            len(cells),
            resample=given.resample("grades by pair"),
            within=(points[0], points[-1]),
            unit="judgments",
        )
        spreads = distributions_by_group(
            values,
            points,
            pair,
            len(cells),
            resample=given.resample("grades shared out by pair"),
            unit="judgments",
        )
        agreed = alpha_of_values(
            values, level="ordinal", points=points, resample=given.resample("grades alpha")
        )
        lean = lean_to_first(raw, items.query, farthest=points[-1], resample=given.resample("grades lean"))
        return GradesGiven(
            tuple(GradeWord(n, question.label(n)) for n in range(1, int(points[-1]) + 1)),
            agreed,
            _shares(spread),
            tuple(
                GradedCell(**vars(cell), **vars(mean), distribution=_shares(each))
                for (cell, _), mean, each in zip(cells, means, spreads, strict=True)
                if mean.mean.n
            ),
            lean,
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The mean grade of each pair in each setting, towards the second system."""
        assert isinstance(given, PairInput)
        grades, items = given.group.grades, given.items
        if grades is None:
            return
        ends = float(given.question.grades[0]), float(given.question.grades[-1])
        values = grades.as_values(items.query)
        for cell, rows in items.cells(("arm", "pair")):
            assert cell.system_1 is not None
            assert cell.system_2 is not None
            own = np.isin(grades.item, rows)
            sums = mean_sums(values.value[own], values.query[own], unit="judgments", within=ends)
            yield Quantity("Mean grade", sums, cell.arm, (cell.system_1, cell.system_2))

    def intro(self, view: ReportView) -> str:
        pair = next(each for each in view.pairs if any(GradesFigure.is_in(group) for group in each.groups))
        farthest = number(GradesFigure.of(_first(pair)).distribution[-1].grade)
        one, two = pair.sides if len(pair.pairs) == 1 else ("the system named first", "the second")
        return (
            f"A grade is negative where {one} is better, positive where {two} is, and 0 for a tie; the strongest "
            f"grade is {farthest}. Win rates and agreement use only its sign."
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)


FIGURE = GradesFigure()


def _shares(found: Distribution) -> tuple[GradeShare, ...]:
    """Number and share of each grade."""
    return tuple(
        GradeShare(grade, n, share)
        for grade, n, share in zip(found.points, found.counts, found.shares, strict=True)
    )


def _first(view: PairView) -> GroupView:
    """The leading group or, where it gave no grades, the first that did."""
    graded = [group for group in view.groups if GradesFigure.is_in(group)]
    return next((group for group in graded if group is view.leading), graded[0])


def _of_pair(view: PairView) -> Iterator[Block]:
    graded = [group for group in view.groups if GradesFigure.is_in(group)]
    if not graded:
        return
    first = _first(view)
    # The plot stands below the table, which needs all the width there is.
    yield _by_pair(view, first)
    yield Block(plot=_means(view, first))
    yield Block(tables=(_raters(graded),))
    for group in graded:
        if group is not first:
            yield _by_pair(view, group, folded=True)


def _by_pair(view: PairView, group: GroupView, *, folded: bool = False) -> Block:
    cells = [cell for cell in GradesFigure.of(group).by_cell if cell.arm in view.arms]
    points = [each.grade for each in GradesFigure.of(group).distribution]
    names = ["Pair", "Setting"] if view.several_arms else ["Pair"]
    build = Builder(
        "Mean grade, and how often each grade was given, in percent.",
        columns([*names, "Mean", *map(number, points), "n"], names=len(names)),
        foot=_words(GradesFigure.of(group).words),
    )
    for cell in cells:
        build.add(
            view.pair_head(group, cell),
            *([words(view.arm(cell.arm))] if len(names) > 1 else []),
            build.coefficient(cell.mean),
            *(build.share(each.share) for each in cell.distribution),
            build.n(cell.mean),
            of=where.of(group, cell),
        )
    heading = view.title_for(group, "Grades by pair")
    return Block(heading, tables=(build.build(),), folded=folded, tag=tag_of(group))


def _means(view: PairView, first: GroupView) -> DotPlot | None:
    """The mean grades of everybody who gave some, pair by pair of the first group's."""
    plotted = [group for group in view.plotted_groups if GradesFigure.is_in(group)]
    points = [each.grade for each in GradesFigure.of(first).distribution]
    found = {
        (_place(cell), group.key): cell.mean for group in plotted for cell in GradesFigure.of(group).by_cell
    }
    rows = [
        (
            _row(view, cell),
            [(group, found[key]) for group in plotted if (key := (_place(cell), group.key)) in found],
        )
        for cell in GradesFigure.of(first).by_cell
    ]
    return mean_plot(
        rows,
        what="Mean grade by pair",
        axis="Mean grade",
        caption="Mean grade; 0 is a tie.",
        within=(points[0], points[-1]),
        reference=0.0,
    )


def _place(cell: GradedCell) -> tuple[str | None, str | None, str | None]:
    return cell.arm, cell.system_1, cell.system_2


def _row(view: PairView, cell: GradedCell) -> str:
    pair = view.pair(cell)
    return f"{pair}, {view.arm(cell.arm)}" if view.several_arms else pair


def _words(found: Sequence[GradeWord]) -> str:
    named = [f"{number(each.distance)}: {each.label}" for each in found if each.label]
    return f"{'; '.join(named)}." if named else ""


def _raters(graded: list[GroupView]) -> Table:
    build = Builder(
        "Krippendorff's \N{GREEK SMALL LETTER ALPHA} of the grades (ordinal), and the mean grade towards the response "
        "that was shown first; 0 is no bias.",
        columns(["Raters", "\N{GREEK SMALL LETTER ALPHA}", "n", "Towards first shown", "n"]),
    )
    for group in graded:
        found = GradesFigure.of(group)
        build.add(
            group_head(group),
            build.coefficient(found.alpha),
            build.n(found.alpha),
            build.coefficient(found.to_first),
            build.n(found.to_first),
            of=where.of(group),
        )
    return build.build()

"""p-values between systems against the number of queries: how many queries tell systems apart."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.plots import DotPlot, Mark, PlotRow, dot_plot
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, count, head
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.report_view import CELLS, SPLIT_NAMES, PairView, ReportView, tag_of
from analytics.statistics.core.tidy import Bools
from analytics.statistics.leaderboards.sample_sizes import DRAWS, LEVEL, SizePoint, p_against_n
from analytics.statistics.leaderboards.scores import splits_of
from evaluation.protocols import QuestionSpec

KEY = "leaderboards/sample_sizes"
LINES = {"mean": "mean", "quantile_80": "80th percentile", "quantile_90": "90th percentile"}


@dataclass(frozen=True)
class SampleSizeCurve:
    """p-values over pairs of systems by the number of queries in a sample; of all splits where it is None.

    `queries` have scores of two systems or more; `enough_80` and `enough_90` are the least numbers of queries tried
    from which on the 80th, or 90th, percentile is below 0.05.
    """

    arm: str
    split: str | None
    systems: int
    queries: int
    points: tuple[SizePoint, ...]
    enough_80: int | None
    enough_90: int | None


@dataclass(frozen=True)
class SampleSizeCurves:
    curves: tuple[SampleSizeCurve, ...]


class SampleSizesFigure(Figure[SampleSizeCurves]):
    heading = "leaderboard"
    place = 30
    deferred_as = "p-values by the number of items"
    beside = (CELLS,)
    definition = (
        "p-values of paired t-tests between all pairs of systems against the number of queries, by setting and split: "
        "mean, 80th and 90th percentile over pairs, and the share of pairs told apart."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> SampleSizeCurves | None:
        """HREF Figure 6."""
        assert isinstance(given, PairInput)
        # A study that may stop by it has no test of a fixed number of queries.
        if len(given.competing.competing) < 3 or given.may_stop_on("win_rate"):
            return None
        found = []
        for arm in np.unique(given.items.arm).tolist():
            in_arm: Bools = given.items.arm == arm
            found.append(_curve(given, given.items.arms[arm], None, in_arm))
            found += [
                _curve(given, given.items.arms[arm], split, in_arm & mask)
                for split, mask in splits_of(given.items)
            ]
        curves = tuple(curve for curve in found if curve is not None)
        return SampleSizeCurves(curves) if curves else None

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "p against n: paired t-tests of the systems' mean scores by query, between all pairs of systems, on "
            f"{DRAWS} samples (fewer of more than 63 systems) of queries drawn without replacement for each number of "
            "queries; they are not corrected for their number."
        )


FIGURE = SampleSizesFigure()


def _curve(given: PairInput, arm: str, split: str | None, mask: Bools) -> SampleSizeCurve | None:
    scores = given.competing.where(mask[given.competing.item])
    resample = given.resample(f"p against n {arm} {split or ''}".strip())
    found = p_against_n(scores.by_query(), resample=resample, groups=scores.groups())
    return None if found is None else SampleSizeCurve(arm, split, **vars(found))


def _of_pair(view: PairView) -> Iterator[Block]:
    for group in view.groups_judges_pooled:
        for curve in SampleSizesFigure.of(group).curves if SampleSizesFigure.is_in(group) else ():
            parts = [view.arm(curve.arm)] if view.several_arms else []
            parts += [SPLIT_NAMES[curve.split]] if curve.split else []
            title = "p against the number of queries" + (f": {', '.join(parts)}" if parts else "")
            yield Block(
                view.title_for(group, title),
                text=(_reading(curve),),
                tables=(_table(curve),),
                plot=_plot(curve),
                folded=True,
                tag=tag_of(group),
            )


def _reading(curve: SampleSizeCurve) -> str:
    """With how many queries so many of the pairs are told apart: 90 % of them take no fewer than 80 %."""
    queries, enough_80, enough_90 = curve.queries, curve.enough_80, curve.enough_90
    below = f"(p below {LEVEL:g})"
    if enough_80 is None:
        told = f"80 % of the pairs of {curve.systems:,} systems"
        return f"All {queries:,} queries are too few to tell {told} apart {below}."
    others = (
        f"{enough_90:,} queries 90 %" if enough_90 is not None else f"all {queries:,} are too few for 90 %"
    )
    pairs = f"Of {curve.systems:,} systems, {enough_80:,} queries tell 80 % of the pairs apart"
    return f"{pairs}, and {others} {below}."


def _table(curve: SampleSizeCurve) -> Table:
    build = Builder(
        "p-value of a paired t-test between two systems, over all pairs of them, and the share of pairs with p below "
        f"{LEVEL:g} in percent.",
        columns(["Queries", "Mean", "80th percentile", "90th percentile", "Told apart", "Pairs"]),
    )
    for point in curve.points:
        build.add(
            head(f"{point.n:,}"),
            *(build.p(getattr(point, key)) for key in LINES),
            TableCell(f"{point.told_apart * 100:.1f}"),
            count(point.pairs) if point.pairs else TableCell(DASH),
        )
    return build.build()


def _plot(curve: SampleSizeCurve) -> DotPlot:
    rows = [
        PlotRow(
            f"{point.n:,} queries",
            tuple(Mark("person", name, getattr(point, key), n=point.n) for key, name in LINES.items()),
        )
        for point in curve.points
    ]
    return dot_plot(
        rows,
        what="p-value between two systems by number of queries",
        axis="p-value",
        caption=f"p-value between two systems by number of queries; the line is {LEVEL:g}.",
        form=decimal,
        within=(0.0, 1.0),
        reference=LEVEL,
    )

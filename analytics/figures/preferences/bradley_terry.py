"""Bradley-Terry strengths of three systems or more."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, head
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.groups import GroupView
from analytics.figures.report_view import CELLS, PairView, ReportView, tag_of
from analytics.statistics.preferences.bradley_terry import BradleyTerry, bradley_terry
from evaluation.protocols import QuestionSpec

KEY = "preferences/bradley_terry"


@dataclass(frozen=True)
class BradleyTerryFits:
    """Strengths in every arm; none with fewer than three systems."""

    fits: tuple[BradleyTerry, ...]


class BradleyTerryFigure(Figure[BradleyTerryFits]):
    heading = "strengths"
    place = 10
    deferred_as = "Bradley-Terry strengths"
    stops_with = ("win_rate",)
    beside = (CELLS,)
    definition = "Bradley-Terry strengths, ranks and probabilities of beating an average system, by setting."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def is_of(self, given: FigureInput) -> bool:
        """Of three systems or more: a win rate says it all of two."""
        assert isinstance(given, PairInput)
        return len(given.items.systems) > 2

    def compute(self, given: FigureInput) -> BradleyTerryFits:
        assert isinstance(given, PairInput)
        found = bradley_terry(given.items, given.group.judgments, resample=given.resample("bradley-terry"))
        return BradleyTerryFits(tuple(found))

    def intro(self, view: ReportView) -> str:
        return (
            "Bradley-Terry log-strengths, centred on the average system. Each judgment of a pair is one "
            "comparison; a tie is half a win for each."
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        if not any(fit.strengths for record in self.records(view) for fit in record.fits):
            return
        parameters = view.report["parameters"]
        yield (
            "Bradley-Terry strengths treat each judgment as a comparison and a tie as half a win for each "
            "system, with standard errors robust to dependence within a query; intervals of ranks are what "
            "simultaneous intervals of the differences between systems leave open, from "
            f"{parameters['replicates']:,} bootstrap replicates over queries, seed {parameters['seed']}."
        )


FIGURE = BradleyTerryFigure()


def _of_pair(view: PairView) -> Iterator[Block]:
    fits = [
        (group, fit)
        for group in view.groups_judges_pooled
        if BradleyTerryFigure.is_in(group)
        for fit in BradleyTerryFigure.of(group).fits
    ]
    reasons = {fit.undefined for _, fit in fits}
    if len(reasons) == 1 and "" not in reasons:
        yield Block(text=(f"Undefined in every setting. {reasons.pop()}",))
        return
    for group, fit in fits:
        yield _block(view, group, fit)


def _block(view: PairView, group: GroupView, fit: BradleyTerry) -> Block:
    folded = group is not view.leading
    title = view.arm(fit.arm) if view.several_arms else "Strengths"
    heading = view.title_for(group, title) if folded or view.several_arms else ""
    if fit.undefined:
        return Block(heading, text=(f"Undefined. {fit.undefined}",), folded=folded, tag=tag_of(group))
    return Block(
        heading,
        tables=(_table(view, group, fit),),
        plot=_plot(view, group, fit),
        folded=folded,
        tag=tag_of(group),
    )


def _table(view: PairView, group: GroupView, fit: BradleyTerry) -> Table:
    build = Builder(
        "Strength, probability of beating an average system in percent, and rank by strength alone, with the ranks "
        "that the intervals of differences leave open; n is the system's number of comparisons.",
        columns(["System", "Strength", "Beats average", "Rank", "n"]),
    )
    for strength in fit.strengths:
        build.add(
            head(view.system(strength.system)),
            build.coefficient(strength.score),
            build.share(strength.win_probability),
            build.figure(strength.rank, "{:.0f}".format),
            build.n(strength.score),
            of=where.of(group, arm=fit.arm, system=strength.system),
        )
    return build.build()


def _plot(view: PairView, group: GroupView, fit: BradleyTerry) -> DotPlot | None:
    rows = [(view.system(each.system), [(group, each.score)]) for each in fit.strengths]
    return score_plot(rows, what="Bradley-Terry strengths", caption="Strengths; 0 is the average system.")

"""Strengths of systems from rankings, by Plackett-Luce and, pair by pair, by Bradley-Terry."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, head
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.rankings.plackett_luce import PlackettLuce, plackett_luce
from analytics.statistics.rankings.ranked_strengths import RankedStrengths, ranked_strengths
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class RankingStrengths:
    """Log-worths of rankings and log-strengths of the pairs in them, both centred at 0, highest first."""

    plackett_luce: PlackettLuce
    bradley_terry: RankedStrengths


class RankingStrengthsFigure(Figure[RankingStrengths]):
    heading = "rankings"
    place = 40
    deferred_as = "strengths from rankings"
    definition = (
        "Strengths of systems from rankings: Plackett-Luce worths with each system's chance to be ranked first, from "
        "whole and partial rankings, and Bradley-Terry strengths of all pairs that rankings hold."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "ranking"

    def compute(self, given: FigureInput) -> RankingStrengths | None:
        """None for fewer than three systems, where places say it all."""
        assert isinstance(given, AnswerInput)
        ranks, systems = given.answers.as_ranks(), given.items.systems
        if len(set(ranks.system[ranks.system >= 0].tolist())) < 3:
            return None
        known = ranks if (ranks.system >= 0).all() else ranks.where(ranks.system >= 0)
        return RankingStrengths(
            plackett_luce(known, systems, resample=given.resample("plackett-luce")),
            ranked_strengths(known, systems, resample=given.resample("ranked pairs")),
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            for group in view.lead_first(question):
                title = "Strengths from rankings"
                name = f"{question.prompt}: {title.lower()}" if view.several_questions else title
                reason = self.of(group).plackett_luce.undefined
                yield Block(
                    view.title_for(group, name),
                    text=(f"Undefined. {reason}",) if reason else (),
                    tables=() if reason else (self._table(view, group),),
                    plot=None if reason else self._plot(view, group),
                    folded=True,
                    tag=tag_of(group),
                )

    def _table(self, view: ReportView, group: GroupView) -> Table:
        found = self.of(group)
        build = Builder(
            "Plackett-Luce worth (logarithm, 0 is the average system), chance to be ranked first among all systems in "
            "percent, and Bradley-Terry strength of the same rankings taken as pairs; n is the number of rankings.",
            columns(["System", "Worth", "First", "Bradley-Terry", "n"]),
        )
        pairs = {each.system: each.score for each in found.bradley_terry.strengths}
        for worth in found.plackett_luce.worths:
            build.add(
                head(view.system(worth.system)),
                build.coefficient(worth.score),
                build.share(worth.first),
                build.coefficient(pairs[worth.system]),
                build.n(worth.score, "judgments"),
                of=where.of(group, system=worth.system),
            )
        return build.build()

    def _plot(self, view: ReportView, group: GroupView) -> DotPlot | None:
        worths = self.of(group).plackett_luce.worths
        return score_plot(
            [(view.system(each.system), [(group, each.score)]) for each in worths],
            what="Plackett-Luce worths",
            axis="Plackett-Luce worth",
            caption="Plackett-Luce worths; 0 is the average system.",
        )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Plackett-Luce takes a ranking for a row of choices of the best of what is left, and equals in the last "
            "place for a partial ranking; Bradley-Terry takes it for comparisons of every two responses. Both have one "
            "imagined tie in all, and standard errors robust to dependence within a query."
        )


FIGURE = RankingStrengthsFigure()

"""Best picks: which system's response is the best of several."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import corrected, in_percent, percent, with_interval
from analytics.display.plots import DotPlot
from analytics.display.tables import (
    DASH,
    P_COLUMNS,
    Builder,
    Table,
    TableCell,
    Where,
    columns,
    count,
    head,
    words,
)
from analytics.figures import where
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest, corrected_p, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import SystemKinds
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import (
    SYSTEM_KINDS,
    ReportView,
    anchor_of,
    group_head,
    joined,
    subject,
    tag_of,
)
from analytics.figures.strip import leading_fact
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.preferences.best_picks import SamePick, offered_together, pick_shares, same_pick
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class SystemPicks:
    """A system's share of picks, what picking at random would give, and the test of a share equal to that.

    `group` is the same for systems that were on an item together, directly or through others.
    """

    system: str
    share: Estimate
    n_picked: int
    chance: float | None
    test: Tested | None
    group: int


@dataclass(frozen=True)
class KindPicks:
    """The share of picks of systems of one kind, which is not tested."""

    kind: str
    share: Estimate
    n_picked: int
    chance: float | None
    test: Tested | None


@dataclass(frozen=True)
class AgreedPick:
    """A system, None for a tie, and the items of which all raters pick it, and of which more than half do."""

    system: str | None
    n_all_same: int
    n_majority: int


@dataclass(frozen=True)
class SamePicks:
    """Shares of items on which raters pick the same response.

    By chance: had each pick been drawn by the systems' shares of picks; None without an item of two. `by_most` counts
    items by the greatest number of raters who share a pick.
    """

    all_same: Estimate
    two_same: Estimate
    n_all_same: int
    n_two_same: int
    by_most: tuple[int, ...]
    agreed: tuple[AgreedPick, ...]
    all_same_by_chance: float | None
    two_same_by_chance: float | None


@dataclass(frozen=True)
class BestPicks:
    by_system: tuple[SystemPicks, ...]
    by_kind: tuple[KindPicks, ...]
    tie: Estimate
    same: SamePicks
    n_items: int
    n_queries: int


class BestPicksFigure(Figure[BestPicks]):
    needs = (SystemKinds,)
    heading = "best-picks"
    place = 10
    finding_place = 20
    definition = (
        "Best picks: each system's share, with the share by chance, how often raters pick the same response, and "
        "which system's it is when they do."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "picks"

    def compute(self, given: FigureInput) -> BestPicks:
        assert isinstance(given, AnswerInput)
        found, items = given.answers.as_picks(), given.items
        shares = pick_shares(
            found,
            len(items.systems),
            resample=given.resample("picks"),
            offered=items.offered,
            tests=given.tests("picks", len(items.systems)),
        )
        same = same_pick(found, resample=given.resample("same pick"), offered=items.offered)
        groups = offered_together(items.offered[np.unique(found.item)])
        return BestPicks(
            tuple(
                SystemPicks(
                    **(vars(share) | {"system": items.systems[share.system]}), group=int(groups[share.system])
                )
                for share in shares.systems
                if share.share.n
            ),
            _by_kind(given, self.need(given, SystemKinds).of_systems(items.systems)),
            shares.tie,
            _same_picks(same, items.systems),
            shares.n_items,
            shares.n_queries,
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Each system's share of the picks on items that offer it."""
        assert isinstance(given, AnswerInput)
        picks, items = given.answers.as_picks(), given.items
        for code, system in enumerate(items.systems):
            offered = picks.where(items.offered[picks.item, code] > 0)
            if len(offered):
                picked = (offered.system == code).astype(np.float64)
                sums = mean_sums(picked, offered.query, unit="picks", within=SHARE)
                yield Quantity("Share of picks", sums, systems=(system,))

    def tests(self, record: BestPicks) -> Iterator[FamilyTest]:
        for each in record.by_system:
            if each.test is not None:
                yield FamilyTest(CLAIMS, each.test)

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """Systems picked more often than picking at random would, and less often."""
        told = [each for each in self.of(group).by_system if is_supported(each.test)]
        for kind, how, side in (("picked", "more", 1), ("picked_less", "less", -1)):
            of_side = [each for each in told if side * (each.share.known - (each.chance or 0.0)) > 0]
            of_side.sort(key=lambda each: -side * each.share.known)
            if not of_side:
                continue
            names = [view.system(each.system) for each in of_side]
            one, who = len(of_side) == 1, subject(group)
            shown = [
                f"{'it' if one else name} in {with_interval(each.share)} of {each.share.n:,} picks, where "
                f"chance would give {in_percent(each.chance or 0.0)}"
                for name, each in zip(names, of_side, strict=True)
            ]
            weakest = max((each.test for each in of_side), key=corrected_p)
            finding: FigureFinding = {
                "kind": kind,
                "about": joined(names),
                "heading": f"Picked {how} often than by chance",
                "text": f"{who[:1].upper()}{who[1:]} picked {'; '.join(shown)} "
                f"({'' if one else 'at most '}{corrected(weakest)}).",
                "anchor": "best-picks",
            }
            yield {**finding, "system": of_side[0].system} if one else finding

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        by_system = self.of(group).by_system
        found = [(each.system, each.share) for each in by_system]
        if len({each.group for each in by_system}) == 1:
            yield leading_fact(view, group, "Most often picked", found, in_percent)

    def intro(self, view: ReportView) -> str:
        return "The share of picks that went to a system, among the items that include a response of it."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            lead = view.lead(question)
            plot = share_plot(
                [
                    (
                        label,
                        [
                            (where.narrowed(group, system=each.system), each.share)
                            for group in view.plotted(question)
                            for each in self.of(group).by_system
                            if each.system == key
                        ],
                    )
                    for key, label in view.systems.items()
                    if any(each.system == key for each in self.of(lead).by_system)
                ],
                what=f"Share of picks: {question.prompt}",
                axis="Share of picks",
                caption="Share of picks.",
            )
            for group in view.lead_first(question):
                yield Block(
                    view.title_for(group, question.prompt),
                    tables=(_shares(view, question, group),),
                    plot=plot if group is lead else None,
                    folded=group is not lead,
                    tag=tag_of(group),
                    anchor=anchor_of(question) if group is lead else "",
                )
            tables = (_same(question), _agreed(view, question))
            yield Block(
                "How often raters pick the same response",
                tables=tuple(each for each in tables if each.rows),
                plot=_agreement(view, question),
            )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield "A system's share of best picks is computed over the items that include a response of it."


FIGURE = BestPicksFigure()


def _by_kind(given: AnswerInput, kinds: Sequence[str]) -> tuple[KindPicks, ...]:
    """The same where systems are of several kinds, such as people and models; each kind over all that offer it."""
    items, names = given.items, sorted(set(kinds))
    if len(names) < 2:
        return ()
    # A tie (-1) reads the entry behind the last and stays one.
    kind = np.array([*(names.index(each) for each in kinds), -1], dtype=np.int64)
    found = given.answers.as_picks()
    coded = type(found)(found.item, found.query, found.rater, found.response, kind[found.system])
    offered = np.zeros((len(items), len(names)), dtype=np.int64)
    for system, code in enumerate(kind[:-1]):
        offered[:, code] += items.offered[:, system]
    shares = pick_shares(coded, len(names), resample=given.resample("picks by kind"), offered=offered)
    return tuple(
        KindPicks(names[each.system], each.share, each.n_picked, each.chance, each.test)
        for each in shares.systems
    )


def _same_picks(same: SamePick, systems: Sequence[str]) -> SamePicks:
    agreed = (
        AgreedPick(None if each.system < 0 else systems[each.system], each.n_all_same, each.n_majority)
        for each in same.agreed
    )
    return SamePicks(**(vars(same) | {"agreed": tuple(agreed)}))


def _agreed(view: ReportView, question: QuestionView) -> Table:
    """A row per system that a majority of some group's raters agree on."""
    build = Builder(
        "Number of items of which all raters, and more than half of them, pick a system's response.",
        columns(["Raters", "System", "All", "More than half"], names=2),
    )
    for group in question.groups:
        for each in BestPicksFigure.of(group).same.agreed:
            build.add(
                group_head(group),
                words("Tie" if each.system is None else view.system(each.system)),
                count(each.n_all_same),
                count(each.n_majority),
            )
    return build.build()


def _shares(view: ReportView, question: QuestionView, group: GroupView) -> Table:
    found = BestPicksFigure.of(group)
    build = Builder(
        "Share of picks, and the share that picking at random would give, in percent. p: sign-flip test against "
        "that share, over queries.",
        columns(["System", "Picked", "By chance", "n", *P_COLUMNS]),
    )
    blank = words("")
    rows: list[tuple[str, SystemPicks | KindPicks, Where | None, str]] = [
        (view.system(each.system), each, where.of(group, system=each.system), each.system)
        for each in found.by_system
    ]
    rows += [(SYSTEM_KINDS.get(each.kind, each.kind), each, None, "") for each in found.by_kind]
    for name, each, of, system in rows:
        build.add(
            head(name),
            where.won(build.share(each.share), each.share, question.key, system),
            build.number(each.chance, percent),
            build.n(each.share, "judgments"),
            *(build.tested(each.test) if each.test else (blank, blank)),
            of=of,
        )
    if found.tie.value:
        tie = found.tie
        n = build.n(tie, "judgments")
        build.add(head("Tie"), build.share(tie), TableCell(DASH), n, blank, blank, of=where.of(group))
    return build.build()


def _agreement(view: ReportView, question: QuestionView) -> DotPlot | None:
    plotted = [
        (group, BestPicksFigure.of(group).same)
        for group in view.plotted(question)
        if BestPicksFigure.is_in(group)
    ]
    return share_plot(
        [
            ("All the same", [(group, same.all_same) for group, same in plotted]),
            ("At least two the same", [(group, same.two_same) for group, same in plotted]),
        ],
        what="Items on which raters pick the same response",
        axis="Share of items",
        caption="Share of items on which all raters, or at least two of them, pick the same response.",
    )


def _same(question: QuestionView) -> Table:
    build = Builder(
        "Share of items on which all raters, or at least two of them, pick the same response, in percent, with "
        "the number of those items; by chance: had each pick been drawn by the systems' shares of picks.",
        columns(["Raters", "All", "By chance", "Items", "At least two", "By chance", "Items", "n"]),
    )
    for group in question.groups:
        same = BestPicksFigure.of(group).same
        build.add(
            group_head(group),
            *build.beside_chance(same.all_same, same.all_same_by_chance),
            count(same.n_all_same),
            *build.beside_chance(same.two_same, same.two_same_by_chance),
            count(same.n_two_same),
            build.n(same.all_same),
            of=where.of(group),
        )
    return build.build()

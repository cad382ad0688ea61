"""Satisfied follow-ups by system, and agreement where two responses differ in them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.tables import Builder, Table, columns, count, head, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.groups import GroupView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import CELLS, PairView, ReportView, tag_of
from analytics.statistics.agreement.percentage import Agreement
from analytics.statistics.conditions.follow_ups import (
    FollowUpAgreement,
    SystemFollowUps,
    agreement_by_follow_ups,
    follow_ups_by_system,
    shares_by_system,
)
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import Ints
from evaluation.protocols import QuestionSpec

KEY = "conditions/follow_ups"
# (differing, equal, caption) of each rule by which responses differ in satisfied follow-ups.
RULES = (
    (
        "differing",
        "equal",
        "Percentage agreement without ties, on items whose responses differ in satisfied follow-ups (the "
        "difference in number satisfied, averaged over raters, is 1 or more either way; ContextEval, Table 5) "
        "and on items whose responses do not.",
    ),
    (
        "differing_by_majority",
        "equal_by_majority",
        "The same by majority: on items whose responses differ in the number of follow-ups that more than half "
        "of the raters find satisfied, and on items whose responses do not.",
    ),
)


@dataclass(frozen=True)
class FollowUpCell:
    """Agreement by satisfied follow-ups of one pair in one arm."""

    arm: str | None
    system_1: str | None
    system_2: str | None
    category: str | None
    differing: Agreement
    equal: Agreement
    differing_by_majority: Agreement
    equal_by_majority: Agreement


@dataclass(frozen=True)
class FollowUps:
    """Agreement where the responses differ in satisfied follow-ups, and where they do not; and those of each system."""

    overall: FollowUpAgreement
    by_cell: tuple[FollowUpCell, ...]
    by_system: tuple[SystemFollowUps, ...]


class FollowUpsFigure(Figure[FollowUps]):
    heading = "follow-ups"
    place = 10
    stops_with = ("agreement",)
    stops_in = ("overall", "by_cell")
    beside = (CELLS,)
    definition = "Satisfied follow-ups by system, and agreement on items whose responses differ in them."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> FollowUps | None:
        """ContextEval Table 5 and the follow-ups that each system satisfies; None without checklists."""
        assert isinstance(given, PairInput)
        satisfied, items = given.satisfied, given.items
        if satisfied is None:
            return None
        resample = given.resample("follow-ups")

        def of(rows: Ints) -> FollowUpAgreement:
            part = satisfied.take(rows)
            return agreement_by_follow_ups(given.votes[rows], items.query[rows], part, resample=resample)

        return FollowUps(
            of(np.arange(len(items))),
            tuple(
                FollowUpCell(**vars(cell), **vars(of(rows)))
                for cell, rows in given.cells(("arm", "pair"))
                if satisfied.checked[rows].any()
            ),
            tuple(
                found for found in follow_ups_by_system(items, satisfied, resample=resample) if found.share.n
            ),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The share of follow-ups that each system's responses satisfy, by setting."""
        assert isinstance(given, PairInput)
        satisfied, items = given.satisfied, given.items
        if satisfied is None:
            return
        for cell, rows in items.cells(("arm",)):
            for system, shares, query in shares_by_system(items, satisfied, rows):
                sums = mean_sums(shares, query, unit="responses", within=SHARE)
                yield Quantity("Satisfied follow-ups", sums, cell.arm, (system,))

    def intro(self, view: ReportView) -> str:
        return (
            "A response satisfies a follow-up if more than half of an item's raters find that it takes the "
            "answer into account. Whether two responses differ is determined from each rater's answers."
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Two responses differ in satisfied follow-ups if the difference in the number satisfied, averaged "
            "over raters, is 1 or more either way (ContextEval, Table 5); by majority, if the numbers of "
            "follow-ups that more than half of an item's raters find satisfied differ."
        )


FIGURE = FollowUpsFigure()


def _of_pair(view: PairView) -> Iterator[Block]:
    groups = [group for group in view.everybody if FollowUpsFigure.is_in(group) and not group.heuristic]
    for at, group in enumerate(groups):
        folded, tag = at > 0, tag_of(group)
        yield Block(
            view.title_for(group, "Satisfied follow-ups by system"),
            tables=(_by_system(view, group),),
            plot=share_plot(
                _rows(view, group),
                what="Share of follow-ups satisfied",
                caption="Share of follow-ups that a response satisfies.",
            ),
            folded=folded,
            tag=tag,
        )
        if group.raters > 1:
            heading = view.title_for(group, "Agreement where responses differ")
            tables = tuple(_where_they_differ(view, group, *rule) for rule in RULES)
            yield Block(heading, tables=tables, folded=folded, tag=tag)


def _rows(view: PairView, group: GroupView) -> Iterator[tuple[str, list[tuple[GroupView, Estimate]]]]:
    for found in FollowUpsFigure.of(group).by_system:
        setting = f", {view.arm(found.arm)}" if view.several_arms else ""
        yield f"{view.system(found.system)}{setting}", [(group, found.share)]


def _by_system(view: PairView, group: GroupView) -> Table:
    names = ["System", "Setting"] if view.several_arms else ["System"]
    build = Builder(
        "Follow-ups that a response satisfies: share of those asked about, in percent, and mean number.",
        columns([*names, "Share", "Number", "n"], names=len(names)),
    )
    for found in FollowUpsFigure.of(group).by_system:
        build.add(
            head(view.system(found.system)),
            *([words(view.arm(found.arm))] if len(names) > 1 else []),
            build.share(found.share),
            build.coefficient(found.number),
            build.n(found.share),
            of=where.of(group, arm=found.arm, system=found.system),
        )
    return build.build()


def _where_they_differ(view: PairView, group: GroupView, differing: str, equal: str, caption: str) -> Table:
    build = Builder(caption, columns(["Items", "Differing", "n", "Equal", "n"]))
    found = FollowUpsFigure.of(group)
    named: list[tuple[str, FollowUpAgreement | FollowUpCell]] = [("All with a checklist", found.overall)]
    for cell in found.by_cell:
        setting = f", {view.arm(cell.arm)}" if view.several_arms else ""
        named.append((f"{view.pair(cell)}{setting}", cell))
    for name, part in named if len(named) > 2 else named[-1:]:
        those, others = getattr(part, differing).without_ties, getattr(part, equal).without_ties
        build.add(
            head(name),
            build.share(those),
            count(those.n),
            build.share(others),
            count(others.n),
        )
    return build.build()

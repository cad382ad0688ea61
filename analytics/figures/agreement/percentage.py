"""Percentage agreement and leave-one-out agreement on a preference."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import NBSP, corrected, in_percent, percent, points
from analytics.display.plots import DotPlot
from analytics.display.tables import (
    DASH,
    P_COLUMNS,
    Builder,
    Column,
    Table,
    TableCell,
    columns,
    head,
    interval,
    words,
)
from analytics.figures import where
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    MAY_STOP,
    PAIRS,
    FigureInput,
    PairInput,
    by_cell,
    several,
)
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import PairView, ReportView, group_head, tag_of
from analytics.statistics.agreement.leave_one_out import inner_agreement, inner_by_group
from analytics.statistics.agreement.percentage import (
    AgreementDifference,
    ByChance,
    agreement,
    agreement_by_group,
    agreement_difference,
    chance_agreement,
    is_tied,
    item_agreement,
)
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import TIE, Bools, Ints, ItemCell
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec

LABELS = ("With ties", "Without ties", "Leave-one-out")
CHANCE = "By chance"
IN_PERCENT = "Percentage agreement and leave-one-out agreement, in percent"

T = TypeVar("T")


@dataclass(frozen=True)
class OverallAgreement:
    """Agreement with and without ties, and by chance: had every judgment been drawn from the labels of these items;
    None where that is undefined."""

    with_ties: Estimate
    without_ties: Estimate
    by_chance: float | None
    by_chance_without_ties: float | None


@dataclass(frozen=True)
class ArmAgreement:
    """Agreement in one setting, and by chance with ties."""

    arm: str
    with_ties: Estimate
    without_ties: Estimate
    by_chance: float | None


@dataclass(frozen=True)
class CategoryAgreement:
    """Agreement on one category of queries, and by chance with ties."""

    category: str
    with_ties: Estimate
    without_ties: Estimate
    by_chance: float | None


@dataclass(frozen=True)
class CellAgreement:
    """Agreement on one pair in one arm, and by chance with ties."""

    arm: str | None
    system_1: str | None
    system_2: str | None
    category: str | None
    with_ties: Estimate
    without_ties: Estimate
    by_chance: float | None


@dataclass(frozen=True)
class ArmDifference:
    """Agreement on one pair in another arm less that in the first one."""

    first_arm: str
    second_arm: str
    arm: str | None
    system_1: str | None
    system_2: str | None
    category: str | None
    with_ties: AgreementDifference
    without_ties: AgreementDifference


@dataclass(frozen=True)
class ArmInner:
    arm: str
    inner: Estimate


@dataclass(frozen=True)
class CategoryInner:
    category: str
    inner: Estimate


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out agreement within the group (HREF Algorithm 1, exact expectation)."""

    inner: Estimate
    inner_by_arm: tuple[ArmInner, ...]
    inner_by_category: tuple[CategoryInner, ...]
    by_chance: float | None


@dataclass(frozen=True)
class PercentageAgreement:
    """Agreement overall and by arm, by arm and pair of systems but for `unlisted` pairs, and by category where there
    are several; every arm less the first one, per pair of systems."""

    overall: OverallAgreement
    by_arm: tuple[ArmAgreement, ...]
    by_cell: tuple[CellAgreement, ...]
    unlisted: int
    by_category: tuple[CategoryAgreement, ...]
    differences: tuple[ArmDifference, ...]
    leave_one_out: LeaveOneOut


class PercentageAgreementFigure(Figure[PercentageAgreement]):
    heading = "agreement"
    place = 10
    finding_place = 30
    stops_with = ("agreement",)
    definition = (
        "Percentage agreement and leave-one-out agreement on a preference: overall, by setting, pair and "
        "category, and the difference between settings."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> PercentageAgreement:
        """ContextEval Tables 4 and 5, and HREF Algorithm 1 among people; differences are to the first arm."""
        assert isinstance(given, PairInput)
        items, counts = given.items, given.votes
        resample, chance = given.resample("agreement"), chance_agreement(counts)

        def by(made: Callable[..., T], group: Ints, names: Sequence[str]) -> tuple[T, ...]:
            found = agreement_by_group(counts, items.query, group, len(names), resample=resample)
            return tuple(
                made(name, **vars(each), by_chance=_with_ties(chance_agreement(counts[group == code])))
                for code, (name, each) in enumerate(zip(names, found, strict=True))
            )

        return PercentageAgreement(
            overall=OverallAgreement(
                **vars(agreement(counts, items.query, resample=resample)),
                by_chance=_with_ties(chance),
                by_chance_without_ties=chance.without_ties if chance else None,
            ),
            by_arm=by(ArmAgreement, items.arm, items.arms),
            by_cell=tuple(
                CellAgreement(
                    **vars(cell),
                    **vars(agreement(counts[rows], items.query[rows], resample=resample)),
                    by_chance=_with_ties(chance_agreement(counts[rows])),
                )
                for cell, rows in given.cells(("arm", "pair"))
            ),
            unlisted=len(items.pairs) - len(np.unique(items.pair[given.listed])),
            # One category would repeat what is said of all.
            by_category=by(CategoryAgreement, items.category, items.categories)
            if len(items.categories) > 1
            else (),
            differences=tuple(
                _difference(given, cell, rows, other)
                for other in range(1, len(items.arms))
                for cell, rows in given.cells(("pair",))
            ),
            leave_one_out=_leave_one_out(given, chance),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """With and without ties, over all and by setting."""
        assert isinstance(given, PairInput)
        items, shares = given.items, item_agreement(given.votes)
        usable = np.isfinite(shares)
        cells: list[tuple[str | None, Bools]] = [(None, usable)]
        cells += [(name, usable & (items.arm == code)) for code, name in several(items.arm, items.arms)]
        untied = ~is_tied(given.votes, TIE)
        untested = MAY_STOP if given.may_stop_on("agreement") else ""
        for arm, mask in cells:
            for name, used in (
                ("Agreement with ties", mask),
                ("Agreement without ties", mask & untied),
            ):
                sums = mean_sums(shares[used], items.query[used], unit="items", within=SHARE)
                yield Quantity(name, sums, arm, untested=untested)

    def tests(self, record: PercentageAgreement) -> Iterable[FamilyTest]:
        for each in record.differences:
            if each.with_ties.test is not None:
                yield FamilyTest(CLAIMS, each.with_ties.test)

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """Arms in which raters agree more, or less, than in the first one (ContextEval Table 4)."""
        for cell in self.of(group).differences:
            found = cell.with_ties
            if not is_supported(found.test):
                continue
            assert found.of_two is not None
            assert cell.system_1 is not None
            assert cell.system_2 is not None
            of_two = found.of_two
            more = "more" if of_two.known > 0 else "less"
            first, second = view.arm(cell.first_arm), view.arm(cell.second_arm)
            yield {
                "kind": "agreement",
                "system_1": cell.system_1,
                "system_2": cell.system_2,
                "about": f"{view.system(cell.system_1)} vs {view.system(cell.system_2)}",
                "heading": f"Raters agree {more} in “{second}”",
                "text": f"Two raters of an item give the same label {points(of_two.known)} points {more} often than "
                f"in “{first}”, on {of_two.n:,} shared queries ({corrected(found.test)}).",
                "anchor": "agreement",
            }

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        if group.key != view.leading.key and group.raters < 2:
            return
        found = self.of(group).overall.with_ties
        about = f"{question.prompt} " if len(view.pairs) > 1 else ""
        if found.value is None:
            yield Fact("Agreement", DASH, f"{about}{found.undefined}", undefined=True)
            return
        limits = interval(found, percent)
        said = [f"{about}95{NBSP}% interval {limits}" if limits else f"{about}{found.undefined}"]
        chance = self.of(group).overall.by_chance
        assert chance is not None
        said.append(f"{in_percent(chance)} by chance")
        yield Fact("Agreement", in_percent(found.value), "; ".join(said), tag=tag_of(group))

    def intro(self, view: ReportView) -> str:
        return (
            "Agreement is the share of an item's judgments that give its most common label; without ties, items "
            "whose only most common label is a tie are left out. Leave-one-out holds out one judgment and asks "
            "how often the others predict it."
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return [*_summary(view), *view.per_pair(self._of_pair)]

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        yield Block("", tables=(_overall(view),))
        yield from _by_arm(view)
        yield from _finer(view, view.leading)
        for group in (each for each in view.groups_of_several if each is not view.leading):
            tables = tuple(table for block in _finer(view, group) for table in block.tables)
            if tables:
                heading = view.title_for(group, "Agreement in detail")
                yield Block(heading, tables=tables, folded=True, tag=tag_of(group))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Agreement is the share of an item's judgments that give its most common label, averaged over "
            "items; without ties, items whose only most common label is a tie are left out."
        )
        yield "Where several labels are equally common, leave-one-out agreement is the exact expectation over them."


def _with_ties(chance: ByChance | None) -> float | None:
    return chance.with_ties if chance else None


def _difference(given: PairInput, cell: ItemCell, rows: Ints, other: int) -> ArmDifference:
    items = given.items
    family = (len(items.arms) - 1) * len(items.pairs)
    tests = given.tests("agreement", family).of(cell.system_1, cell.system_2)
    found = {
        name: agreement_difference(
            given.votes[rows],
            items.query[rows],
            items.pair[rows],
            items.arm[rows],
            first=0,
            second=other,
            tests=tests,
            ties=ties,
        )
        for name, ties in (("with_ties", True), ("without_ties", False))
    }
    return ArmDifference(
        items.arms[0],
        items.arms[other],
        **vars(cell),
        with_ties=found["with_ties"],
        without_ties=found["without_ties"],
    )


def _leave_one_out(given: PairInput, chance: ByChance | None) -> LeaveOneOut:
    items, counts, resample = given.items, given.votes, given.resample("leave one out")

    def by(made: Callable[..., T], group: Ints, names: Sequence[str]) -> tuple[T, ...]:
        found = inner_by_group(counts, items.query, group, len(names), resample=resample)
        return tuple(map(made, names, found))

    return LeaveOneOut(
        inner_agreement(counts, items.query, resample=resample),
        by(ArmInner, items.arm, items.arms),
        by(CategoryInner, items.category, items.categories) if len(items.categories) > 1 else (),
        chance.leave_one_out if chance else None,
    )


FIGURE = PercentageAgreementFigure()
KEY = FIGURE.key


def _summary(view: ReportView) -> Iterator[Block]:
    """The preferences as rows, where there are several."""
    if len(view.pairs) < 2:
        return
    build = Builder(f"{IN_PERCENT}.", columns(["Raters", "Question", *LABELS, "n"], names=2))
    for group in view.groups_of_several:
        for question, records in view.answered(view.asked(KEY), group):
            found = PercentageAgreementFigure.of(records).overall
            build.add(
                group_head(group),
                words(question.prompt),
                build.share(found.with_ties),
                build.share(found.without_ties),
                build.share(PercentageAgreementFigure.of(records).leave_one_out.inner),
                build.n(found.with_ties),
                of=where.of(group),
            )
    yield Block("Percentage agreement", tables=(build.build(),))


def _overall(view: PairView) -> Table:
    shares = [label for each in LABELS for label in (each, CHANCE)]
    build = Builder(
        f"{IN_PERCENT}; by chance: had every judgment been drawn from the labels of all items.",
        columns(["Raters", *shares, "n"]),
    )
    for group in view.groups_of_several:
        found = PercentageAgreementFigure.of(group)
        build.add(
            group_head(group),
            *build.beside_chance(found.overall.with_ties, found.overall.by_chance),
            *build.beside_chance(found.overall.without_ties, found.overall.by_chance_without_ties),
            *build.beside_chance(found.leave_one_out.inner, found.leave_one_out.by_chance),
            build.n(found.overall.with_ties),
            of=where.of(group),
        )
    return build.build()


def _by_arm(view: PairView) -> Iterator[Block]:
    """Settings as rows: the leading group's table, and every panel in the plot."""
    if not view.several_arms:
        return
    build = Builder(
        f"{IN_PERCENT}; by chance: with ties, from the labels of the setting.",
        columns(["Setting", LABELS[0], CHANCE, *LABELS[1:], "n"]),
    )
    own = PercentageAgreementFigure.of(view.leading)
    loo = by_cell(own.leave_one_out.inner_by_arm, "arm")
    found = by_cell(own.by_arm, "arm")
    for arm in view.arms:
        build.add(
            head(view.arm(arm)),
            *build.beside_chance(found[(arm,)].with_ties, found[(arm,)].by_chance),
            build.share(found[(arm,)].without_ties),
            build.share(loo[(arm,)].inner),
            build.n(found[(arm,)].with_ties),
            of=where.of(view.leading, arm=arm),
        )
    yield Block("By setting", tables=(build.build(),), plot=_arm_plot(view), tag=tag_of(view.leading))


def _arm_plot(view: PairView) -> DotPlot | None:
    of_group = [
        (group, by_cell(PercentageAgreementFigure.of(group).by_arm, "arm"))
        for group in view.groups_of_several
    ]
    rows = [
        (
            view.arm(arm),
            [(where.narrowed(group, arm=arm), found[(arm,)].with_ties) for group, found in of_group],
        )
        for arm in view.arms
    ]
    return share_plot(
        rows,
        what="Percentage agreement by setting",
        axis="Agreement",
        caption="Percentage agreement, ties included.",
    )


def _finer(view: PairView, group: GroupView) -> Iterator[Block]:
    """By cell, differences, by category."""
    tag = tag_of(group)
    if view.several_arms or len(view.pairs) > 1:
        heading = "By pair and setting" if view.several_arms else "By pair"
        yield Block(heading, tables=(_cells(view, group),), tag=tag)
    if PercentageAgreementFigure.of(group).differences:
        yield Block("Differences between settings", tables=(_differences(view, group),), tag=tag)
    if PercentageAgreementFigure.of(group).by_category:
        yield Block("By category", tables=(_categories(group),), folded=True, tag=tag)


def _cells(view: PairView, group: GroupView) -> Table:
    names = ["Pair", "Setting"] if view.several_arms else ["Pair"]
    build = Builder(
        "Percentage agreement, in percent; by chance: with ties, from the labels of the same items.",
        [
            *columns(names, names=2),
            *map(Column, ("With ties", CHANCE, "n", "Without ties", "n")),
        ],
    )
    found = by_cell(PercentageAgreementFigure.of(group).by_cell, "arm", "system_1", "system_2")
    for pair in view.pairs:
        for arm in view.arms:
            cell = found.get((arm, *pair))
            if cell is not None:
                build.add(
                    view.pair_head(group, cell),
                    *([words(view.arm(arm))] if len(names) > 1 else []),
                    *_with_and_without(build, cell),
                    of=where.of(group, cell),
                )
    return build.build()


def _with_and_without(build: Builder, found: CategoryAgreement | CellAgreement) -> list[TableCell]:
    return [
        *build.beside_chance(found.with_ties, found.by_chance),
        build.n(found.with_ties),
        build.share(found.without_ties),
        build.n(found.without_ties),
    ]


def _differences(view: PairView, group: GroupView) -> Table:
    names = [
        "Pair",
        "Between",
        "With ties",
        "Two raters",
        "n",
        *P_COLUMNS,
        "Without ties",
        "Two raters",
        "n",
        "p",
    ]
    build = Builder(
        "Difference in percentage agreement, in points, on the queries that both settings share; two raters: of how "
        "often two raters of an item agree, which does not depend on how many there are; p: sign-flip test of that "
        "over queries.",
        columns(names, names=2),
    )
    for cell in sorted(
        PercentageAgreementFigure.of(group).differences, key=lambda cell: (cell.system_1, cell.system_2)
    ):
        between = f"{view.arm(cell.first_arm)} \N{RIGHTWARDS ARROW} {view.arm(cell.second_arm)}"
        ties, without = cell.with_ties, cell.without_ties
        build.add(
            view.pair_head(group, cell),
            words(between),
            build.share(ties.difference),
            _of_two(build, ties),
            build.n(ties.difference),
            *build.tested(ties.test, ties.test_undefined),
            build.share(without.difference),
            _of_two(build, without),
            build.n(without.difference),
            build.p(without.test.p_value if without.test else None, without.test_undefined),
            of=where.of(group, pair=(cell.system_1, cell.system_2)),
        )
    return build.build()


def _of_two(build: Builder, found: AgreementDifference) -> TableCell:
    return build.share(found.of_two or found.difference)


def _categories(group: GroupView) -> Table:
    labels = ["Category", "With ties", CHANCE, "n", "Without ties", "n", "Leave-one-out"]
    build = Builder(f"{IN_PERCENT}.", columns(labels))
    loo = by_cell(PercentageAgreementFigure.of(group).leave_one_out.inner_by_category, "category")
    for found in PercentageAgreementFigure.of(group).by_category:
        build.add(
            head(found.category or "none"),
            *_with_and_without(build, found),
            build.share(loo[(found.category,)].inner),
            of=where.of(group, found),
        )
    return build.build()

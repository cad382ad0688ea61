"""Percentage agreement and leave-one-out agreement on a preference."""

from collections.abc import Iterable, Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import NBSP, corrected, decimal, in_percent, percent, points
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
from analytics.figures.agreement.alpha import ALPHA, chance_of, level_in
from analytics.figures.families import CLAIMS, FamilyTest, is_supported
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import (
    MAY_STOP,
    PAIRS,
    FigureInput,
    PairInput,
    by_category,
    by_cell,
    named,
    several,
)
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import PairView, ReportView, group_head, tag_of
from analytics.statistics.agreement.leave_one_out import inner_agreement, inner_by_group
from analytics.statistics.agreement.percentage import (
    ByChance,
    agreement,
    agreement_by_group,
    agreement_difference,
    chance_agreement,
    item_agreement,
    mode_is,
)
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import TIE, Bools, Ints, ItemCell
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec

LABELS = ("With ties", "Without ties", "Leave-one-out")
CHANCE = "By chance"
IN_PERCENT = "Percentage agreement and leave-one-out agreement, in percent"


class PercentageAgreementFigure(Figure):
    heading = "agreement"
    place = 10
    finding_place = 30
    stops_with = ("agreement",)
    beside = ("agreement/alpha",)
    definition = (
        "Percentage agreement and leave-one-out agreement on a preference: overall, by setting, pair and "
        "category, and the difference between settings."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> Record:
        """ContextEval Tables 4 and 5, and HREF Algorithm 1 among people; differences are to the first arm."""
        assert isinstance(given, PairInput)
        items, counts = given.items, given.counts
        resample, chance = given.resample("agreement"), chance_agreement(counts)
        return {
            "overall": {
                **plain(agreement(counts, items.query, resample=resample)),
                "by_chance": _with_ties(chance),
                "by_chance_without_ties": chance.without_ties if chance else None,
            },
            "by_arm": _with_chance(
                named(
                    items.arms,
                    "arm",
                    agreement_by_group(counts, items.query, items.arm, len(items.arms), resample=resample),
                ),
                counts,
                items.arm,
            ),
            "by_cell": [
                {
                    **plain(cell),
                    **plain(agreement(counts[rows], items.query[rows], resample=resample)),
                    "by_chance": _with_ties(chance_agreement(counts[rows])),
                }
                for cell, rows in given.cells(("arm", "pair"))
            ],
            "unlisted": len(items.pairs) - len(np.unique(items.pair[given.listed])),
            "by_category": _with_chance(
                by_category(
                    items,
                    lambda: agreement_by_group(
                        counts, items.query, items.category, len(items.categories), resample=resample
                    ),
                ),
                counts,
                items.category,
            ),
            "differences": [
                {
                    "first_arm": items.arms[0],
                    "second_arm": items.arms[other],
                    **plain(cell),
                    **_difference(given, cell, rows, other),
                }
                for other in range(1, len(items.arms))
                for cell, rows in given.cells(("pair",))
            ],
            "leave_one_out": {
                **_leave_one_out(given),
                "by_chance": chance.leave_one_out if chance else None,
            },
        }

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """With and without ties, over all and by setting."""
        assert isinstance(given, PairInput)
        items, shares = given.items, item_agreement(given.counts)
        usable = np.isfinite(shares)
        cells: list[tuple[str | None, Bools]] = [(None, usable)]
        cells += [(name, usable & (items.arm == code)) for code, name in several(items.arm, items.arms)]
        untied = ~mode_is(given.counts, TIE)
        untested = MAY_STOP if given.may_stop_on("agreement") else ""
        for arm, mask in cells:
            for name, used in (
                ("Agreement with ties", mask),
                ("Agreement without ties", mask & untied),
            ):
                sums = mean_sums(shares[used], items.query[used], unit="items", within=SHARE)
                yield Quantity(name, sums, arm, untested=untested)

    def tests(self, record: Record) -> Iterable[FamilyTest]:
        for each in record["differences"]:
            if each["with_ties"]["test"] is not None:
                yield FamilyTest(CLAIMS, each["with_ties"]["test"])

    def findings(self, view: ReportView, group: Record, question: Record) -> Iterator[Record]:
        """Arms in which raters agree more, or less, than in the first one (ContextEval Table 4)."""
        for cell in group[self.key]["differences"]:
            found = cell["with_ties"]
            if not is_supported(found["test"]):
                continue
            of_two = found["of_two"]
            more = "more" if of_two["value"] > 0 else "less"
            first, second = view.arm(cell["first_arm"]), view.arm(cell["second_arm"])
            yield {
                "kind": "agreement",
                "system_1": cell["system_1"],
                "system_2": cell["system_2"],
                "about": f"{view.system(cell['system_1'])} vs {view.system(cell['system_2'])}",
                "heading": f"Raters agree {more} in “{second}”",
                "text": f"Two raters of an item give the same label {points(of_two['value'])} points {more} often than "
                f"in “{first}”, on {of_two['n']:,} shared queries ({corrected(found['test'])}).",
                "anchor": "agreement",
            }

    def facts(self, view: ReportView, group: Record, question: Record) -> Iterator[Fact]:
        if group["key"] != view.leading["key"] and group["raters"] < 2:
            return
        found = group[self.key]["overall"]["with_ties"]
        about = f"{question['prompt']} " if len(view.pairs) > 1 else ""
        if found["value"] is None:
            yield Fact("Agreement", DASH, f"{about}{found['undefined']}", undefined=True)
            return
        limits = interval(found, percent)
        said = [f"{about}95{NBSP}% interval {limits}" if limits else f"{about}{found['undefined']}"]
        said.append(f"{in_percent(group[self.key]['overall']['by_chance'])} by chance")
        alpha = level_in(group, "nominal")["alpha"]
        if alpha["low"] is not None and alpha["low"] <= 0:
            said.append(
                f"not shown to be better than chance: {ALPHA} {decimal(alpha['value'])}, {interval(alpha, decimal)}"
            )
        yield Fact("Agreement", in_percent(found["value"]), "; ".join(said), tag=tag_of(group))

    def intro(self, view: ReportView) -> str:
        return (
            "Agreement is the share of an item's judgments that give its most common label; without ties, items "
            "whose only most common label is a tie are left out. Leave-one-out holds out one judgment and asks "
            "how often the others predict it."
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return [*_summary(view), *view.per_pair(self._of_pair)]

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        uneven = tuple(sentence for group in view.panels if (sentence := _uneven_labels(group)))
        yield Block("", uneven, (_overall(view),))
        yield from _by_arm(view)
        yield from _finer(view, view.leading)
        for group in (each for each in view.panels if each is not view.leading):
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


def _with_chance(records: list[Record], counts: Ints, group: Ints) -> list[Record]:
    """The records of each code of `group` (n,), with the agreement that chance gives with these labels (n, k)."""
    return [
        {**record, "by_chance": _with_ties(chance_agreement(counts[group == code]))}
        for code, record in enumerate(records)
    ]


def _difference(given: PairInput, cell: ItemCell, rows: Ints, other: int) -> Record:
    items = given.items
    family = (len(items.arms) - 1) * len(items.pairs)
    tests = given.tests("agreement", family).of(cell.system_1, cell.system_2)
    found = {
        name: agreement_difference(
            given.counts[rows],
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
    return dict(plain(found))


def _leave_one_out(given: PairInput) -> Record:
    items, counts, resample = given.items, given.counts, given.resample("leave one out")
    return {
        "inner": plain(inner_agreement(counts, items.query, resample=resample)),
        "inner_by_arm": named(
            items.arms,
            "arm",
            inner_by_group(counts, items.query, items.arm, len(items.arms), resample=resample),
            "inner",
        ),
        "inner_by_category": by_category(
            items,
            lambda: inner_by_group(
                counts, items.query, items.category, len(items.categories), resample=resample
            ),
            "inner",
        ),
    }


FIGURE = PercentageAgreementFigure()
KEY = FIGURE.key


def _summary(view: ReportView) -> Iterator[Block]:
    """The preferences as rows, where there are several."""
    if len(view.pairs) < 2:
        return
    build = Builder(f"{IN_PERCENT}.", columns(["Raters", "Question", *LABELS, "n"], names=2))
    for group in view.panels:
        for question, records in view.answered(view.asked(KEY), group):
            found = records[KEY]["overall"]
            build.add(
                group_head(group),
                words(question["prompt"]),
                build.share(found["with_ties"]),
                build.share(found["without_ties"]),
                build.share(records[KEY]["leave_one_out"]["inner"]),
                build.n(found["with_ties"]),
            )
    yield Block("Percentage agreement", tables=(build.build(),))


def _overall(view: PairView) -> Table:
    shares = [label for each in LABELS for label in (each, CHANCE)]
    build = Builder(
        f"{IN_PERCENT}; by chance: had every judgment been drawn from the labels of all items; {ALPHA} of the "
        "preference (ordinal: a tie lies between the two systems).",
        columns(["Raters", *shares, f"{ALPHA} nominal", f"{ALPHA} ordinal", "n"]),
    )
    for group in view.panels:
        found = group[KEY]
        build.add(
            group_head(group),
            *build.beside_chance(found["overall"]["with_ties"], found["overall"]["by_chance"]),
            *build.beside_chance(
                found["overall"]["without_ties"], found["overall"]["by_chance_without_ties"]
            ),
            *build.beside_chance(found["leave_one_out"]["inner"], found["leave_one_out"]["by_chance"]),
            build.coefficient(level_in(group, "nominal")["alpha"]),
            build.coefficient(level_in(group, "ordinal")["alpha"]),
            build.n(found["overall"]["with_ties"]),
        )
    return build.build()


def _uneven_labels(group: Record) -> str:
    """Why raters mostly agree and alpha is low all the same; nothing where it is not so."""
    share = group[KEY]["overall"]["with_ties"]["value"]
    found = level_in(group, "nominal")
    chance = chance_of(found["by_chance"], found["alpha"]["value"], share)
    if chance is None:
        return ""
    return (
        f"{group['label']}: agreement is {in_percent(share)}, yet alpha is {decimal(found['alpha']['value'])}. "
        "One label is far more common than the others, so two judgments paired at random would be the same in "
        f"{in_percent(chance)} of cases; alpha counts only agreement beyond that."
    )


def _by_arm(view: PairView) -> Iterator[Block]:
    """Settings as rows: the leading group's table, and every panel in the plot."""
    if not view.several_arms:
        return
    build = Builder(
        f"{IN_PERCENT}; by chance: with ties, from the labels of the setting; {ALPHA} nominal.",
        columns(["Setting", LABELS[0], CHANCE, *LABELS[1:], ALPHA, "n"]),
    )
    own = view.leading[KEY]
    loo = by_cell(own["leave_one_out"]["inner_by_arm"], "arm")
    alphas = by_cell(view.leading["agreement/alpha"]["by_arm"], "arm")
    found = by_cell(own["by_arm"], "arm")
    for arm in view.arms:
        build.add(
            head(view.arm(arm)),
            *build.beside_chance(found[(arm,)]["with_ties"], found[(arm,)]["by_chance"]),
            build.share(found[(arm,)]["without_ties"]),
            build.share(loo[(arm,)]["inner"]),
            build.coefficient(alphas[(arm,)]["alpha"]),
            build.n(found[(arm,)]["with_ties"]),
        )
    yield Block("By setting", tables=(build.build(),), plot=_arm_plot(view), tag=tag_of(view.leading))


def _arm_plot(view: PairView) -> DotPlot | None:
    of_group = [(group, by_cell(group[KEY]["by_arm"], "arm")) for group in view.panels]
    rows = [
        (view.arm(arm), [(group, found[(arm,)]["with_ties"]) for group, found in of_group])
        for arm in view.arms
    ]
    return share_plot(
        rows,
        what="Percentage agreement by setting",
        axis="Agreement",
        caption="Percentage agreement, ties included.",
    )


def _finer(view: PairView, group: Record) -> Iterator[Block]:
    """By cell, differences, by category."""
    tag = tag_of(group)
    if view.several_arms or len(view.pairs) > 1:
        heading = "By pair and setting" if view.several_arms else "By pair"
        yield Block(heading, tables=(_cells(view, group),), tag=tag)
    if group[KEY]["differences"]:
        yield Block("Differences between settings", tables=(_differences(view, group),), tag=tag)
    if group[KEY]["by_category"]:
        yield Block("By category", tables=(_categories(group),), folded=True, tag=tag)


def _cells(view: PairView, group: Record) -> Table:
    names = ["Pair", "Setting"] if view.several_arms else ["Pair"]
    build = Builder(
        "Percentage agreement, in percent; by chance: with ties, from the labels of the same items.",
        [
            *columns(names, names=2),
            *map(Column, ("With ties", CHANCE, "n", "Without ties", "n")),
        ],
    )
    found = by_cell(group[KEY]["by_cell"], "arm", "system_1", "system_2")
    for pair in view.pairs:
        for arm in view.arms:
            cell = found.get((arm, *pair))
            if cell is not None:
                build.add(
                    head(view.pair(cell)),
                    *([words(view.arm(arm))] if len(names) > 1 else []),
                    *_with_and_without(build, cell),
                )
    return build.build()


def _with_and_without(build: Builder, found: Record) -> list[TableCell]:
    return [
        *build.beside_chance(found["with_ties"], found["by_chance"]),
        build.n(found["with_ties"]),
        build.share(found["without_ties"]),
        build.n(found["without_ties"]),
    ]


def _differences(view: PairView, group: Record) -> Table:
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
    for cell in sorted(group[KEY]["differences"], key=lambda cell: (cell["system_1"], cell["system_2"])):
        between = f"{view.arm(cell['first_arm'])} \N{RIGHTWARDS ARROW} {view.arm(cell['second_arm'])}"
        ties, without = cell["with_ties"], cell["without_ties"]
        build.add(
            head(view.pair(cell)),
            words(between),
            build.share(ties["difference"]),
            _of_two(build, ties),
            build.n(ties["difference"]),
            *build.tested(ties["test"], ties["test_undefined"]),
            build.share(without["difference"]),
            _of_two(build, without),
            build.n(without["difference"]),
            build.p(without["test"] and without["test"]["p_value"], without["test_undefined"]),
        )
    return build.build()


def _of_two(build: Builder, found: Record) -> TableCell:
    return build.share(found["of_two"] or found["difference"])


def _categories(group: Record) -> Table:
    labels = ["Category", "With ties", CHANCE, "n", "Without ties", "n", "Leave-one-out"]
    build = Builder(f"{IN_PERCENT}.", columns(labels))
    loo = by_cell(group[KEY]["leave_one_out"]["inner_by_category"], "category")
    for found in group[KEY]["by_category"]:
        build.add(
            head(found["category"] or "none"),
            *_with_and_without(build, found),
            build.share(loo[(found["category"],)]["inner"]),
        )
    return build.build()

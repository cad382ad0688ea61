"""Win rates by majority vote, and expected win rates."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import corrected, in_percent, with_interval
from analytics.display.plots import DotPlot
from analytics.display.tables import (
    P_COLUMNS,
    Builder,
    Table,
    TableCell,
    columns,
    head,
    words,
)
from analytics.figures import where
from analytics.figures.agreement.percentage import PercentageAgreementFigure
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest, corrected_p, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import MAY_STOP, PAIRS, FigureInput, PairInput, by_cell
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.preferences.both_bad import BothBadFigure
from analytics.figures.preferences.flips import flipping_arms, has_flip
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import CELLS, PairView, ReportView, joined, subject, tag_of
from analytics.figures.strip import leading_fact
from analytics.statistics.agreement.percentage import majority
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import FIRST, MISSING, connected
from analytics.statistics.preferences.win_rates import (
    MajorityWinRates,
    WinRate,
    expected_win_rates,
    item_scores,
    majority_win_rates,
    rows_by_system,
    win_rates_against,
    win_rates_overall,
)
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec

KEY = "preferences/win_rates"
# Setting, and two systems: in their order, or a system and its opponent.
Cell = tuple[str | None, ...]
TESTED = ("h", *P_COLUMNS)
TEST_CAPTION = (
    "h: Cohen's h of the expected win rate beside 50 %, 2 arcsin \N{SQUARE ROOT}p \N{MINUS SIGN} "
    "\N{GREEK SMALL LETTER PI}/2; p: sign-flip test of 50 % over queries."
)
PAIR = ("system_1", "system_2")
NEVER_MET = (
    "Some of these systems were never compared with each other, neither directly nor through other systems: their "
    "rates are against other opponents and say nothing of each other."
)
TIES_COUNT = {
    "half": "An expected win rate counts a tie as half a win.",
    "win": "An expected win rate counts a tie as a win, so the rates of two systems may add up to more than one.",
}


@dataclass(frozen=True)
class WinRates:
    """Win rates of pairs by majority and expected, of systems over all opponents and, where there is one, against the
    baseline."""

    majority: Sequence[MajorityWinRates]
    expected: Sequence[WinRate]
    overall: Sequence[WinRate]
    majority_by_category: Sequence[MajorityWinRates]
    expected_by_category: Sequence[WinRate]
    against_baseline: Sequence[WinRate]


class WinRatesFigure(Figure[WinRates]):
    heading = "win-rates"
    place = 10
    finding_place = 20
    stops_with = ("win_rate",)
    beside = (CELLS, "preferences/both_bad", "preferences/flips")
    definition = (
        "Win rates of a preference: by majority vote and expected, by setting, pair and category, over all opponents "
        "and against the baseline."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> WinRates:
        """By majority vote (ContextEval Table 6) and expected (HREF 4.2)."""
        assert isinstance(given, PairInput)
        items, judgments, resample = given.items, given.group.judgments, given.resample("win rates")
        listed, of_listed = given.listed_alone
        ties, baseline = given.terms.ties, given.terms.baseline
        family = len(items.arms) * len(items.systems)
        by, several = ("pair", "category"), len(items.categories) > 1
        return WinRates(
            majority=majority_win_rates(listed, of_listed, resample=resample),
            expected=expected_win_rates(listed, of_listed, resample=resample, ties=ties),
            overall=win_rates_overall(
                items,
                judgments,
                resample=resample,
                ties=ties,
                tests=given.tests("win rates", family) if ties == "half" else None,
            ),
            majority_by_category=majority_win_rates(listed, of_listed, resample=resample, by=by)
            if several
            else (),
            expected_by_category=expected_win_rates(listed, of_listed, resample=resample, by=by, ties=ties)
            if several
            else (),
            against_baseline=win_rates_against(items, judgments, baseline, resample=resample, ties=ties)
            if baseline in items.systems
            else (),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Of each pair in each setting and, where a system meets several others, over all of them."""
        assert isinstance(given, PairInput)
        items = given.items
        scores = item_scores(given.group.judgments, len(items), given.terms.ties)
        won = majority(given.counts)
        untested = MAY_STOP if given.may_stop_on("win_rate") else ""
        opponents = defaultdict(set)
        for cell, rows in items.cells():
            # Canonical responses stand in the order of their systems' keys, and so in the same one in every study.
            assert cell.system_1 is not None
            assert cell.system_2 is not None
            systems = cell.system_1, cell.system_2
            for one, other in (systems, systems[::-1]):
                opponents[cell.arm, one].add(other)
            used, decided = rows[np.isfinite(scores[rows, FIRST])], rows[won[rows] != MISSING]
            yield Quantity(
                "Expected win rate",
                mean_sums(scores[used, FIRST], items.query[used], unit="items", within=SHARE),
                cell.arm,
                systems,
                untested,
            )
            yield Quantity(
                "Win rate by majority",
                mean_sums(
                    (won[decided] == FIRST).astype(np.float64),
                    items.query[decided],
                    unit="items",
                    within=SHARE,
                ),
                cell.arm,
                systems,
                untested,
            )
        for cell, system, index, sides in rows_by_system(items, ("arm",)):
            if len(opponents[cell.arm, items.systems[system]]) > 1:
                score = scores[index, sides]
                known = np.isfinite(score)
                yield Quantity(
                    "Expected win rate over all opponents",
                    mean_sums(score[known], items.query[index[known]], unit="items", within=SHARE),
                    cell.arm,
                    (items.systems[system],),
                    untested,
                )

    def tests(self, record: WinRates) -> Iterator[FamilyTest]:
        told = {id(test): test for test in _shared_tests(record) if test is not None}
        yield from (FamilyTest(CLAIMS, test) for test in told.values())

    def settle(self, record: WinRates) -> Mapping[str, Any]:
        tests = zip(record.overall, _shared_tests(record), strict=True)
        return {"overall": [replace(rate, test=test) for rate, test in tests]}

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """Winners and losers; where the preferred system changes between settings, that is the finding."""
        if has_flip(group):
            return
        pair = next(each for each in view.pairs if each.key == question.key)
        told = [rate for rate in self.of(group).overall if is_supported(rate.test)]
        for arm in dict.fromkeys(rate.arm for rate in told):
            for kind, side in (("winner", 1), ("loser", -1)):
                of_side = [rate for rate in told if rate.arm == arm and side * (rate.rate.known - 0.5) > 0]
                # Of two systems the one's win is the other's loss.
                if of_side and (kind == "winner" or pair.several_opponents):
                    yield self._finding(view, group, kind, of_side, pair.within(arm))

    def _finding(
        self, view: ReportView, group: GroupView, kind: str, rates: list[WinRate], within: str
    ) -> FigureFinding:
        rates = sorted(rates, key=lambda rate: -abs(rate.rate.known - 0.5))
        one = len(rates) == 1
        verb = {"winner": "Win", "loser": "Lose"}[kind] + ("s" if one else "")
        names = [view.system(rate.system) for rate in rates]
        weakest = max((rate.test for rate in rates), key=corrected_p)
        shown = (
            [with_interval(rates[0].rate)]
            if one
            else [f"{name} {with_interval(rate.rate)}" for name, rate in zip(names, rates, strict=True)]
        )
        items = min(rate.rate.n for rate in rates)
        finding: FigureFinding = {
            "kind": kind,
            "about": joined(names),
            "heading": f"{verb} more often than not{within}",
            "text": f"Expected win rate{'' if one else 's'}: {joined(shown)}, from {'' if one else 'at least '}"
            f"{items:,} items judged by {subject(group)} ({'' if one else 'at most '}{corrected(weakest)}).",
            "anchor": "win-rates",
        }
        return {**finding, "system": rates[0].system} if one else finding

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        """The highest rate, of the first of several questions; of one alone the rates stand right below.

        Of systems that never met none is the highest.
        """
        rates = [each for each in self.of(group).overall if each.rate.value is not None]
        if not view.several_questions or not rates or has_groups(group):
            return
        best = max(rates, key=lambda each: each.rate.known)
        # Two systems have one test between them, and of several it is not told which two differ.
        ahead = is_supported(best.test) if len({each.system for each in rates}) == 2 else None
        found = [(each.system, each.rate) for each in rates]
        yield leading_fact(
            view, group, "Highest win rate", found, in_percent, prompt=question.prompt, ahead=ahead
        )

    def intro(self, view: ReportView) -> str:
        leading = view.leading
        who = "" if leading.kind == "person" else f" Judged by: {leading.label.lower()}."
        ties = "with a tie counted as a win" if view.ties_are_wins else "with a tie counted as half a win"
        return (
            "A majority is more than half of an item's judgments; an item's only judgment is its majority. The "
            f"expected win rate is the chance that one judgment prefers the system, {ties}.{who}"
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        if len(view.pairs) > 1:
            yield _summary(view)
        yield from view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A majority is more than half of an item's judgments, and a tie can be the majority; an item's only "
            "judgment is its majority. Win rates by majority leave out items without one."
        )
        yield TIES_COUNT[view.report["parameters"]["ties"]]
        if any(not judge["heuristic"] for judge in view.judges):
            yield (
                "Where a judge gives probabilities, an expected win rate is their mean, and its standard error "
                "their standard deviation divided by the square root of the number of items."
            )


FIGURE = WinRatesFigure()


def _shared_tests(record: WinRates) -> Iterator[Tested | None]:
    """The test of each system; two that were compared with each other only have one between them."""
    opponents: dict[tuple[str | None, str | None], set[str | None]] = defaultdict(set)
    for rate in record.expected:
        opponents[rate.arm, rate.system].add(rate.opponent)
    shared: dict[object, Tested] = {}
    for rate in record.overall:
        arm, system = rate.arm, rate.system
        # Of very many pairs some are not listed, and nor are their opponents.
        other = next(iter(opponents[arm, system]), "")
        alone = len(opponents[arm, system]) == len(opponents[arm, other]) == 1
        key = (arm, frozenset((system, other)) if alone else system)
        yield rate.test and shared.setdefault(key, rate.test)


def has_groups(group: GroupView) -> bool:
    """True where systems were never compared with each other, neither directly nor through others, in a setting.

    Of very many pairs, of which not all are listed, that is not known here; the leaderboard says it.
    """
    if PercentageAgreementFigure.of(group).unlisted:
        return False
    opponents: dict[str | None, list[tuple[str, str | None]]] = defaultdict(list)
    for each in WinRatesFigure.of(group).expected:
        opponents[each.arm].append((each.system, each.opponent))
    for pairs in opponents.values():
        names = sorted({name for pair in pairs for name in pair if name is not None})
        one, other = (np.array([names.index(pair[side] or "") for pair in pairs]) for side in (0, 1))
        if connected(one, other, len(names)).any():
            return True
    return False


def rates_of(group: GroupView) -> tuple[dict[Cell, MajorityWinRates], dict[Cell, WinRate]]:
    """Its rates by majority, by (arm, system 1, system 2), and the expected ones, by (arm, system, opponent)."""
    majority: dict[Cell, MajorityWinRates] = {
        (found.cell.arm, found.cell.system_1, found.cell.system_2): found
        for found in WinRatesFigure.of(group).majority
    }
    return majority, by_cell(WinRatesFigure.of(group).expected, "arm", "system", "opponent")


def even(view: PairView) -> tuple[float | None, str]:
    """The rate at which neither system is preferred, and how a caption says it; there is none where ties are wins."""
    return (None, "; ties count as wins.") if view.ties_are_wins else (0.5, "; at 50 % neither is preferred.")


def standard_error(build: Builder, found: WinRate) -> TableCell:
    """In percentage points; nothing below two items."""
    error = found.standard_error
    return words("") if error is None else build.number(error, lambda value: f"{value * 100:.1f}")


def _summary(view: ReportView) -> Block:
    """The preferences as rows, a table for each pair of systems in each setting."""
    questions = view.asked(KEY)
    cells = _cells_of(view, questions)
    tables = tuple(_summary_table(view, questions, cell) for cell in cells)
    plot = None
    if len(cells) == 1:
        ((arm, one, two),) = cells
        plot = share_plot(
            [
                (
                    question.prompt,
                    [
                        (group, rates_of(group)[1][(arm, one, two)].rate)
                        for group in view.plotted(question)
                        if (arm, one, two) in rates_of(group)[1]
                    ],
                )
                for question in questions
            ],
            what=f"Expected win rate of {view.system(one)} against {view.system(two)}",
            axis="Expected win rate",
            caption=f"Expected win rate of {view.system(one)} against {view.system(two)}.",
            reference=None if view.ties_are_wins else 0.5,
            hints=(view.system(two), view.system(one)),
        )
    return Block(tables=tables, plot=plot, tag=tag_of(view.leading))


def _cells_of(view: ReportView, questions: Iterable[QuestionView]) -> list[Cell]:
    """(arm, system 1, system 2) of every comparison, in the order of the report."""
    found = [
        rates.cell for question in questions for rates in WinRatesFigure.of(view.lead(question)).majority
    ]
    return list(dict.fromkeys((cell.arm, cell.system_1, cell.system_2) for cell in found))


def _summary_table(view: ReportView, questions: Iterable[QuestionView], cell: Cell) -> Table:
    arm, one, two = cell
    names = [view.system(one), view.system(two)]
    within = f" {view.arm(arm)}." if len(view.all_arms) > 1 else ""
    build = Builder(
        f"{names[0]} vs {names[1]}: items won by majority, and expected win rate of {names[0]}, in percent.{within}",
        columns(["Question", *names, "Tie", "n", "Expected"]),
    )
    for question in questions:
        majority, expected = rates_of(view.lead(question))
        found = majority.get(cell)
        if found is not None:
            build.add(
                head(question.prompt),
                *(build.share(getattr(found, name)) for name in ("system_1", "system_2", "tie")),
                build.n(found.system_1),
                build.share(expected[cell].rate),
                of=where.of(view.lead(question), found.cell),
            )
    return build.build()


def _of_pair(view: PairView) -> Iterator[Block]:
    found = list(_settings(view) if view.several_arms else _one_arm(view))
    found += [*_pooled(view), *_categories(view), *_others(view)]
    if view.prompt and found:
        # Findings of one of several preferences lead here.
        found[0] = replace(found[0], anchor=found[0].anchor or f"question-{view.key}")
    yield from found


def _caption(view: PairView) -> str:
    return f"Items won by majority, and expected win rate of {view.first_side}, in percent."


def _settings(view: PairView) -> Iterator[Block]:
    """One block per pair, its arms as rows: table and plot side by side."""
    for at, pair in enumerate(view.pairs, 1):
        yield Block(
            " vs ".join(map(view.system, pair)),
            tables=(_pair_table(view, pair),),
            plot=_pair_plot(view, pair),
            anchor=f"pair-{at}",
        )


def _pair_table(view: PairView, pair: tuple[str, str]) -> Table:
    one, two = (view.system(key) for key in pair)
    caption = f"Items won by majority, and expected win rate of {one}, in percent.{_p_caption(view)}"
    build = Builder(caption, columns(["Setting", one, two, "Tie", "n", "Expected", *_p_columns(view)]))
    majority, expected = rates_of(view.leading)
    rates = _tested_rates(view, view.leading)
    turned = flipping_arms(view.leading, pair)
    for arm in view.arms:
        if (arm, *pair) in majority:
            found = majority[(arm, *pair)]
            build.add(
                head(view.arm(arm), tag="flip" if arm in turned else ""),
                build.share(found.system_1),
                build.share(found.system_2),
                build.share(found.tie),
                _decided(build, view, view.leading, found.system_1),
                build.share(expected[(arm, *pair)].rate),
                *(_size_and_test(build, rates.get((arm, pair[0]))) if rates else ()),
                of=where.of(view.leading, found.cell),
            )
    return build.build()


def _p_columns(view: PairView) -> tuple[str, ...]:
    """Where each system meets one other, pairs are what is tested; otherwise systems are, against all opponents."""
    return () if view.several_opponents or view.ties_are_wins else TESTED


def _p_caption(view: PairView) -> str:
    return f" {TEST_CAPTION}" if _p_columns(view) else ""


def _tested_rates(view: PairView, group: GroupView) -> dict[tuple[str | None, str], WinRate]:
    """Expected win rates that are tested, by (arm, system); nothing where pairs are not what is tested."""
    if not _p_columns(view):
        return {}
    return {(rate.arm, rate.system): rate for rate in WinRatesFigure.of(group).overall}


def _size_and_test(build: Builder, rate: WinRate | None) -> tuple[TableCell, ...]:
    """Cohen's h of a rate, and its p-values."""
    if rate is None or rate.effect is None:
        return words(""), *build.tested(None)
    return build.coefficient(rate.effect), *build.tested(rate.test, rate.rate.undefined)


def _pair_plot(view: PairView, pair: tuple[str, str]) -> DotPlot | None:
    one, two = (view.system(key) for key in pair)
    rows = [
        (view.arm(arm), _marks(view, arm, pair))
        for arm in view.arms
        if (arm, *pair) in rates_of(view.leading)[1]
    ]
    return share_plot(
        rows,
        what=f"Expected win rate of {one} against {two}",
        axis="Expected win rate",
        caption=f"Expected win rate of {one} against {two}{even(view)[1]}",
        reference=even(view)[0],
        hints=(two, one),
    )


def _marks(view: PairView, arm: str, pair: tuple[str, str]) -> list[tuple[GroupView, Estimate]]:
    return [
        (where.narrowed(group, arm=arm, pair=pair), rates_of(group)[1][(arm, *pair)].rate)
        for group in view.plotted_groups
    ]


def _one_arm(view: PairView) -> Iterator[Block]:
    """One block for all pairs, which are the rows."""
    rows = [
        (
            " vs ".join(view.system(key) for key in pair),
            _marks(view, arm, pair),
        )
        for arm in view.arms
        for pair in view.pairs
    ]
    plot = share_plot(
        rows,
        what=f"Expected win rate of {view.first_side}",
        axis="Expected win rate",
        caption=f"Expected win rate of {view.first_side}{even(view)[1]}",
        reference=even(view)[0],
        hints=view.hints,
    )
    yield Block("", tables=(_all_pairs(view, view.leading),), plot=plot, anchor="pair-1")


def _all_pairs(view: PairView, group: GroupView, whose: str = "") -> Table:
    names = ["Pair", "Setting"] if view.several_arms else ["Pair"]
    shown = [*view.sides, "Tie", "n", "Expected", *_p_columns(view)]
    build = Builder(f"{whose}{_caption(view)}{_p_caption(view)}", columns([*names, *shown], names=len(names)))
    majority, expected = rates_of(group)
    rates = _tested_rates(view, group)
    for pair in view.pairs:
        for arm in view.arms:
            found = majority.get((arm, *pair))
            if found is None:
                continue
            build.add(
                view.pair_head(group, found.cell),
                *([words(view.arm(arm))] if len(names) > 1 else []),
                build.share(found.system_1),
                build.share(found.system_2),
                build.share(found.tie),
                _decided(build, view, group, found.system_1),
                build.share(expected[(arm, *pair)].rate),
                *(_size_and_test(build, rates.get((arm, pair[0]))) if rates else ()),
                of=where.of(group, found.cell),
            )
    return build.build()


def _decided(build: Builder, view: PairView, group: GroupView, won: Estimate) -> TableCell:
    """The number of items with a majority. The list knows those of some groups alone, and tells ties that are good from
    those that are bad."""
    is_listed = view.has_tallied_majority(group) and not BothBadFigure.is_in(group)
    return build.n(won, "" if is_listed or not won.left_out else where.NOTHING)


def _others(view: PairView) -> Iterator[Block]:
    """Groups that stand in the plots beside the leading one, those that people are of, and judges one by one."""
    for group in (*view.parts, *view.plotted_groups):
        if group is not view.leading:
            heading = view.title_for(group, "Win rates")
            yield Block(heading, tables=(_all_pairs(view, group),), folded=True, tag=tag_of(group))
    single = [group for group in view.groups if group not in view.plotted_groups and group not in view.parts]
    if single:
        tables = tuple(_all_pairs(view, group, whose=f"{group.label}. ") for group in single)
        yield Block("Win rates by judge", tables=tables, folded=True)


def _pooled(view: PairView) -> Iterator[Block]:
    """Against all opponents, where there is more than one, and against the baseline."""
    found = WinRatesFigure.of(view.leading)
    if view.several_opponents:
        table = _system_rates(view, found.overall, "Expected win rate over all opponents")
        text = (NEVER_MET,) if has_groups(view.leading) else ()
        if unlisted := PercentageAgreementFigure.of(view.leading).unlisted:
            others = "1 other is" if unlisted == 1 else f"{unlisted:,} others are"
            text = (*text, f"Above, the pairs with the most items are listed; {others} in the data alone.")
        yield Block("Against all opponents", text, tables=(table,))
    if found.against_baseline:
        baseline = view.system(view.report["study"]["baseline"])
        table = _system_rates(view, found.against_baseline, f"Expected win rate against {baseline}")
        yield Block(f"Against the baseline, {baseline}", tables=(table,))


def _system_rates(view: PairView, rates: Sequence[WinRate], what: str) -> Table:
    names = ["System", "Setting"] if view.several_arms else ["System"]
    tested = any(found.test for found in rates)
    build = Builder(
        f"{what}, in percent.{f' {TEST_CAPTION}' if tested else ''}",
        columns([*names, "Rate", "Standard error", "n", *(TESTED if tested else ())], names=len(names)),
    )
    for found in sorted(rates, key=lambda rate: (rate.system, view.arms.index(rate.arm or ""))):
        build.add(
            head(view.system(found.system)),
            *([words(view.arm(found.arm))] if len(names) > 1 else []),
            build.share(found.rate),
            standard_error(build, found),
            build.n(found.rate),
            *(_size_and_test(build, found) if tested else ()),
            of=where.of(view.leading, arm=found.arm, system=found.system),
        )
    return build.build()


def _categories(view: PairView) -> Iterator[Block]:
    found = WinRatesFigure.of(view.leading)
    if not found.majority_by_category:
        return
    labels = ["Pair", "Category", *view.sides, "Tie", "n", "Expected"]
    build = Builder(_caption(view), columns(labels, names=2))
    expected = by_cell(found.expected_by_category, "category", "system", "opponent")
    for rates in found.majority_by_category:
        cell = rates.cell
        key = (cell.category, cell.system_1, cell.system_2)
        build.add(
            view.pair_head(view.leading, cell),
            words(cell.category or "none"),
            build.share(rates.system_1),
            build.share(rates.system_2),
            build.share(rates.tie),
            _decided(build, view, view.leading, rates.system_1),
            build.share(expected[key].rate),
            of=where.of(view.leading, cell),
        )
    yield Block("By category", tables=(build.build(),), folded=True)

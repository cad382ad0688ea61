"""Flips between two settings: of the system that a pair's majorities prefer, and of single queries."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from analytics.display.blocks import Block
from analytics.display.numbers import corrected, decimal, points
from analytics.display.tables import P_COLUMNS, Builder, Table, columns, count, head, words
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import CELLS, PairView, ReportView, subject, tag_of
from analytics.statistics.preferences.flips import PairFlip, QueryFlips, pair_flips, query_flips
from evaluation.protocols import QuestionSpec

KEY = "preferences/flips"


@dataclass(frozen=True)
class Flips:
    """Between every two arms: whether majorities prefer another system, and queries whose majority label differs."""

    pairs: tuple[PairFlip, ...]
    queries: tuple[QueryFlips, ...]


class FlipsFigure(Figure[Flips]):
    heading = "flips"
    place = 10
    finding_place = 10
    stops_with = ("win_rate",)
    beside = (CELLS,)
    definition = (
        "Flips between two settings: changes of a pair's preferred system, of its margin, and of the majority label "
        "of single queries."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> Flips:
        """Between every two arms."""
        assert isinstance(given, PairInput)
        items, judgments = given.listed_alone
        resample = given.resample("flips")
        arms = items.arms
        between = [(first, second) for at, first in enumerate(arms) for second in arms[at + 1 :]]
        tests = given.tests("flips", len(between) * len(items.pairs))
        return Flips(
            tuple(
                flip
                for first, second in between
                for flip in pair_flips(
                    items, judgments, first=first, second=second, resample=resample, tests=tests
                )
            ),
            tuple(
                flip
                for first, second in between
                for flip in query_flips(items, judgments, first=first, second=second, resample=resample)
            ),
        )

    def tests(self, record: Flips) -> Iterator[FamilyTest]:
        for flip in record.pairs:
            if flip.margin_test is not None:
                yield FamilyTest(CLAIMS, flip.margin_test)
                # Where the preferred system changes, the margin does.
                assert flip.flip_test is not None
                yield FamilyTest(CLAIMS, flip.flip_test, beneath=flip.margin_test)

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """One per pair: between which arms the preferred system changes or, where it does not, the margin."""
        pair_view = next(each for each in view.pairs if each.key == question.key)
        flips = sorted(self.of(group).pairs, key=_pair_of)
        for pair, of_pair in groupby(flips, _pair_of):
            found = list(of_pair)
            system_1, system_2 = pair
            about = pair_view.pair(found[0])
            if changed := [flip for flip in found if flips_beyond_chance(flip)]:
                at = f"pair-{pair_view.pairs.index(pair) + 1}"
                yield {
                    "kind": "pair_flip",
                    "system_1": system_1,
                    "system_2": system_2,
                    "about": about,
                    "heading": "The preferred system changes",
                    "text": f"{_preferences(view, group, changed)} {_moves(view, changed)}",
                    "anchor": at if pair_view is view.pairs[0] else f"{pair_view.key}-{at}",
                }
            elif moved := [flip for flip in found if is_supported(flip.margin_test)]:
                largest = max(moved, key=lambda flip: abs(flip.difference.known))
                yield {
                    "kind": "margin_change",
                    "system_1": system_1,
                    "system_2": system_2,
                    "about": about,
                    "heading": f"The margin changes by {points(largest.difference.known)} points",
                    "text": _margins(view, group, moved),
                    "anchor": "flips",
                }

    def intro(self, view: ReportView) -> str:
        return (
            "A pair flips if the system that majorities prefer differs between two settings; a query flips if "
            "its own majority label does."
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)


FIGURE = FlipsFigure()


def flips_beyond_chance(flip: PairFlip) -> bool:
    return bool(flip.flipped and is_supported(flip.flip_test))


def has_flip(group: GroupView) -> bool:
    """True where the preferred system of any pair changes beyond chance."""
    return (
        any(flips_beyond_chance(flip) for flip in FlipsFigure.of(group).pairs)
        if FlipsFigure.is_in(group)
        else False
    )


def flipping_arms(group: GroupView, pair: tuple[str, str]) -> set[str]:
    """The arms whose preferred system is not that of the first arm that prefers one, beyond chance."""
    return {
        flip.second_arm
        for flip in FlipsFigure.of(group).pairs
        if _pair_of(flip) == pair and flips_beyond_chance(flip)
    }


def _pair_of(flip: PairFlip | QueryFlips) -> tuple[str, str]:
    return flip.system_1, flip.system_2


def _preferences(view: ReportView, group: GroupView, flips: list[PairFlip]) -> str:
    preferred: dict[str, str | None] = {}
    for flip in flips:
        preferred[flip.first_arm] = flip.first_preferred
        preferred[flip.second_arm] = flip.second_preferred
    by_system: dict[str | None, list[str]] = {}
    for arm, label in view.all_arms.items():
        if arm in preferred:
            by_system.setdefault(preferred[arm], []).append(f"“{label}”")
    verb = "prefers" if group.kind == "judge" else "prefer"
    (system, arms), *rest = by_system.items()
    first = f"In {' and '.join(arms)} {subject(group)} {verb} {view.system(system)}"
    return (
        "; ".join([first, *(f"in {' and '.join(arms)}, {view.system(system)}" for system, arms in rest)])
        + "."
    )


def _moves(view: ReportView, flips: list[PairFlip]) -> str:
    moves = [
        f"between “{view.arm(flip.first_arm)}” and “{view.arm(flip.second_arm)}” "
        f"({corrected(flip.flip_test)})"
        for flip in flips
    ]
    return f"The preferred system changes {' and '.join(moves)}."


def _margins(view: ReportView, group: GroupView, moved: list[PairFlip]) -> str:
    """Towards which system the margin of wins moves, between which arms."""
    moves = []
    for flip in moved:
        gains = flip.system_1 if flip.difference.known > 0 else flip.system_2
        moves.append(
            f"by {points(flip.difference.known)} points towards {view.system(gains)} from "
            f"“{view.arm(flip.first_arm)}” to “{view.arm(flip.second_arm)}” "
            f"({corrected(flip.margin_test)})"
        )
    return f"On the items judged by {subject(group)}, the margin of wins moves {' and '.join(moves)}."


def _of_pair(view: PairView) -> Iterator[Block]:
    if not view.several_arms:
        return
    for group in (each for each in view.groups_of_several if FlipsFigure.of(each).pairs):
        folded = group is not view.leading
        yield Block(
            view.title_for(group, "Flips") if folded else "",
            tables=(_pair_flips(view, group), _query_flips(view, group)),
            folded=folded,
            tag=tag_of(group),
        )
    queries = sorted(FlipsFigure.of(view.leading).queries, key=_pair_of)
    yield Block(
        "Majority labels by setting", tables=tuple(_transitions(view, flip) for flip in queries), folded=True
    )


def _pair_flips(view: PairView, group: GroupView) -> Table:
    labels = ["Pair", "Between", "Preferred", *P_COLUMNS, "Change in margin", "n", *P_COLUMNS]
    build = Builder(
        "Pair flips: the system that majorities prefer in each setting, with the test that both preferences "
        f"hold; and the change in margin (share of items won by {view.first_side} minus that of the other), in "
        "points, with its own test. Sign-flip tests over queries.",
        columns(labels, names=3),
    )
    for flip in sorted(FlipsFigure.of(group).pairs, key=_pair_of):
        tag = "flip" if flips_beyond_chance(flip) else "within chance" if flip.flipped else ""
        undefined = flip.difference.undefined
        build.add(
            view.pair_head(group, flip),
            words(_between(view, flip)),
            words(_preferred(view, flip), tag),
            *build.tested(flip.flip_test, undefined),
            build.share(flip.difference),
            build.n(flip.difference),
            *build.tested(flip.margin_test, undefined),
        )
    return build.build()


def _between(view: PairView, flip: PairFlip | QueryFlips) -> str:
    return f"{view.arm(flip.first_arm)} \N{RIGHTWARDS ARROW} {view.arm(flip.second_arm)}"


def _preferred(view: PairView, flip: PairFlip) -> str:
    names = [view.system(key) if key else "neither" for key in (flip.first_preferred, flip.second_preferred)]
    return names[0] if names[0] == names[1] else f"{names[0]} \N{RIGHTWARDS ARROW} {names[1]}"


def _query_flips(view: PairView, group: GroupView) -> Table:
    labels = [
        "Pair",
        "Between",
        "Queries that flip, %",
        "n",
        "Stuart-Maxwell \N{GREEK SMALL LETTER CHI}\u00b2",
        "p",
    ]
    build = Builder(
        "Query flips: queries whose majority label differs. The test compares the totals of the labels.",
        columns(labels, names=2),
    )
    for flip in sorted(FlipsFigure.of(group).queries, key=_pair_of):
        build.add(
            view.pair_head(group, flip),
            words(_between(view, flip)),
            build.share(flip.flipped),
            build.n(flip.flipped),
            build.number(flip.statistic, decimal, flip.test_undefined),
            build.p(flip.p_value, flip.test_undefined),
        )
    return build.build()


def _transitions(view: PairView, flip: QueryFlips) -> Table:
    names = [view.system(flip.system_1), view.system(flip.system_2), "Tie"]
    first, second = view.arm(flip.first_arm), view.arm(flip.second_arm)
    caption = f"{view.pair(flip)}: queries by majority in “{first}” (rows) and “{second}” (columns)."
    build = Builder(caption, columns([first, *names]))
    for name, row in zip(names, flip.transitions, strict=True):
        build.add(head(name), *(count(n) for n in row))
    return build.build(compact=True)

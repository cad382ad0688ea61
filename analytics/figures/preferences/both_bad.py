"""The share of votes that both responses are bad: overall, by setting, pair of systems and system."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput, several
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import PairView, ReportView, group_head
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import BOTH_BAD, MISSING, Bools
from analytics.statistics.preferences.tie_rates import tie_rate
from evaluation.protocols import QuestionSpec

KEY = "preferences/both_bad"


@dataclass(frozen=True)
class BothBadOfArm:
    arm: str
    rate: Estimate


@dataclass(frozen=True)
class BothBadOfPair:
    system_1: str
    system_2: str
    rate: Estimate


@dataclass(frozen=True)
class BothBadOfSystem:
    """Among the comparisons of one system with any other."""

    system: str
    rate: Estimate


@dataclass(frozen=True)
class BothBadRates:
    """Share of votes that both responses are bad; by setting where there are several, and by pair but for `unlisted`
    ones and by system where there are more than two systems."""

    overall: Estimate
    by_arm: tuple[BothBadOfArm, ...]
    by_pair: tuple[BothBadOfPair, ...]
    unlisted: int
    by_system: tuple[BothBadOfSystem, ...]


class BothBadFigure(Figure[BothBadRates]):
    heading = "win-rates"
    place = 29
    definition = (
        "The share of votes that both responses are bad, of a preference that tells these from other ties: overall, by "
        "setting and pair of systems, and among all comparisons of a system."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS and question.tells_both_bad

    def compute(self, given: FigureInput) -> BothBadRates:
        assert isinstance(given, PairInput)
        items = given.items
        of_several = len(items.pairs) > 1
        return BothBadRates(
            overall=_rate(given, np.ones(len(items), dtype=bool)),
            by_arm=tuple(
                BothBadOfArm(name, _rate(given, items.arm == code))
                for code, name in several(items.arm, items.arms)
            ),
            by_pair=tuple(
                BothBadOfPair(*pair, _rate(given, (items.pair == code) & given.listed))
                for code, pair in enumerate(items.pairs)
                if of_several and (given.listed & (items.pair == code)).any()
            ),
            unlisted=len(items.pairs) - len(np.unique(items.pair[given.listed])),
            by_system=tuple(
                BothBadOfSystem(name, _rate(given, mask))
                for code, name in enumerate(items.systems)
                if of_several and (mask := (items.system_1 == code) | (items.system_2 == code)).any()
            ),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Over all, and by setting."""
        assert isinstance(given, PairInput)
        items, judgments = given.items, given.group.judgments
        voted = judgments.where(judgments.vote != MISSING)
        arm = items.arm[voted.item]
        cells: list[tuple[str | None, Bools]] = [(None, np.ones(len(arm), dtype=bool))]
        cells += [(name, arm == code) for code, name in several(items.arm, items.arms)]
        for name, mask in cells:
            bad = (voted.vote[mask] == BOTH_BAD).astype(np.float64)
            query = items.query[voted.item[mask]]
            yield Quantity("Both bad", mean_sums(bad, query, unit="judgments", within=SHARE), name)

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Where both responses are bad, neither is preferred: win rates, strengths and position bias count such a "
            "vote as a tie, and agreement tells it from a vote that both are good."
        )


FIGURE = BothBadFigure()


def _rate(given: PairInput, items: Bools) -> Estimate:
    judgments = given.group.judgments
    here = items[judgments.item]
    query = given.items.query[judgments.item[here]]
    return tie_rate(judgments.vote[here], query, resample=given.resample("both bad"), tie=BOTH_BAD)


def _of_pair(view: PairView) -> Iterator[Block]:
    build = Builder(
        "Share of judgments that both responses are bad, in percent; of a system, among all comparisons with it.",
        columns(["Raters", "Of", "Both bad", "n"], names=2),
    )
    for group in view.groups:
        for name, rate, cell in _rows(view, BothBadFigure.of(group)) if BothBadFigure.is_in(group) else ():
            of = where.of(group, cell, system=getattr(cell, "system", None))
            share = where.answered(build.share(rate), rate, view.key, "both_bad")
            build.add(group_head(group), words(name), share, build.n(rate), of=of)
    if build.rows:
        yield Block("Both are bad", tables=(build.build(),))


def _rows(view: PairView, found: BothBadRates) -> Iterator[tuple[str, Estimate, object]]:
    """The name of each, its rate, and the record that names its setting or systems."""
    yield "all", found.overall, None
    yield from ((view.arm(each.arm), each.rate, each) for each in found.by_arm)
    yield from ((view.system(each.system), each.rate, each) for each in found.by_system)
    yield from ((view.pair(each), each.rate, each) for each in found.by_pair)

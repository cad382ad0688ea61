"""The share of ties, overall, by setting, category and split."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput, several
from analytics.figures.preferences.both_bad import BothBadFigure
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import SPLIT_NAMES, PairView, ReportView, group_head
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import MISSING, TIE, Bools
from analytics.statistics.leaderboards.scores import splits_of
from analytics.statistics.preferences.tie_rates import tie_rate
from evaluation.protocols import QuestionSpec, base

KEY = "preferences/tie_rates"


TiesBy = Literal["all", "arm", "category", "split"]


@dataclass(frozen=True)
class TieRate:
    """Share of ties, over all or in a part, which `name` names."""

    by: TiesBy
    name: str
    rate: Estimate


@dataclass(frozen=True)
class TieRates:
    rates: tuple[TieRate, ...]


class TieRatesFigure(Figure[TieRates]):
    heading = "win-rates"
    place = 30
    beside = ("preferences/both_bad",)
    definition = (
        "The share of judgments of a preference that are ties: overall, by setting, category and split."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS and question.ties

    def compute(self, given: FigureInput) -> TieRates:
        """HREF, section 2.1.2."""
        assert isinstance(given, PairInput)
        items = given.items
        cells: list[tuple[TiesBy, str, Bools | None]] = [("all", "", None)]
        cells += [("arm", name, items.arm == code) for code, name in several(items.arm, items.arms)]
        cells += [
            ("category", name, items.category == code)
            for code, name in several(items.category, items.categories)
        ]
        cells += [("split", name, mask) for name, mask in splits_of(items)]
        return TieRates(tuple(TieRate(by, name, _rate(given, mask)) for by, name, mask in cells))

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Over all, and by setting."""
        assert isinstance(given, PairInput)
        items, judgments = given.items, given.group.judgments
        labelled = judgments.where(judgments.label != MISSING)
        arm = items.arm[labelled.item]
        cells: list[tuple[str | None, Bools]] = [(None, np.ones(len(arm), dtype=bool))]
        cells += [(name, arm == code) for code, name in several(items.arm, items.arms)]
        for name, mask in cells:
            tied = (labelled.label[mask] == TIE).astype(np.float64)
            query = items.query[labelled.item[mask]]
            yield Quantity("Ties", mean_sums(tied, query, unit="judgments", within=SHARE), name)

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)


FIGURE = TieRatesFigure()


def _rate(given: PairInput, mask: Bools | None) -> Estimate:
    judgments, query = given.group.judgments, given.items.query
    label, item = judgments.label, judgments.item
    if mask is not None:
        inside = mask[item]
        label, item = label[inside], item[inside]
    return tie_rate(label, query[item], resample=given.resample("tie rates"))


def _of_pair(view: PairView) -> Iterator[Block]:
    build = Builder(
        "Share of judgments that are ties, in percent.", columns(["Raters", "Of", "Ties", "n"], names=2)
    )
    for group in view.groups:
        ties = (base.TIE, base.BOTH_BAD) if BothBadFigure.is_in(group) else (base.TIE,)
        for each in TieRatesFigure.of(group).rates if TieRatesFigure.is_in(group) else ():
            build.add(
                group_head(group),
                words(_name(view, each)),
                where.answered(build.share(each.rate), each.rate, view.key, *ties),
                build.n(each.rate),
                of=where.of_part(group, each.by, each.name),
            )
    if build.rows:
        yield Block("Ties", tables=(build.build(),), folded=True)


def _name(view: PairView, each: TieRate) -> str:
    names = {"arm": view.all_arms, "split": SPLIT_NAMES}.get(each.by, {})
    return "all" if each.by == "all" else names.get(each.name, each.name or "no category")

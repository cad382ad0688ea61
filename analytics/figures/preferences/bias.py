"""Position bias and length bias of a preference."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.numbers import corrected, percent, with_interval
from analytics.display.plots import DotPlot
from analytics.display.tables import P_COLUMNS, Builder, Table, columns, words
from analytics.figures import where
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import PairView, ReportView, group_head
from analytics.frames.pairs import UNKNOWN_LAYOUT, PairGroup
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import Bools
from analytics.statistics.preferences.bias import (
    LEAN,
    LengthBias,
    PositionBias,
    length_bias,
    longer_preferred,
    position_bias,
    shown_first_preferred,
)
from evaluation.forms.input.screen_record import LAYOUTS
from evaluation.protocols import QuestionSpec

# The layouts of a screen, and of judgments that don't say which one it was.
LAYOUT_NAMES = {
    "columns": "side by side",
    "stacked": "one below the other",
    "tabs": "in tabs, one at a time",
    "plain": "page without scripts",
    "": "not recorded",
}


@dataclass(frozen=True)
class LayoutBias:
    """Preferences for the response shown first by a layout of the screen, empty where none is recorded; untested."""

    layout: str
    share: Estimate
    bias: Estimate
    n_first: int
    n_second: int
    test: Tested | None


@dataclass(frozen=True)
class Biases:
    """Preferences for the response shown first, also by layout where judgments differ in it; those for the longer one
    less those for the shorter."""

    position: PositionBias
    layouts: tuple[LayoutBias, ...]
    length: LengthBias


class BiasFigure(Figure[Biases]):
    heading = "bias"
    place = 10
    finding_place = 40
    definition = (
        "Position bias (the share of preferences for the response shown first), also by screen layout, and "
        "length bias."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> Biases:
        assert isinstance(given, PairInput)
        readings, items = given.group.readings, given.items
        position = position_bias(
            readings.label,
            readings.first,
            items.query[readings.item],
            resample=given.resample("position bias"),
            tests=given.tests("position bias", 1),
        )
        by_layout = []
        for name, rows in _layouts(given.group):
            found = position_bias(
                readings.label[rows],
                readings.first[rows],
                items.query[readings.item[rows]],
                resample=given.resample(f"position bias {name}"),
                tests=None,
            )
            by_layout.append(LayoutBias(name, **vars(found)))
        length = length_bias(items, given.group.judgments, resample=given.resample("length bias"))
        return Biases(position, tuple(by_layout), length)

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The share of preferences for the response shown first, and length bias."""
        assert isinstance(given, PairInput)
        readings, items, judgments = given.group.readings, given.items, given.group.judgments
        first, used = shown_first_preferred(readings.label, readings.first)
        query = items.query[readings.item[used]]
        yield Quantity(
            "Prefer the response shown first", mean_sums(first, query, unit="judgments", within=SHARE)
        )
        lean, used = longer_preferred(items, judgments)
        query = items.query[judgments.item[used]]
        yield Quantity("Length bias", mean_sums(lean, query, unit="judgments", within=LEAN))

    def tests(self, record: Biases) -> Iterator[FamilyTest]:
        if record.position.test is not None:
            yield FamilyTest(CLAIMS, record.position.test)

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        position = self.of(group).position
        share = position.share
        if not is_supported(position.test):
            return
        which = "first" if share.known > 0.5 else "second"
        yield {
            "kind": "position_bias",
            "about": "Position",
            "heading": f"The response shown {which} is preferred",
            "text": f"Of {share.n:,} preferences with known order, {with_interval(share)} are for the response "
            f"shown first ({corrected(position.test)}).",
            "anchor": "bias",
        }

    def intro(self, view: ReportView) -> str:
        return "Computed from individual judgments. A response's length is its number of characters."

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(self._of_pair)

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        position = Builder(
            "Position: share of preferences for the response shown first, in percent; 50 is no bias. p: "
            "sign-flip test of 50 % over queries.",
            columns(["Raters", "First preferred", "n", *P_COLUMNS]),
        )
        length = Builder(
            "Length: share of judgments, ties included, that prefer the longer and the shorter of two responses "
            "of unequal length, and the difference, in percent.",
            columns(["Raters", "Longer", "Shorter", "Bias", "n"]),
        )
        for group in view.groups:
            found = self.of(group)
            share = found.position.share
            position.add(
                group_head(group),
                position.share(share),
                position.n(share),
                *position.tested(found.position.test, share.undefined),
                of=where.of(group),
            )
            of_length = found.length
            length.add(
                group_head(group),
                *(length.share(getattr(of_length, name)) for name in ("longer", "shorter", "bias")),
                length.n(of_length.bias),
                of=where.of(group),
            )
        by_layout = _layout_table(view.groups)
        tables = (position.build(), by_layout, length.build())
        yield Block(tables=tuple(table for table in tables if table), plot=_length_plot(view.groups))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Length bias is the share of judgments for the longer response minus the share for the shorter one, "
            "among all judgments of two responses of unequal length, ties included."
        )


def _length_plot(groups: list[GroupView]) -> DotPlot | None:
    """A row per group of raters, where there are several to compare (HREF Figure 7)."""
    if len(groups) < 2:
        return None
    return score_plot(
        [(group.label, [(group, BiasFigure.of(group).length.bias)]) for group in groups],
        what="Length bias",
        unit="points",
        caption="Share of judgments for the longer response less that for the shorter one, in points.",
        form=percent,
        hints=("shorter preferred", "longer preferred"),
    )


def _layouts(group: PairGroup) -> Iterator[tuple[str, Bools]]:
    """The readings of each layout, and those of which none is recorded; nothing unless there is more than one."""
    found = np.unique(group.layout)
    if len(found) > 1:
        for code in sorted(found, key=lambda code: (code == UNKNOWN_LAYOUT, code)):
            yield "" if code == UNKNOWN_LAYOUT else LAYOUTS[code], group.layout == code


def _layout_table(groups: Iterable[GroupView]) -> Table | None:
    table = Builder(
        "Position by layout: the same share by how the two responses were laid out on the screen, not tested.",
        columns(["Raters", "Layout", "First preferred", "n"]),
    )
    rows = [(group, each) for group in groups for each in BiasFigure.of(group).layouts]
    for group, each in rows:
        name = words(LAYOUT_NAMES[each.layout])
        table.add(group_head(group), name, table.share(each.share), table.n(each.share))
    return table.build() if rows else None


FIGURE = BiasFigure()

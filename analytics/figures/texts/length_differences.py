"""Differences of length between the two responses of a pair: mean, spread, quartiles and a histogram."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from analytics.display.blocks import Block
from analytics.display.histograms import Bar, histogram
from analytics.display.numbers import MINUS, percent
from analytics.display.plots import DotPlot, Mark, PlotRow, dot_plot
from analytics.display.tables import Builder, Table, TableCell, Where, columns, count, head, words
from analytics.figures import where
from analytics.figures.against_baseline import MOST_PAIRS, rows_of_pairs
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.report_view import ReportView
from analytics.statistics.core.bins import Bins, binned
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Ints
from analytics.statistics.judges.score_spread import score_spread
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.protocols import QuestionSpec

UNIT = "items"


@dataclass(frozen=True)
class LengthDifference:
    """The length of the system's responses less that of the opponent's, in one setting; all systems' where it is None.

    `longer` and `shorter` are the items whose response is longer, or shorter, than the opponent's.
    """

    system: str | None
    opponent: str
    arm: str
    mean: Estimate
    standard_deviation: float | None
    quartiles: tuple[float, float, float]
    histogram: Bins
    longer: int
    shorter: int


@dataclass(frozen=True)
class LengthDifferences:
    """In characters, of all items, whoever judged them; each pair of systems by itself where there is no baseline."""

    baseline: str | None
    cells: tuple[LengthDifference, ...]


class LengthDifferencesFigure(Figure[LengthDifferences]):
    heading = "texts"
    place = 12
    definition = (
        "The length of a response less that of the baseline's to the same query, in characters: mean, standard "
        "deviation, quartiles, a histogram, and how many are longer, by system and over all; without a baseline, of "
        "the two responses of each of up to 15 pairs of systems."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> LengthDifferences | None:
        """HREF Figure 2. Once for the study; None without a baseline among more than 15 pairs."""
        assert isinstance(given, PairInput)
        items = given.items
        against = given.terms.baseline in items.systems
        if not given.is_first or (not against and len(items.pairs) > MOST_PAIRS):
            return None
        cells = tuple(cell for arm in np.unique(items.arm).tolist() for cell in _of_arm(given, arm))
        return LengthDifferences(given.terms.baseline if against else None, cells) if cells else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for record in self.records(view):
            yield Block(
                "Differences of length",
                tables=(_table(view, record),),
                plot=_plot(view, record),
                anchor="length-differences",
            )
            yield from _histograms(view, record)


FIGURE = LengthDifferencesFigure()


def _of_arm(given: PairInput, arm: int) -> Iterator[LengthDifference]:
    """A cell per pair of systems, from the side of the one that is not the baseline, and one of all against it."""
    items, baseline = given.items, given.terms.baseline
    rows, turned = rows_of_pairs(items, arm, baseline)
    longer = (items.length_1 - items.length_2)[rows] * np.where(turned, -1, 1)
    pair = items.pair[rows]
    pairs = np.unique(pair).tolist()
    if baseline in items.systems and len(pairs) > 1:
        yield _cell(given, arm, (None, baseline), longer, rows)
    for code in pairs:
        at = np.flatnonzero(pair == code)
        one, two = items.pairs[code]
        system, opponent = (two, one) if turned[at[0]] else (one, two)
        yield _cell(given, arm, (system, opponent), longer[at], rows[at])


def _cell(
    given: PairInput, arm: int, systems: tuple[str | None, str], differences: Ints, rows: Ints
) -> LengthDifference:
    """The differences of these rows, of a system and its opponent."""
    spread = score_spread(
        differences.astype(np.float64),
        given.items.query[rows],
        resample=given.resample("differences of length"),
        unit=UNIT,
    )
    return LengthDifference(
        *systems,
        given.items.arms[arm],
        spread.mean,
        spread.standard_deviation,
        spread.quartiles,
        binned(differences.astype(np.float64), least=1.0),
        longer=int(np.count_nonzero(differences > 0)),
        shorter=int(np.count_nonzero(differences < 0)),
    )


def _less(view: ReportView, record: LengthDifferences) -> str:
    """The difference in words, in the middle of a sentence."""
    if record.baseline is None:
        return "the first response's length less the second's"
    return f"a response's length less that of {view.system(record.baseline)}"


def _name(view: ReportView, record: LengthDifferences, cell: LengthDifference) -> str:
    if cell.system is None:
        return "All"
    system = view.system(cell.system)
    return system if record.baseline else f"{system} vs {view.system(cell.opponent)}"


def _settings(view: ReportView, record: LengthDifferences) -> bool:
    return len({cell.arm for cell in record.cells}) > 1


def _table(view: ReportView, record: LengthDifferences) -> Table:
    settings = _settings(view, record)
    of = "System" if record.baseline else "Pair"
    build = Builder(
        f"Differences of length in characters, {_less(view, record)}: mean, standard deviation (SD) and quartiles; "
        "longer and shorter: share of the items, in percent.",
        columns(
            [
                of,
                *(["Setting"] if settings else []),
                "Mean",
                "SD",
                "25 %",
                "Median",
                "75 %",
                "Longer",
                "Shorter",
                "n",
            ],
            names=2 if settings else 1,
        ),
    )
    for cell in record.cells:
        n = cell.mean.n
        build.add(
            head(_name(view, record, cell)),
            *([words(view.arm(cell.arm))] if settings else []),
            build.figure(cell.mean, characters),
            build.number(cell.standard_deviation, characters, "A spread needs two items."),
            *(TableCell(characters(quartile)) for quartile in cell.quartiles),
            *(
                TableCell(percent(each / n), where=_longer(view, cell, *ends, n=each))
                for each, *ends in ((cell.longer, 1, None), (cell.shorter, None, 0))
            ),
            build.n(cell.mean),
            of=_compared(view, cell),
        )
    return build.build()


def _compared(view: ReportView, cell: LengthDifference) -> Where:
    """The items of the setting that compare the two systems, or any with the baseline."""
    if cell.system is None:
        return where.of_items(arm=cell.arm, system=cell.opponent)
    pair = view.pairs[0].listed_pair(cell.system, cell.opponent)
    return where.of_items(arm=cell.arm, pair=BETWEEN_SYSTEMS.join(pair))


def _longer(
    view: ReportView, cell: LengthDifference, low: float | None, high: float | None, *, n: int
) -> Where | None:
    """Those of them whose response is longer by so much."""
    if not n or low is high:
        return None
    own = where.longer(cell.opponent, low, high)
    return Where((*_compared(view, cell).pairs, own), "items", n)


def _plot(view: ReportView, record: LengthDifferences) -> DotPlot:
    settings = _settings(view, record)
    rows = []
    for cell in record.cells:
        low, median, high = cell.quartiles
        name = _name(view, record, cell)
        label = f"{name}, {view.arm(cell.arm)}" if settings else name
        rows.append(PlotRow(label, (Mark("person", "median", median, low, high, cell.mean.n),)))
    return dot_plot(
        rows,
        what="Differences of length",
        axis="Difference of length",
        unit="characters",
        caption=f"Differences of length, {_less(view, record)}: the dot is the median, the line runs from the first "
        "to the third quartile.",
        form=characters,
        reference=0.0,
        hints=("shorter", "longer"),
    )


def _histograms(view: ReportView, record: LengthDifferences) -> Iterator[Block]:
    """One for each setting, of everything that was compared in it: of all systems, or of the only pair."""
    for arm in dict.fromkeys(cell.arm for cell in record.cells):
        cells = [cell for cell in record.cells if cell.arm == arm]
        if len(cells) > 1 and cells[0].system is not None:
            continue
        setting = f", {view.arm(arm)}" if _settings(view, record) else ""
        bars = _bars(view, cells[0])
        caption = f"Number of items by {_less(view, record)}{setting}"
        yield Block(
            f"Distribution of the differences{setting}",
            plot=histogram(
                bars,
                what=f"Distribution of differences of length{setting}",
                axis="Difference of length",
                unit="characters",
                counted=("item", "items"),
                caption=f"{caption}. Equal lengths are right of the line; the outermost bars include all values beyond "
                "them.",
                form=characters,
                reference=0.0,
                hints=("shorter", "longer"),
            ),
        )
        build = Builder(
            f"{caption}, in characters, from one length up to, but not including, the next; the first and the last row "
            "include all values beyond them.",
            columns(["From", "To", "Items"]),
        )
        for bar in bars:
            n = replace(count(bar.n), where=bar.where)
            build.add(head(characters(bar.low)), TableCell(characters(bar.high)), n)
        yield Block(f"Numbers of the distribution{setting}", tables=(build.build(),), folded=True)


def _bars(view: ReportView, cell: LengthDifference) -> list[Bar]:
    """The outermost with all beyond them."""
    edges, counts = cell.histogram.edges, cell.histogram.counts
    return [
        Bar(*edge, n, _longer(view, cell, *end, n=n))
        for edge, end, n in zip(pairwise(edges), pairwise((None, *edges[1:-1], None)), counts, strict=True)
    ]


def characters(value: float) -> str:
    """A number of characters, or a difference of them."""
    return f"{round(value):,}".replace("-", MINUS)

"""Measures of responses by system in every setting: mean and spread, quartiles, shares in bands, and histograms."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import PlottedRaters, mean_plot, score_plot
from analytics.display.histograms import Bar, histograms
from analytics.display.numbers import decimal, score, to_places
from analytics.display.plots import DotPlot
from analytics.display.tables import DASH, Builder, Table, TableCell, Where, columns, count, head, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput
from analytics.figures.measured import ENTRIES, OF_ENTRIES, is_first, systems_of, unit_of
from analytics.figures.needs import StudyMeasures
from analytics.figures.report_view import ReportView
from analytics.frames.measures import MeasureValues
from analytics.statistics.core.bins import binned, in_bins
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.judges.score_spread import SAME_SCORE, score_spread
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import PREFIX, Subject

# CondAmbigQA, section 5.4.
BORDERS = (0.2, 0.35, 0.5)
MOST_BINS = 20
# More systems are shown in one histogram.
MOST_HISTOGRAMS = 8
ALL = "All systems"
BANDS = ("Below 0.20", "0.20 to 0.35", "0.35 to 0.50", "0.50 and above")


@dataclass(frozen=True)
class SpreadCell:
    """The responses of one system in one setting, or their entries.

    `bands` are shares below the first border, up to the next, and so on, none where the measure is not from 0 to 1;
    `counts` those from each edge up to the next, the outermost bins having all beyond, too.
    """

    arm: str
    system: str
    mean: Estimate
    standard_deviation: float | None
    quartiles: tuple[float, float, float]
    bands: tuple[Estimate, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class MeasureSpread:
    """A measure, by the judge that gives it, the ends of its range, None where it has none, and the edges of the bins
    of its histograms. `of_readings` if each of its numbers is one that the judge gave, rather than the mean of several
    readings or over follow-up questions."""

    measure: str
    label: str
    judge: str
    rater: str
    of_readings: bool
    within: tuple[float, float] | None
    edges: tuple[float, ...]
    cells: tuple[SpreadCell, ...]


@dataclass(frozen=True)
class MeasureSpreads:
    """Measures, with the borders between the bands of scores."""

    borders: tuple[float, ...]
    measures: tuple[MeasureSpread, ...]


class MeasureSpreadFigure(Figure[MeasureSpreads]):
    needs = (StudyMeasures,)
    heading = "measures"
    place = 30
    definition = (
        "Every measure of responses (of follow-up questions of responses, their mean) or of their entries by system "
        "and setting: mean, standard deviation, quartiles and a histogram; of measures from 0 to 1 also the shares "
        "below 0.20, to 0.35, to 0.50, and above."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> MeasureSpreads | None:
        """CondAmbigQA Table 2 and Figures 2 to 6; ContextEval's Table 13 by system and setting."""
        if given.people is not None or not is_first(given):
            return None
        found = [_record(given, each) for each in self.need(given, StudyMeasures).values]
        measures = tuple(each for each in found if each.cells)
        return MeasureSpreads(tuple(BORDERS), measures) if measures else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        found = {
            (each.rater, each.measure): each for record in self.records(view) for each in record.measures
        }
        measures = list(found.values())
        if not measures:
            return
        yield Block("Means and spread of measures", tables=(_means(view, measures),), anchor="measure-spread")
        for each in measures:
            yield Block(plot=_plot(view, each))
        tables = [_quartiles(view, measures)]
        banded = [each for each in measures if each.cells[0].bands]
        tables += [_banded(view, banded)] if banded else []
        yield Block("Quartiles and bands of measures", tables=tuple(tables), folded=True)
        for each in measures:
            yield from _distributions(view, each, several=_are_of_several(measures))


FIGURE = MeasureSpreadFigure()


def band_of(score: float) -> str:
    """The band that a score lies in; one on a border belongs to the higher band."""
    return BANDS[int(np.searchsorted(np.asarray(BORDERS) - SAME_SCORE, score, side="right"))]


def _record(given: FigureInput, measured: MeasureValues) -> MeasureSpread:
    systems, keys, query, arm, arms = systems_of(given)
    measure, (item, response, numbers) = measured.measure, measured.of_responses(*systems.shape)
    system = systems[item, response]
    within = None if measure.low is None or measure.high is None else (measure.low, measure.high)
    # What differs by rounding only lies in the same bin.
    rounded = np.round(numbers, 9)
    known = rounded[system >= 0]
    whole = 1.0 if (known % 1 == 0).all() else 0.0
    edges = binned(known, least=whole, most=MOST_BINS).edges if len(known) else ()
    cells = []
    for at, arm_key in enumerate(arms):
        for code, key in enumerate(keys):
            here = (system == code) & (arm[item] == at)
            if here.any():
                counts = in_bins(rounded[here], edges).counts
                spread = score_spread(
                    numbers[here],
                    query[item[here]],
                    borders=BORDERS if within == (0, 1) else (),
                    within=within,
                    resample=given.resample(f"spread {measure.name} of {measured.rater}, {arm_key} {key}"),
                    unit=unit_of(measured),
                )
                cells.append(SpreadCell(arm_key, key, **vars(spread), counts=counts))
    return MeasureSpread(
        measure.name,
        measure.title,
        measured.label,
        measured.rater,
        measured.is_read_once and measure.subject != Subject.FOLLOW_UP_RESPONSE,
        within,
        tuple(edges),
        tuple(cells),
    )


def _rows(measures: Sequence[MeasureSpread]) -> list[tuple[str, str]]:
    """(arm, system) of all cells, setting by setting."""
    return list(dict.fromkeys((cell.arm, cell.system) for each in measures for cell in each.cells))


def _name(view: ReportView, arm: str, system: str) -> list[TableCell]:
    setting = [head(view.arm(arm))] if len(view.all_arms) > 1 else []
    return [*setting, words(view.system(system)) if setting else head(view.system(system))]


def _names(view: ReportView) -> list[str]:
    return ["Setting", "System"] if len(view.all_arms) > 1 else ["System"]


def _are_of_several(measures: Sequence[MeasureSpread]) -> bool:
    return len({each.rater for each in measures if each.label}) > 1


def _label(measure: MeasureSpread, *, several: bool) -> str:
    """The measure's name, with the judge's where several judges give measures."""
    return f"{measure.label} ({measure.judge})" if several else str(measure.label)


def _of_entries(measures: Sequence[MeasureSpread]) -> str:
    return OF_ENTRIES if any(map(_is_of_entries, measures)) else ""


def _is_of_entries(measure: MeasureSpread) -> bool:
    return bool(measure.cells[0].mean.unit == ENTRIES)


def _means(view: ReportView, measures: Sequence[MeasureSpread]) -> Table:
    """A row per setting and system, a column per measure: its mean over its standard deviation."""
    several = _are_of_several(measures)
    labels = [_label(each, several=several) for each in measures]
    names, remark = _names(view), _of_entries(measures)
    build = Builder(
        f"Mean of each measure over a system's responses{remark}, with the standard deviation of the responses"
        f"{' or entries' if remark else ''} below it.",
        columns([*names, *labels], names=len(names)),
    )
    cells = [{(cell.arm, cell.system): cell for cell in each.cells} for each in measures]
    for arm, system in _rows(measures):
        build.add(*_name(view, arm, system), *(_mean_cell(of.get((arm, system))) for of in cells))
    return build.build()


def _mean_cell(cell: SpreadCell | None) -> TableCell:
    if cell is None:
        return TableCell(DASH)
    spread = cell.standard_deviation
    return TableCell(score(cell.mean.known), "" if spread is None else f"SD {score(spread)}")


def _quartiles(view: ReportView, measures: Sequence[MeasureSpread]) -> Table:
    names = _names(view)
    build = Builder(
        "Mean with its interval over queries, standard deviation, and quartiles of the responses"
        f"{_of_entries(measures)}.",
        columns(
            ["Measure", "By", *names, "Mean", "SD", "Lower", "Median", "Upper", "n"], names=2 + len(names)
        ),
    )
    for each in measures:
        for cell in each.cells:
            spread = cell.standard_deviation
            build.add(
                head(each.label),
                words(each.judge),
                *(words(name.text) for name in _name(view, cell.arm, cell.system)),
                build.coefficient(cell.mean),
                TableCell(DASH if spread is None else decimal(spread)),
                *(TableCell(decimal(quartile)) for quartile in cell.quartiles),
                build.n(cell.mean),
            )
    return build.build()


def _banded(view: ReportView, measures: Sequence[MeasureSpread]) -> Table:
    names = _names(view)
    build = Builder(
        f"Share of responses{_of_entries(measures)} by the band that their score lies in, in percent.",
        columns(["Measure", "By", *names, *BANDS, "n"], names=2 + len(names)),
        foot="A score on a border belongs to the higher band.",
    )
    for each in measures:
        for cell in each.cells:
            build.add(
                head(each.label),
                words(each.judge),
                *(words(name.text) for name in _name(view, cell.arm, cell.system)),
                *(
                    replace(
                        build.share(share),
                        where=_within(
                            each, cell.arm, cell.system, *ends, n=round((share.value or 0) * share.n)
                        ),
                    )
                    for ends, share in zip(pairwise((None, *BORDERS, None)), cell.bands, strict=True)
                ),
                build.n(cell.bands[0]),
            )
    return build.build()


def _plot(view: ReportView, measure: MeasureSpread) -> DotPlot | None:
    judge = PlottedRaters("judge", measure.judge)
    rows = [
        (
            ", ".join(name.text for name in reversed(_name(view, cell.arm, cell.system))),
            [(judge, cell.mean)],
        )
        for cell in measure.cells
    ]
    what, caption = f"{measure.label} by system", f"{measure.label}, mean by system."
    if measure.within is None:
        return score_plot(rows, what=what, axis=measure.label, caption=caption)
    low, high = measure.within
    return mean_plot(rows, what=what, axis=measure.label, caption=caption, within=(low, high))


def _distributions(view: ReportView, measure: MeasureSpread, *, several: bool) -> Iterator[Block]:
    """A block for each setting: a histogram of every system, or of all together where they are many."""
    edges, label = measure.edges, _label(measure, several=several)
    form = to_places(max(0, math.ceil(-math.log10(edges[1] - edges[0]) - 1e-9)))
    for arm in dict.fromkeys(cell.arm for cell in measure.cells):
        cells = [cell for cell in measure.cells if cell.arm == arm]
        found = [
            (view.system(cell.system), _bars(measure, cell.arm, cell.system, cell.counts)) for cell in cells
        ]
        if len(cells) > MOST_HISTOGRAMS:
            counts = np.sum([cell.counts for cell in cells], axis=0).tolist()
            found = [(ALL, _bars(measure, arm, None, counts))]
        setting = f", {view.arm(arm)}" if len(view.all_arms) > 1 else ""
        counted = ("entry", "entries") if _is_of_entries(measure) else ("response", "responses")
        caption = f"Number of {counted[1]} by {label}{setting}"
        plot = histograms(
            found,
            what=f"Distribution of {label}{setting}",
            axis=measure.label,
            counted=counted,
            caption=f"{caption}. The outermost bars include all values beyond them.",
            form=form,
        )
        build = Builder(
            f"{caption}, from one value up to, but not including, the next; the first and the last row include all "
            "values beyond them.",
            columns(["From", "To", *(name for name, _ in found)]),
        )
        for at, (low, high) in enumerate(pairwise(edges)):
            numbers = (replace(count(bars[at].n), where=bars[at].where) for _, bars in found)
            build.add(head(form(low)), TableCell(form(high)), *numbers)
        yield Block(f"Distribution of {label}{setting}", tables=(build.build(),), plot=plot, folded=True)


def _bars(measure: MeasureSpread, arm: str, system: str | None, counts: Sequence[int]) -> list[Bar]:
    """The bars of a system in a setting, the outermost with all beyond them."""
    edges = measure.edges
    return [
        Bar(*edge, n, _within(measure, arm, system, *end, n=n))
        for edge, end, n in zip(pairwise(edges), pairwise((None, *edges[1:-1], None)), counts, strict=True)
    ]


def _within(
    measure: MeasureSpread, arm: str, system: str | None, low: float | None, high: float | None, *, n: int
) -> Where | None:
    """The items of the setting whose response of the system, or of any, has such a number, or an entry with one."""
    if not measure.of_readings or not n or low is high:
        return None
    answers = PREFIX + measure.measure + ("" if system is None else f"@{system}")
    pairs = where.within(answers, low, high)
    is_of_items = system is not None and not _is_of_entries(measure)
    return Where(
        (("rater", measure.rater), ("arm", arm), pairs, where.COUNTING),
        "items" if is_of_items else "",
        n if is_of_items else 0,
    )

"""Measures of responses by system: their mean with its interval, their spread, and how many there are."""

from collections.abc import Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import DASH, Builder, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput
from analytics.figures.measured import ENTRIES, OF_ENTRIES, is_first, systems_of, unit_of
from analytics.figures.needs import StudyMeasures
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import ReportView
from analytics.frames.measures import MeasureValues
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.core.tidy import Ints
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class MeasureOfSystem:
    """The mean of a measure of a system's responses, and its standard deviation, None of a single number."""

    system: str
    mean: Estimate
    standard_deviation: float | None


@dataclass(frozen=True)
class MeasureBySystem:
    """A measure, by the judge that gives it; its better end is higher, lower or neither."""

    measure: str
    label: str
    judge: str
    rater: str
    direction: str
    by_system: tuple[MeasureOfSystem, ...]


@dataclass(frozen=True)
class MeasureMeans:
    """Measures of responses by system; the same beside every question, so that they stand with one of them."""

    measures: tuple[MeasureBySystem, ...]


class MeasureMeansFigure(Figure[MeasureMeans]):
    needs = (StudyMeasures,)
    heading = "measures"
    place = 20
    definition = (
        "Every measure of responses or their entries by system: mean with its interval over queries, standard "
        "deviation, and number of values; shown once with people, or with each judge where there are no people."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> MeasureMeans | None:
        # What a measure says of systems is the same beside every question and every group.
        if given.people is not None or not is_first(given):
            return None
        systems, keys, query, *_ = systems_of(given)
        found = [
            _record(given, each, systems, keys, query) for each in self.need(given, StudyMeasures).values
        ]
        measures = tuple(each for each in found if each.by_system)
        return MeasureMeans(measures) if measures else None

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Each measure's mean by system."""
        if given.people is not None or not is_first(given):
            return
        systems, keys, query, *_ = systems_of(given)
        for measured in self.need(given, StudyMeasures).values:
            item, response, numbers = measured.of_responses(*systems.shape)
            for code, key in enumerate(keys):
                own = systems[item, response] == code
                if own.any():
                    sums = mean_sums(numbers[own], query[item[own]], unit=unit_of(measured))
                    yield Quantity(f"{measured.measure.title}, by {measured.label}", sums, systems=(key,))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        rows = [row for record in self.records(view) for each in record.measures for row in each.by_system]
        of_entries = any(row.mean.unit == ENTRIES for row in rows)
        build = Builder(
            f"Mean of each measure over a system's responses{OF_ENTRIES if of_entries else ''}, in every item that "
            "shows one; intervals are computed over queries.",
            columns(["Measure", "By", "System", "Mean", "Standard deviation", "n"], names=3),
        )
        seen = set()
        for record in self.records(view):
            for each in record.measures:
                if (each.rater, each.measure) in seen:
                    continue
                seen.add((each.rater, each.measure))
                for row in each.by_system:
                    spread = row.standard_deviation
                    build.add(
                        head(each.label),
                        words(each.judge),
                        words(view.system(row.system)),
                        build.coefficient(row.mean),
                        TableCell(DASH if spread is None else decimal(spread)),
                        build.n(row.mean),
                    )
        if build.rows:
            yield Block("Measures by system", tables=(build.build(),), anchor="measure-means")


FIGURE = MeasureMeansFigure()


def _record(
    given: FigureInput, measured: MeasureValues, systems: Ints, keys: tuple[str, ...], query: Ints
) -> MeasureBySystem:
    item, response, numbers = measured.of_responses(*systems.shape)
    rows = []
    for code, key in enumerate(keys):
        own = systems[item, response] == code
        values = numbers[own]
        if not len(values):
            continue
        mean = mean_estimate(
            values,
            query[item[own]],
            unit=unit_of(measured),
            resample=given.resample(f"mean {measured.measure.name} of {measured.rater}, {key}"),
            empty="The system has no value of this measure.",
        )
        spread = float(values.std(ddof=1)) if len(values) > 1 else None
        rows.append(MeasureOfSystem(key, mean, spread))
    return MeasureBySystem(
        measured.measure.name,
        measured.measure.title,
        measured.label,
        measured.rater,
        measured.measure.direction,
        tuple(rows),
    )

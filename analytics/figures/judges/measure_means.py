"""Measures of responses by system: their mean with its interval, their spread, and how many there are."""

from collections.abc import Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import DASH, Builder, TableCell, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import AnswerInput, FigureInput, MeasuresInput, PairInput
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import ReportView
from analytics.frames.measures import MeasureValues
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.core.tidy import Ints, Items
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import Subject

UNIT = "responses of items"
ENTRIES = "entries of responses"
# A remark for a table that holds measures of entries.
OF_ENTRIES = " (of measures of entries, over their entries)"


class MeasureMeansFigure(Figure):
    heading = "measures"
    place = 20
    definition = (
        "Every measure of responses or their entries by system: mean with its interval over queries, standard "
        "deviation, and number of values; shown once with people, or with each judge where there are no people."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> Record | None:
        # What a measure says of systems is the same beside every question and every group.
        if given.people is not None or not is_first(given):
            return None
        systems, keys, query, *_ = systems_of(given)
        found = [_record(given, each, systems, keys, query) for each in given.measures]
        measures = [each for each in found if each["by_system"]]
        return {"measures": measures} if measures else None

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Each measure's mean by system."""
        if given.people is not None or not is_first(given):
            return
        systems, keys, query, *_ = systems_of(given)
        for measured in given.measures:
            item, response, numbers = measured.of_responses(*systems.shape)
            for code, key in enumerate(keys):
                own = systems[item, response] == code
                if own.any():
                    sums = mean_sums(numbers[own], query[item[own]], unit=unit_of(measured))
                    yield Quantity(f"{measured.measure.title}, by {measured.label}", sums, systems=(key,))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        rows = [
            row
            for record in view.records_of(self.key)
            for each in record["measures"]
            for row in each["by_system"]
        ]
        of_entries = any(row["mean"]["unit"] == ENTRIES for row in rows)
        build = Builder(
            f"Mean of each measure over a system's responses{OF_ENTRIES if of_entries else ''}, in every item that "
            "shows one; intervals are computed over queries.",
            columns(["Measure", "By", "System", "Mean", "Standard deviation", "n"], names=3),
        )
        seen = set()
        for record in view.records_of(self.key):
            for each in record["measures"]:
                if (each["rater"], each["measure"]) in seen:
                    continue
                seen.add((each["rater"], each["measure"]))
                for row in each["by_system"]:
                    spread = row["standard_deviation"]
                    build.add(
                        head(each["label"]),
                        words(each["judge"]),
                        words(view.system(row["system"])),
                        build.coefficient(row["mean"]),
                        TableCell(DASH if spread is None else decimal(spread)),
                        build.n(row["mean"]),
                    )
        if build.rows:
            yield Block("Measures by system", tables=(build.build(),), anchor="measure-means")


FIGURE = MeasureMeansFigure()


def is_first(given: FigureInput) -> bool:
    """True of preferences, and of the first of other questions."""
    return not isinstance(given, AnswerInput) or given.frame.questions[0].key == given.question.key


def unit_of(measured: MeasureValues) -> str:
    """The things that its numbers of a system are of, in the plural."""
    return ENTRIES if measured.measure.subject == Subject.ENTRY else UNIT


def systems_of(given: FigureInput) -> tuple[Ints, tuple[str, ...], Ints, Ints, tuple[str, ...]]:
    """The system of each response of an item (n_items, m), negative for none, the systems' keys, and the items' queries
    and arms with the arms' keys."""
    assert isinstance(given, PairInput | AnswerInput | MeasuresInput)
    items = given.items
    systems = np.stack([items.system_1, items.system_2], axis=1) if isinstance(items, Items) else items.system
    return systems, items.systems, items.query, items.arm, items.arms


def _record(
    given: FigureInput, measured: MeasureValues, systems: Ints, keys: tuple[str, ...], query: Ints
) -> Record:
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
        rows.append({"system": key, "mean": plain(mean), "standard_deviation": spread})
    return {
        "measure": measured.measure.name,
        "label": measured.measure.title,
        "judge": measured.label,
        "rater": measured.rater,
        "direction": measured.measure.direction,
        "by_system": rows,
    }

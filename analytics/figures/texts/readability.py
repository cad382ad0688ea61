"""Length and readability of the systems' texts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput
from analytics.figures.report_view import ReportView
from analytics.figures.variance.between_groups import (
    ETA,
    GroupsAnalysis,
    groups_analysis,
    without_differences,
)
from analytics.frames.texts import StudyTexts
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.core.tidy import Floats
from analytics.statistics.texts.readability import measure_text
from analytics.statistics.variance.between_groups import between_groups
from evaluation.protocols import QuestionSpec

UNIT = "texts"
CAUTION = (
    "Every text is taken for an independent one. Texts for one query are not: where queries differ, p-values of this "
    "analysis don't hold and are not shown, and its intervals are no better."
)
TextNumber = Literal["words", "characters", "ease", "grade"]
LABELS: dict[TextNumber, str] = {
    "words": "Words",
    "characters": "Characters",
    "ease": "Reading ease",
    "grade": "Grade",
}
ENGLISH_ONLY = ("ease", "grade")


@dataclass(frozen=True)
class TextMean:
    """The mean of a measure of a system's texts, and its standard deviation."""

    system: str
    mean: Estimate
    standard_deviation: float | None


@dataclass(frozen=True)
class TextMeasure:
    """A measure of texts by system, and its analysis of variance between systems: None for a single one."""

    measure: TextNumber
    by_system: tuple[TextMean, ...]
    between: GroupsAnalysis | None


@dataclass(frozen=True)
class TextsMeasured:
    """Measures of the texts of the `drawn` ones of the `queries` that have texts."""

    queries: int
    drawn: int
    measures: tuple[TextMeasure, ...]


class ReadabilityFigure(Figure[TextsMeasured]):
    needs = (StudyTexts,)
    heading = "texts"
    place = 10
    definition = (
        "Length in words and characters of the systems' texts and, of English ones, Flesch's reading ease and "
        "Kincaid's grade: means by system, with an analysis of variance and Tukey's test that take texts for "
        "independent ones."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> TextsMeasured | None:
        """AGENT-CQ Table 5, and the lengths of answers in section 4.3."""
        if not given.is_first:
            return None
        texts = self.need(given, StudyTexts)
        if not texts.texts:
            return None
        numbers = _numbers(texts)
        measures = (_of_measure(given, texts, name, values) for name, values in numbers.items())
        return TextsMeasured(texts.queries, texts.drawn, tuple(measures))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for record in self.records(view):
            tables = [_means(view, record)]
            if any(each.between for each in record.measures):
                tables += [each for each in (_analyses(record), _differences(view, record)) if each.rows]
            yield Block("Length and readability", tables=(tables[0],), anchor="readability")
            if tables[1:]:
                yield Block(
                    "Analysis of variance of texts", (CAUTION,), tables=tuple(tables[1:]), folded=True
                )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Texts are each counted once. Reading ease and grade are Flesch's and Kincaid's, with syllables counted by "
            "rules of English spelling."
        )


FIGURE = ReadabilityFigure()


def _numbers(texts: StudyTexts) -> dict[TextNumber, Floats]:
    """Each measure of every text (n,), nan where it has none."""
    measured = [measure_text(text) for text in texts.texts]
    names = [name for name in LABELS if texts.english or name not in ENGLISH_ONLY]
    return {name: np.array([getattr(each, name) for each in measured], dtype=np.float64) for name in names}


def _of_measure(given: FigureInput, texts: StudyTexts, name: TextNumber, values: Floats) -> TextMeasure:
    known = np.isfinite(values)
    rows = []
    for code, key in enumerate(texts.systems):
        used = known & (texts.system == code)
        if not used.any():
            continue
        mean = mean_estimate(
            values[used],
            texts.query[used],
            unit=UNIT,
            resample=given.resample(f"{name} of texts, {key}"),
            empty="The system has no text with words.",
        )
        spread = float(values[used].std(ddof=1)) if used.sum() > 1 else None
        rows.append(TextMean(key, mean, spread))
    between = None
    if len(rows) > 1:
        found = between_groups(
            values[known], texts.system[known], level=given.resample("texts").level, unit=UNIT
        )
        between = groups_analysis(found, texts.systems)
    return TextMeasure(name, tuple(rows), between)


def _means(view: ReportView, record: TextsMeasured) -> Table:
    measures = record.measures
    drawn = f"{record.drawn:,} of {record.queries:,} queries, drawn at random."
    build = Builder(
        "Mean length of the systems' texts and, of English ones, Flesch's reading ease (higher is easier) and "
        "Kincaid's grade (years of school), with standard deviations (SD).",
        columns(["System", *(name for each in measures for name in (LABELS[each.measure], "SD")), "n"]),
        foot=drawn if record.drawn < record.queries else "",
    )
    rows: dict[str, dict[str, TextMean]] = {}
    for each in measures:
        for row in each.by_system:
            rows.setdefault(row.system, {})[each.measure] = row
    for system, found in rows.items():
        build.add(
            head(view.systems.get(system, system)),
            *(cell for each in measures for cell in _cells(build, found.get(each.measure))),
            build.n(found[measures[0].measure].mean),
        )
    return build.build()


def _cells(build: Builder, row: TextMean | None) -> tuple[TableCell, TableCell]:
    """The mean, and the standard deviation."""
    if row is None:
        return TableCell(DASH), TableCell(DASH)
    spread = row.standard_deviation
    return build.coefficient(row.mean), TableCell(DASH if spread is None else decimal(spread))


def _analysed(record: TextsMeasured) -> list[tuple[str, GroupsAnalysis]]:
    return [(LABELS[each.measure], each.between) for each in record.measures if each.between]


def _analyses(record: TextsMeasured) -> Table:
    build = Builder(
        f"One-way analysis of variance of the systems' texts; {ETA} is the share of the sum of squares that lies "
        "between systems.",
        columns(["Measure", "F", "Degrees of freedom", ETA, "n"]),
        foot=without_differences(found for _, found in _analysed(record)),
    )
    for label, found in _analysed(record):
        degrees = f"{found.df_between}, {found.df_within:,}" if found.f is not None else ""
        build.add(
            head(label),
            build.number(found.f, decimal, found.undefined),
            TableCell(degrees),
            build.number(found.eta_squared, decimal, found.undefined),
            build.n(found),
        )
    return build.build()


def _differences(view: ReportView, record: TextsMeasured) -> Table:
    build = Builder(
        "Tukey's honestly significant differences: the second system's mean less the first's, with simultaneous "
        "intervals.",
        columns(["Measure", "System", "and", "Difference"], names=3),
    )
    for label, found in _analysed(record):
        for pair in found.pairs:
            build.add(
                head(label),
                words(view.systems.get(pair.system_1, pair.system_1)),
                words(view.systems.get(pair.system_2, pair.system_2)),
                build.coefficient(pair.difference),
            )
    return build.build()

"""Measures in several settings of the same systems, compared query by query."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput
from analytics.figures.measured import is_first, systems_of
from analytics.figures.needs import StudyMeasures
from analytics.figures.report_view import ReportView
from analytics.figures.setting_cells import (
    METHODS,
    SettingDifference,
    SystemSettings,
    setting_differences,
    setting_table,
    setting_tests,
)
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class MeasureInSettings:
    """A measure, by the judge that gives it, and its differences."""

    measure: str
    label: str
    judge: str
    rater: str
    cells: tuple[SettingDifference, ...]


@dataclass(frozen=True)
class MeasuresInSettings:
    """Measures of responses by setting; the same beside every question, so that they stand with one of them."""

    measures: tuple[MeasureInSettings, ...]


class MeasureSettingsFigure(Figure[MeasuresInSettings]):
    needs = (StudyMeasures, SystemSettings)
    heading = "measures"
    place = 25
    definition = (
        "Of systems that stand in several settings: the difference of every measure between every two settings, over "
        "all systems and in each, and between every two systems, over all settings and in each, paired by query, with "
        "a test."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def is_of(self, given: FigureInput) -> bool:
        compared = self.need(given, SystemSettings).are_compared
        return compared and given.people is None and is_first(given)

    def compute(self, given: FigureInput) -> MeasuresInSettings | None:
        """CondAmbigQA section 5.3 and Figure 5. None where no measured text stands in a setting."""
        systems, keys, query, *_ = systems_of(given)
        found = []
        for measured in self.need(given, StudyMeasures).values:
            item, response, numbers = measured.of_responses(*systems.shape)
            cells = setting_differences(
                given,
                self.need(given, SystemSettings),
                numbers,
                query[item],
                systems[item, response],
                keys,
                purpose=f"settings {measured.measure.name} of {measured.rater}",
            )
            if cells:
                about = (measured.measure.name, measured.measure.title, measured.label, measured.rater)
                found.append(MeasureInSettings(*about, cells))
        return MeasuresInSettings(tuple(found)) if found else None

    def tests(self, record: MeasuresInSettings) -> Iterable[FamilyTest]:
        return (test for each in record.measures for test in setting_tests(each.cells))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        seen: dict[tuple[str, str], tuple[str, Sequence[SettingDifference]]] = {}
        for record in self.records(view):
            for each in record.measures:
                name = f"{each.label}, by {each.judge}"
                seen.setdefault((each.rater, each.measure), (name, each.cells))
        table = setting_table(
            "Means of measures in two settings, or of two systems, on the queries that have both, and the second's "
            "less the first's, with a sign-flip test over queries.",
            seen.values(),
        )
        if table.rows:
            yield Block("Measures by setting and system", tables=(table.build(),))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield METHODS


FIGURE = MeasureSettingsFigure()

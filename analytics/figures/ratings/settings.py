"""Ratings in several settings of the same systems, compared query by query."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.figures.setting_cells import (
    METHODS,
    SettingDifference,
    SystemSettings,
    setting_differences,
    setting_table,
    setting_tests,
)
from evaluation.protocols import Kind, Over, QuestionSpec


@dataclass(frozen=True)
class RatedSettings:
    """Differences of ratings between settings of the same systems, and between systems in the same settings."""

    cells: tuple[SettingDifference, ...]


class RatedSettingsFigure(Figure[RatedSettings]):
    needs = (SystemSettings,)
    heading = "ratings"
    place = 30
    definition = (
        "Of systems that stand in several settings: the difference of ratings between every two settings, over all "
        "systems and in each, and between every two systems, over all settings and in each, paired by query, with a "
        "test."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE and question.over in (Over.RESPONSE, Over.ITEM)

    def is_of(self, given: FigureInput) -> bool:
        return self.need(given, SystemSettings).are_compared

    def compute(self, given: FigureInput) -> RatedSettings | None:
        """CondAmbigQA section 5.3. None where no text stands in a setting."""
        assert isinstance(given, AnswerInput)
        values = given.values
        cells = setting_differences(
            given,
            self.need(given, SystemSettings),
            values.value,
            values.query,
            values.system,
            given.items.systems,
            purpose="settings",
        )
        return RatedSettings(cells) if cells else None

    def tests(self, record: RatedSettings) -> Iterable[FamilyTest]:
        return setting_tests(record.cells)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for group in view.groups:
            named = [
                (question.prompt, self.of(records).cells)
                for question, records in view.answered(view.asked(self.key), group)
            ]
            table = setting_table(
                "Mean ratings in two settings, or of two systems, on the queries that have both, and the second's "
                "less the first's, with a sign-flip test over queries.",
                named,
            )
            if table.rows:
                yield Block(
                    view.title_for(group, "Settings and systems"), tables=(table.build(),), tag=tag_of(group)
                )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield METHODS


FIGURE = RatedSettingsFigure()

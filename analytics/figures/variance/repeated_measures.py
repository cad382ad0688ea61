"""The analysis of variance of systems measured repeatedly on the same queries."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.figures.variance.between_groups import named_systems
from analytics.statistics.core.estimates import plain
from analytics.statistics.variance.repeated_measures import repeated_measures
from evaluation.protocols import Kind, Over, QuestionSpec

EPSILON = "\N{GREEK SMALL LETTER EPSILON}"
PARTIAL_ETA = "Partial \N{GREEK SMALL LETTER ETA}\N{SUPERSCRIPT TWO}"


class RepeatedMeasuresFigure(Figure):
    heading = "ratings"
    place = 40
    deferred_as = "analysis of variance within queries"
    definition = (
        "Analysis of variance of systems' means on the same queries (repeated measures, corrected after Greenhouse and "
        "Geisser) over the queries that have every system, with Holm-corrected paired comparisons."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE and question.over != Over.VALUE

    def compute(self, given: FigureInput) -> Record | None:
        """None where only one system was rated."""
        assert isinstance(given, AnswerInput)
        values, level = given.values, given.resample("anova").level
        found = plain(repeated_measures(values.value, values.system, values.query, level=level))
        return named_systems(found, given.frame.items.systems) if len(found["systems"]) > 1 else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for group in view.groups:
            analyses, differences = self._analyses(view, group), self._differences(view, group)
            if analyses.rows:
                yield Block(
                    view.title_for(group, "Systems on the same queries"),
                    tables=(analyses, differences) if differences.rows else (analyses,),
                    folded=True,
                    tag=tag_of(group),
                )

    def _analyses(self, view: ReportView, group: Record) -> Table:
        build = Builder(
            "Analysis of variance of repeated measures: each system's mean on each query that has every system. p is "
            f"after the correction of Greenhouse and Geisser, whose {EPSILON} both degrees of freedom are multiplied "
            "by; n is the number of queries.",
            columns(["Question", "F", "Degrees of freedom", EPSILON, "p", PARTIAL_ETA, "n"]),
        )
        for question, records in view.answered(view.asked(self.key), group):
            found = records[self.key]
            reason = found["undefined"]
            degrees = f"{found['df_systems']}, {found['df_error']:,}" if not reason else ""
            build.add(
                head(question["prompt"]),
                build.number(found["f"], decimal, reason),
                TableCell(degrees),
                build.number(found["epsilon"], decimal, reason),
                build.p(found["p_value"], reason),
                build.number(found["partial_eta_squared"], decimal, reason),
                build.n(found),
            )
        return build.build()

    def _differences(self, view: ReportView, group: Record) -> Table:
        build = Builder(
            "Paired comparisons on these queries: the second system's mean less the first's with its interval, and p "
            "of the paired t-test, also corrected (Holm) over the question's pairs.",
            columns(["Question", "System", "and", "Difference", "p", "Corrected p"], names=3),
        )
        for question, records in view.answered(view.asked(self.key), group):
            for pair in records[self.key]["pairs"]:
                build.add(
                    head(question["prompt"]),
                    words(view.system(pair["system_1"])),
                    words(view.system(pair["system_2"])),
                    build.coefficient(pair["difference"]),
                    build.p(pair["p_value"], pair["difference"]["undefined"]),
                    build.p(pair["p_corrected"], pair["difference"]["undefined"]),
                )
        return build.build()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The analysis of variance of repeated measures takes a system's mean rating on a query for one measure, "
            "over the queries that have every system; its degrees of freedom are corrected after Greenhouse and "
            "Geisser, and two systems are compared by a paired t-test, corrected by Holm's method within the question."
        )


FIGURE = RepeatedMeasuresFigure()

"""The analysis of variance of systems measured repeatedly on the same queries."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import D_OF_PAIRS, Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView
from analytics.figures.report_view import ReportView, tag_of
from analytics.figures.variance.between_groups import difference_estimate
from analytics.statistics.core.estimates import Estimate, LeftOut
from analytics.statistics.variance.repeated_measures import repeated_measures
from evaluation.protocols import Kind, Over, QuestionSpec

EPSILON = "\N{GREEK SMALL LETTER EPSILON}"
PARTIAL_ETA = "Partial \N{GREEK SMALL LETTER ETA}\N{SUPERSCRIPT TWO}"


@dataclass(frozen=True)
class MeanOfSystem:
    """The mean of a system, None where there is nothing to average."""

    system: str
    mean: float | None


@dataclass(frozen=True)
class PairedSystems:
    """Two systems: the second's mean less the first's, the p-value of the paired t-test, before and after Holm's
    correction over the question's pairs, and the `effect`, Cohen's d of paired measures."""

    system_1: str
    system_2: str
    difference: Estimate
    p_value: float | None
    p_corrected: float | None
    effect: Estimate


@dataclass(frozen=True)
class RepeatedAnalysis:
    """An analysis over the `n` queries that have every system; `undefined` says why there is none.

    `epsilon` is that of Greenhouse and Geisser, by which `p_value` is corrected for a lack of sphericity.
    """

    systems: tuple[MeanOfSystem, ...]
    n: int
    f: float | None
    df_systems: int | None
    df_error: int | None
    epsilon: float | None
    p_value: float | None
    p_uncorrected: float | None
    partial_eta_squared: float | None
    level: float
    pairs: tuple[PairedSystems, ...]
    left_out: tuple[LeftOut, ...]
    undefined: str


class RepeatedMeasuresFigure(Figure[RepeatedAnalysis]):
    heading = "ratings"
    place = 40
    deferred_as = "analysis of variance within queries"
    definition = (
        "Analysis of variance of systems' means on the same queries (repeated measures, corrected after Greenhouse and "
        "Geisser) over the queries that have every system, with Holm-corrected paired comparisons."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE and question.over != Over.VALUE

    def compute(self, given: FigureInput) -> RepeatedAnalysis | None:
        """None where only one system was rated."""
        assert isinstance(given, AnswerInput)
        values, level = given.values, given.resample("anova").level
        found = repeated_measures(values.value, values.system, values.query, level=level)
        if len(found.systems) < 2:
            return None
        systems = given.frame.items.systems
        means = found.means or (None,) * len(found.systems)
        named = {
            "systems": tuple(
                MeanOfSystem(systems[code], mean) for code, mean in zip(found.systems, means, strict=True)
            ),
            "pairs": tuple(
                PairedSystems(
                    systems[pair.system_1],
                    systems[pair.system_2],
                    difference_estimate(
                        pair.difference, pair.low, pair.high, found.n, found.level, pair.undefined
                    ),
                    pair.p_value,
                    pair.p_corrected,
                    pair.effect,
                )
                for pair in found.pairs
            ),
        }
        return RepeatedAnalysis(
            **({name: each for name, each in vars(found).items() if name != "means"} | named)
        )

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

    def _analyses(self, view: ReportView, group: GroupView) -> Table:
        build = Builder(
            "Analysis of variance of repeated measures: each system's mean on each query that has every system. p is "
            f"after the correction of Greenhouse and Geisser, whose {EPSILON} both degrees of freedom are multiplied "
            "by; n is the number of queries.",
            columns(["Question", "F", "Degrees of freedom", EPSILON, "p", PARTIAL_ETA, "n"]),
        )
        for question, records in view.answered(view.asked(self.key), group):
            found = self.of(records)
            reason = found.undefined
            degrees = f"{found.df_systems}, {found.df_error:,}" if not reason else ""
            build.add(
                head(question.prompt),
                build.number(found.f, decimal, reason),
                TableCell(degrees),
                build.number(found.epsilon, decimal, reason),
                build.p(found.p_value, reason),
                build.number(found.partial_eta_squared, decimal, reason),
                build.n(found),
            )
        return build.build()

    def _differences(self, view: ReportView, group: GroupView) -> Table:
        build = Builder(
            "Paired comparisons on these queries: the second system's mean less the first's with its interval, and p "
            "of the paired t-test, also corrected (Holm) over the question's pairs. "
            f"{D_OF_PAIRS}",
            columns(["Question", "System", "and", "Difference", "d", "p", "Corrected p"], names=3),
        )
        for question, records in view.answered(view.asked(self.key), group):
            for pair in self.of(records).pairs:
                build.add(
                    head(question.prompt),
                    words(view.system(pair.system_1)),
                    words(view.system(pair.system_2)),
                    build.coefficient(pair.difference),
                    build.coefficient(pair.effect),
                    build.p(pair.p_value, pair.difference.undefined),
                    build.p(pair.p_corrected, pair.difference.undefined),
                )
        return build.build()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The analysis of variance of repeated measures takes a system's mean rating on a query for one measure, "
            "over the queries that have every system; its degrees of freedom are corrected after Greenhouse and "
            "Geisser, and two systems are compared by a paired t-test, corrected by Holm's method within the question."
        )


FIGURE = RepeatedMeasuresFigure()

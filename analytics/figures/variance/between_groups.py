"""The analysis of variance between systems as papers report it: every rating taken for an independent one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.core.estimates import Estimate, LeftOut
from analytics.statistics.variance.between_groups import MOST_COMPARED, BetweenGroups, between_groups
from evaluation.protocols import Kind, Over, QuestionSpec

ETA = "\N{GREEK SMALL LETTER ETA}\N{SUPERSCRIPT TWO}"
UNIT, METHOD = "values", "of the analysis of variance"
CAUTION = (
    "This is the analysis of the AGENT-CQ paper (section 4.2), shown for comparison with it. Every rating is taken for "
    "an independent one. Ratings of one text, and of texts for one query, are not: where queries differ, p-values of "
    "this analysis don't hold and are not shown, and its intervals are no better; \N{LEFT DOUBLE QUOTATION MARK}"
    "Systems on the same queries\N{RIGHT DOUBLE QUOTATION MARK} (repeated measures) allows for that."
)


@dataclass(frozen=True)
class AnalysedSystem:
    """A system, the mean of its `n` ratings, None where there is nothing to average."""

    system: str
    mean: float | None
    n: int


@dataclass(frozen=True)
class AnalysedPair:
    """Two systems: the second's mean less the first's, and the p-value of Tukey's test."""

    system_1: str
    system_2: str
    difference: Estimate
    p_value: float


@dataclass(frozen=True)
class GroupsAnalysis:
    """An analysis of variance of `n` ratings between systems; `undefined` says why there is none.

    `eta_squared` is the share of the sum of squares between systems, `level` that of the intervals.
    """

    systems: tuple[AnalysedSystem, ...]
    n: int
    f: float | None
    df_between: int | None
    df_within: int | None
    p_value: float | None
    eta_squared: float | None
    level: float
    pairs: tuple[AnalysedPair, ...]
    left_out: tuple[LeftOut, ...]
    undefined: str


class BetweenGroupsFigure(Figure[GroupsAnalysis]):
    heading = "ratings"
    place = 50
    deferred_as = "analysis of variance between systems"
    definition = (
        "AGENT-CQ's one-way analysis of variance of ratings between systems with Tukey's honestly significant "
        "differences; it takes dependent ratings for independent ones, and is labelled so."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE and question.over != Over.VALUE

    def compute(self, given: FigureInput) -> GroupsAnalysis | None:
        """AGENT-CQ section 4.2. None where only one system was rated."""
        assert isinstance(given, AnswerInput)
        values = given.values
        found = between_groups(values.value, values.system, level=given.resample("anova").level)
        return groups_analysis(found, given.frame.items.systems) if len(found.systems) > 1 else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for group in view.groups:
            analyses, differences = self._analyses(view, group), self._differences(view, group)
            if analyses.rows:
                yield Block(
                    view.title_for(group, "Analysis of variance between systems"),
                    (CAUTION,),
                    tables=(analyses, differences) if differences.rows else (analyses,),
                    folded=True,
                    tag=tag_of(group),
                )

    def _analyses(self, view: ReportView, group: GroupView) -> Table:
        build = Builder(
            f"One-way analysis of variance of the ratings by system, as in AGENT-CQ; {ETA} is the share of the sum of "
            "squares that lies between systems.",
            columns(["Question", "F", "Degrees of freedom", ETA, "n"]),
            foot=without_differences(
                self.of(records) for _, records in view.answered(view.asked(self.key), group)
            ),
        )
        for question, records in view.answered(view.asked(self.key), group):
            found = self.of(records)
            degrees = f"{found.df_between}, {found.df_within:,}" if found.f is not None else ""
            build.add(
                head(question.prompt),
                build.number(found.f, decimal, found.undefined),
                TableCell(degrees),
                build.number(found.eta_squared, decimal, found.undefined),
                build.n(found),
            )
        return build.build()

    def _differences(self, view: ReportView, group: GroupView) -> Table:
        build = Builder(
            "Tukey's honestly significant differences, as in AGENT-CQ: the second system's mean less the first's, with "
            "simultaneous intervals.",
            columns(["Question", "System", "and", "Difference"], names=3),
        )
        for question, records in view.answered(view.asked(self.key), group):
            for pair in self.of(records).pairs:
                build.add(
                    head(question.prompt),
                    words(view.system(pair.system_1)),
                    words(view.system(pair.system_2)),
                    build.coefficient(pair.difference),
                )
        return build.build()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The one-way analysis of variance between systems and Tukey's test, the AGENT-CQ paper's analysis, take "
            "all ratings for independent ones; no conclusion is drawn from them."
        )


FIGURE = BetweenGroupsFigure()


def without_differences(analyses: Iterable[GroupsAnalysis]) -> str:
    """A foot for a table of analyses, of which some have no Tukey's test."""
    most = max((len(each.systems) for each in analyses), default=0)
    return (
        "" if most <= MOST_COMPARED else f"Tukey's test compares up to {MOST_COMPARED} systems, not {most:,}."
    )


def groups_analysis(found: BetweenGroups, systems: tuple[str, ...]) -> GroupsAnalysis:
    """With the keys of the systems instead of their codes."""
    means = found.means or (None,) * len(found.systems)
    named = {
        "systems": tuple(
            AnalysedSystem(systems[code], mean, n)
            for code, mean, n in zip(found.systems, means, found.counts, strict=True)
        ),
        "pairs": tuple(
            AnalysedPair(
                systems[pair.system_1],
                systems[pair.system_2],
                difference_estimate(pair.difference, pair.low, pair.high, found.n, found.level),
                pair.p_value,
            )
            for pair in found.pairs
        ),
    }
    rest = {name: each for name, each in vars(found).items() if name not in ("means", "counts")}
    return GroupsAnalysis(**(rest | named))


def difference_estimate(
    value: float, low: float | None, high: float | None, n: int, level: float, undefined: str = ""
) -> Estimate:
    return Estimate(value, low, high, n, UNIT, level, METHOD, (), undefined)

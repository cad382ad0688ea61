"""The analysis of variance between systems as papers report it: every rating taken for an independent one."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.core.estimates import Estimate, plain
from analytics.statistics.variance.between_groups import MOST_COMPARED, between_groups
from evaluation.protocols import Kind, Over, QuestionSpec

ETA = "\N{GREEK SMALL LETTER ETA}\N{SUPERSCRIPT TWO}"
UNIT, METHOD = "values", "of the analysis of variance"
CAUTION = (
    "This is the analysis of the AGENT-CQ paper (section 4.2), shown for comparison with it. Every rating is taken for "
    "an independent one. Ratings of one text, and of texts for one query, are not: where queries differ, p-values of "
    "this analysis don't hold and are not shown, and its intervals are no better; \N{LEFT DOUBLE QUOTATION MARK}"
    "Systems on the same queries\N{RIGHT DOUBLE QUOTATION MARK} (repeated measures) allows for that."
)


class BetweenGroupsFigure(Figure):
    heading = "ratings"
    place = 50
    deferred_as = "analysis of variance between systems"
    definition = (
        "AGENT-CQ's one-way analysis of variance of ratings between systems with Tukey's honestly significant "
        "differences; it takes dependent ratings for independent ones, and is labelled so."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE and question.over != Over.VALUE

    def compute(self, given: FigureInput) -> Record | None:
        """AGENT-CQ section 4.2. None where only one system was rated."""
        assert isinstance(given, AnswerInput)
        values = given.values
        found = plain(between_groups(values.value, values.system, level=given.resample("anova").level))
        return named_systems(found, given.frame.items.systems) if len(found["systems"]) > 1 else None

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

    def _analyses(self, view: ReportView, group: Record) -> Table:
        build = Builder(
            f"One-way analysis of variance of the ratings by system, as in AGENT-CQ; {ETA} is the share of the sum of "
            "squares that lies between systems.",
            columns(["Question", "F", "Degrees of freedom", ETA, "n"]),
            foot=without_differences(
                records[self.key] for _, records in view.answered(view.asked(self.key), group)
            ),
        )
        for question, records in view.answered(view.asked(self.key), group):
            found = records[self.key]
            degrees = f"{found['df_between']}, {found['df_within']:,}" if found["f"] is not None else ""
            build.add(
                head(question["prompt"]),
                build.number(found["f"], decimal, found["undefined"]),
                TableCell(degrees),
                build.number(found["eta_squared"], decimal, found["undefined"]),
                build.n(found),
            )
        return build.build()

    def _differences(self, view: ReportView, group: Record) -> Table:
        build = Builder(
            "Tukey's honestly significant differences, as in AGENT-CQ: the second system's mean less the first's, with "
            "simultaneous intervals.",
            columns(["Question", "System", "and", "Difference"], names=3),
        )
        for question, records in view.answered(view.asked(self.key), group):
            for pair in records[self.key]["pairs"]:
                build.add(
                    head(question["prompt"]),
                    words(view.system(pair["system_1"])),
                    words(view.system(pair["system_2"])),
                    build.coefficient(pair["difference"]),
                )
        return build.build()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The one-way analysis of variance between systems and Tukey's test, the AGENT-CQ paper's analysis, take "
            "all ratings for independent ones; no conclusion is drawn from them."
        )


FIGURE = BetweenGroupsFigure()


def without_differences(analyses: Iterable[Record]) -> str:
    """A foot for a table of analyses, of which some have no Tukey's test."""
    most = max((len(each["systems"]) for each in analyses), default=0)
    return (
        "" if most <= MOST_COMPARED else f"Tukey's test compares up to {MOST_COMPARED} systems, not {most:,}."
    )


def named_systems(found: Record, systems: tuple[str, ...]) -> Record:
    """An analysis as plain numbers, with the keys of its systems instead of their codes."""
    own = [systems[code] for code in found["systems"]]
    by_system = [
        {"system": key, "mean": mean, **({"n": n} if n is not None else {})}
        for key, mean, n in zip(
            own, found.pop("means") or [None] * len(own), found.pop("counts", [None] * len(own)), strict=True
        )
    ]
    pairs = [_pair(found, pair, systems) for pair in found["pairs"]]
    return {**found, "systems": by_system, "pairs": pairs}


def _pair(found: Record, pair: Record, systems: tuple[str, ...]) -> Record:
    """Two systems with their difference as an estimate, whatever else is known of them beside it."""
    reason = pair.get("undefined", "")
    difference = Estimate(
        pair["difference"], pair["low"], pair["high"], found["n"], UNIT, found["level"], METHOD, (), reason
    )
    rest = {name: each for name, each in pair.items() if name not in ("low", "high", "undefined")}
    names = {name: systems[pair[name]] for name in ("system_1", "system_2")}
    return {**rest, **names, "difference": difference.as_dict()}

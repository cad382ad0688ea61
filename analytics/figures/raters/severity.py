"""The severity of each person: their ratings less those of the others on the same texts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.raters.severity import severities
from evaluation.protocols import Kind, QuestionSpec

# Of people, those with the most ratings that others rated too; a study may have thousands.
MOST_LISTED = 50


@dataclass(frozen=True)
class RaterSeverity:
    """A rater, by pseudonym, and the difference from the others: above 0 is lenient, below 0 severe."""

    rater: str
    difference: Estimate


@dataclass(frozen=True)
class Severities:
    """At most 50 raters, those with the most ratings, of so many `people`; the most severe first."""

    raters: tuple[RaterSeverity, ...]
    people: int


class SeverityFigure(Figure):
    record_type = Severities
    heading = "raters"
    place = 94
    deferred_as = "severity of raters"
    definition = (
        "The severity of each person: the mean of their ratings less the others' on the same texts, with an interval "
        "over queries; the 50 with the most ratings, the most severe first."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE

    def is_of(self, given: FigureInput) -> bool:
        return given.is_of_people and given.has_several_raters

    def compute(self, given: FigureInput) -> Severities | None:
        """None where no two people rated the same."""
        assert isinstance(given, AnswerInput)
        found = [
            each
            for each in severities(given.values, unit=given.unit, resample=given.resample("severity"))
            if each.difference.value is not None
        ]
        names = given.group.raters
        most = sorted(found, key=lambda each: (-each.difference.n, names[each.rater]))[:MOST_LISTED]
        listed = sorted(most, key=lambda each: (each.difference.value or 0.0, names[each.rater]))
        if not listed:
            return None
        return Severities(
            tuple(RaterSeverity(names[each.rater], each.difference) for each in listed), len(found)
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            for group in (each for each in question["groups"] if self.key in each):
                found = group[self.key]
                listed = len(found["raters"])
                build = Builder(
                    f"{question['prompt']}: each person's ratings less the mean of the others' on the same texts; "
                    "above 0 is lenient, below 0 severe.",
                    columns(["Rater", "Difference", "n"]),
                    foot=f"The {listed} people with the most ratings, of {found['people']:,}."
                    if listed < found["people"]
                    else "",
                )
                for each in found["raters"]:
                    build.add(
                        head(view.raters.get(each["rater"], each["rater"])),
                        build.coefficient(each["difference"]),
                        build.n(each["difference"]),
                        of=where.of_rater(each["rater"]),
                    )
                of = "" if group["kind"] == group["key"] else f", {group['label']}"
                yield Block(
                    f"Severity of raters: {question['prompt']}{of}",
                    tables=(build.build(compact=True),),
                    folded=True,
                )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A person's severity is the mean of their ratings less the mean of the others' of the same text, so that "
            "harder texts are not taken for severity; intervals are over queries and not corrected for the number of "
            "people."
        )


FIGURE = SeverityFigure()

"""The severity of each rater: a person's ratings less the others' on the same texts, a judge's less people's."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head
from analytics.figures import where
from analytics.figures.beside_people import is_share
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.replacement.differences import DifferencesFigure
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.raters.severity import severities
from evaluation.protocols import Kind, QuestionSpec

# Of people, those with the most ratings that others rated too; a study may have thousands.
MOST_LISTED = 50
# Of a judge its mean less people's on what both judged is its severity; of ratings the first cell is of all of them.
JUDGED = "replacement/differences"


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


class SeverityFigure(Figure[Severities]):
    heading = "raters"
    place = 94
    deferred_as = "severity of raters"
    # Judges beside people stand in its table.
    beside = (JUDGED,)
    definition = (
        "The severity of each person: the mean of their ratings, or share of yes, less the others' on the same texts, "
        "with an interval over queries; the 50 with the most ratings, the most severe first, and below them judges "
        "beside people."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind in (Kind.SCALE, Kind.CHECKLIST)

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
        judged = {question.key: question.groups for question in view.asked(JUDGED)}
        for question in view.asked(self.key):
            for group in (each for each in question.groups if self.is_in(each)):
                found = self.of(group)
                listed, share = len(found.raters), is_share(question)
                judges = judged.get(question.key, ())
                what, sides = (
                    (
                        "share of yes less the others', in points,",
                        "above 0 says yes more often, below 0 less often.",
                    )
                    if share
                    else ("ratings less the mean of the others'", "above 0 is lenient, below 0 severe.")
                )
                build = Builder(
                    f"{question.prompt}: each person's {what} on the same texts; {sides}"
                    f"{' Judges: less people on what both judged.' if judges else ''}",
                    columns(["Rater", "Difference", "n"]),
                    foot=f"The {listed} people with the most ratings, of {found.people:,}."
                    if listed < found.people
                    else "",
                )
                write = build.share if share else build.coefficient
                for each in found.raters:
                    build.add(
                        head(view.raters.get(each.rater, each.rater)),
                        write(each.difference),
                        build.n(each.difference),
                        of=where.of_rater(each.rater),
                    )
                for judge in judges:
                    overall = DifferencesFigure.of(judge).cells[0].difference
                    build.add(
                        head(judge.label, tag=tag_of(judge)),
                        write(overall),
                        build.n(overall),
                        of=where.named(judge.where),
                    )
                of = "" if group.kind == group.key else f", {group.label}"
                yield Block(
                    f"Severity of raters: {question.prompt}{of}",
                    tables=(build.build(compact=True),),
                    folded=True,
                )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A person's severity is the mean of their ratings less the mean of the others' of the same text, a judge's "
            "that less people's, so that harder texts are not taken for severity; intervals are over queries and not "
            "corrected for the number of people."
        )


FIGURE = SeverityFigure()

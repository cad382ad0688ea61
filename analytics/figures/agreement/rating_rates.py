"""Rates of equal ratings: by all raters, by more than half, and by two at random."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, points_of
from analytics.figures.report_view import ReportView, group_head
from analytics.statistics.agreement.rating_rates import RatingRates, rating_rates
from evaluation.protocols import Kind, QuestionSpec

RATES = {"all_same": "All", "majority": "More than half", "two_raters": "Two raters"}


class RatingRatesFigure(Figure[RatingRates]):
    heading = "agreement"
    place = 65
    deferred_as = "agreement rates of scales"
    definition = (
        "Agreement rates of scales: the share of what was rated that all raters, or more than half, rate "
        "alike, and the chance that two raters do."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE

    def is_of(self, given: FigureInput) -> bool:
        return given.has_several_raters

    def compute(self, given: FigureInput) -> RatingRates:
        """LFQA Table 3."""
        assert isinstance(given, AnswerInput)
        return rating_rates(
            given.values,
            points=points_of(given.question),
            resample=given.resample("rating rates"),
            unit=given.unit,
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        shown = [label for each in RATES.values() for label in (each, "By chance")]
        build = Builder(
            "Share of what was rated that all raters, or more than half of them, rate alike, and the "
            "chance that two of its raters do, in percent; by chance: had every rating been drawn from all ratings.",
            columns(["Raters", "Question", *shown, "n"], names=2),
        )
        for group in view.groups_of_several:
            for question, records in view.answered(view.asked(self.key), group):
                found = self.of(records)
                chance = found.by_chance or dict.fromkeys(RATES)
                build.add(
                    group_head(group),
                    words(question.prompt),
                    *(
                        cell
                        for rate in RATES
                        for cell in build.beside_chance(getattr(found, rate), getattr(chance, rate))
                    ),
                    build.n(found.all_same),
                )
        if build.rows:
            yield Block("Agreement rates of ratings", tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield "Agreement rates of ratings are of what two or more rated, each weighing the same."


FIGURE = RatingRatesFigure()

"""Judges beside people by their numbers: error, difference and correlations of means."""

from collections.abc import Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.tables import Builder, Table, columns, head
from analytics.figures.beside_people import TITLE
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import ReportView, group_head, group_words
from analytics.frames.entries import SIZE
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import pearson_sums
from analytics.statistics.core.values import unit_means
from analytics.statistics.entries.entry_sets import SETS
from analytics.statistics.judges.ratings_vs_people import Compared, compare_means
from evaluation.protocols import Kind, QuestionSpec

KEY = "judges/ratings_vs_people"


class RatingsVsPeopleFigure(Figure[Compared]):
    heading = "judges"
    place = 20
    deferred_as = "ratings of judges beside people"
    definition = (
        "Judges' numbers vs people's means: absolute error, difference, and correlations; for sets of entries, "
        "their sizes."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in ("rated", "entries")

    def is_of(self, given: FigureInput) -> bool:
        assert isinstance(given, AnswerInput)
        return given.people is not None

    def compute(self, given: FigureInput) -> Compared:
        assert isinstance(given, AnswerInput)
        people = given.people
        assert people is not None
        if given.form == "entries":
            sizes = [each.of_sets(SIZE).values for each in (people, given)]
            return compare_means(*sizes, resample=given.resample("compared sizes"), unit=SETS)
        return compare_means(
            people.values,
            given.values,
            resample=given.resample("compared"),
            within=given.ends,
            unit=given.unit,
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Pearson's r of the group's means with people's; yes and no are compared as labels."""
        people = given.people
        if people is None or given.form == "entries" or given.question.kind == Kind.CHECKLIST:
            return
        assert isinstance(given, AnswerInput)
        assert isinstance(people, AnswerInput)
        one, other = unit_means(people.values), unit_means(given.values)
        _, at_one, at_other = np.intersect1d(one.unit, other.unit, assume_unique=True, return_indices=True)
        sums = pearson_sums(one.mean[at_one], other.mean[at_other], one.query[at_one], unit=given.unit)
        yield Quantity("Pearson's correlation with people", sums)

    def title(self, view: ReportView) -> str:
        return TITLE

    def intro(self, view: ReportView) -> str:
        return "Judges' answers are compared with people's, on what both answered."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        yield from _ratings(view)
        for question in view.judged:
            compared = [group for group in question.groups if RatingsVsPeopleFigure.is_in(group)]
            if question.form == "entries" and compared:
                yield Block("Set sizes vs people", tables=(_sizes(compared),))


FIGURE = RatingsVsPeopleFigure()


def _ratings(view: ReportView) -> Iterator[Block]:
    build = Builder(
        "A judge's mean rating compared with people's, on what both rated: absolute error, difference (judge "
        "minus people), and correlations.",
        columns(["Question", "Raters", "Error", "Difference", "Spearman", "Pearson", "n"], names=2),
    )
    rows: dict[str, list[tuple[GroupView, Estimate]]] = {}
    for question in view.judged:
        # Yes and no are compared as labels.
        if question.kind == "checklist":
            continue
        for group in (each for each in question.groups if RatingsVsPeopleFigure.is_in(each)):
            found = RatingsVsPeopleFigure.of(group)
            build.add(
                head(question.prompt),
                group_words(group),
                *(
                    build.coefficient(getattr(found, name))
                    for name in ("error", "difference", "spearman", "pearson")
                ),
                build.n(found.error),
            )
            rows.setdefault(question.prompt, []).append((group, found.spearman))
    if build.rows:
        plot = score_plot(
            rows.items(),
            what="Spearman's correlation with people",
            caption="Spearman's correlation with people.",
        )
        yield Block("Ratings vs people", tables=(build.build(),), plot=plot)


def _sizes(compared: list[GroupView]) -> Table:
    build = Builder(
        "Entries per set compared with people's mean for the same item: mean difference, mean absolute error, "
        "and Spearman's correlation.",
        columns(["Raters", "Difference", "Error", "Correlation", "n"]),
    )
    for group in compared:
        found = RatingsVsPeopleFigure.of(group)
        build.add(
            group_head(group),
            build.coefficient(found.difference),
            build.coefficient(found.error),
            build.coefficient(found.spearman),
            build.n(found.error),
        )
    return build.build()

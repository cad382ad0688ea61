"""Gwet's AC1 of every question that is answered with labels."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import percent
from analytics.display.tables import Builder, Column, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import PAIRS, AnswerInput, FigureInput, PairInput, level_of, points_of
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.agreement.gwet_ac1 import gwet_ac1
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.values import value_counts
from evaluation.protocols import QuestionSpec

AC1 = "Gwet's AC\N{SUBSCRIPT ONE}"


class GwetAC1Figure(Figure):
    heading = "agreement"
    place = 40
    definition = (
        "Gwet's AC1 of preferences, choices, checklists and tags, with observed and chance agreement."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or (form in ("rated", "choice") and level_of(question) == "nominal")

    def compute(self, given: FigureInput) -> Record:
        resample = given.resample("gwet_ac1")
        if isinstance(given, PairInput):
            # Without ties the third label can't be given.
            counts = given.counts if given.question.ties else given.counts[:, :2]
            return dict(plain(gwet_ac1(counts, given.items.query, resample=resample)))
        assert isinstance(given, AnswerInput)
        table = value_counts(given.values, level="nominal", points=points_of(given.question))
        return dict(plain(gwet_ac1(table.counts, table.query, resample=resample, unit=given.unit)))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = view.asked(self.key)
        several = len(questions) > 1
        names = columns(["Raters", *(["Question"] if several else [])], names=1 + several)
        build = Builder(
            f"{AC1}, with the observed agreement of two raters and their agreement by chance, in percent.",
            [*names, Column(AC1), Column("Agreement"), Column("By chance"), Column("n")],
            foot=f"Where nearly all answers are the same, {AC1} stays close to the observed agreement and alpha does "
            "not.",
        )
        for group in view.panels:
            for question, found in view.answered(questions, group):
                record = found[self.key]
                build.add(
                    head(group["label"], tag=tag_of(group)),
                    *([words(question["prompt"])] if several else []),
                    build.coefficient(record["ac1"]),
                    build.number(record["agreement"], percent),
                    build.number(record["by_chance"], percent),
                    build.n(record["ac1"]),
                )
        yield Block(AC1, tables=(build.build(),))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Gwet's AC1 is computed over all labels that a question offers; units that only one rater rated "
            "count towards agreement by chance only."
        )


FIGURE = GwetAC1Figure()

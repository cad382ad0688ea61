"""Intraclass correlations of every question that is rated on a scale."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import Builder, Table, columns, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, level_of
from analytics.figures.report_view import ReportView, group_head
from analytics.statistics.agreement.icc import IntraclassCorrelations, intraclass_correlations
from evaluation.protocols import QuestionSpec

MODELS = {"one_way": "ICC(1)", "agreement": "ICC(2)", "consistency": "ICC(3)"}


class ICCFigure(Figure[IntraclassCorrelations]):
    heading = "agreement"
    place = 60
    deferred_as = "intraclass correlations"
    definition = (
        "Intraclass correlations of ratings: ICC(1), ICC(2) and ICC(3) of one rater, and of the mean of all "
        "of them."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and level_of(question) != "nominal"

    def is_of(self, given: FigureInput) -> bool:
        return given.has_several_raters

    def compute(self, given: FigureInput) -> IntraclassCorrelations:
        """AGENT-CQ Table 1."""
        assert isinstance(given, AnswerInput)
        return intraclass_correlations(given.values, resample=given.resample("icc"), unit=given.unit)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        one = self._table(
            view,
            "one",
            "Intraclass correlation of one rater: how far one rating stands for what others would give.",
        )
        mean = self._table(view, "mean", "Intraclass correlation of the mean of a unit's ratings.")
        if one.rows:
            yield Block("Intraclass correlations", tables=(one, mean), folded=True)

    def _table(self, view: ReportView, of: str, caption: str) -> Table:
        labels = ["Raters", "Question", *(MODELS[model] for model in MODELS)]
        if of == "mean":
            labels = ["Raters", "Question", *(label for name in MODELS.values() for label in (name, "of"))]
        build = Builder(
            caption, columns(labels if of == "mean" else [*labels, "n", "n, rated by all"], names=2)
        )
        for group in view.groups_of_several:
            for question, records in view.answered(view.asked(self.key), group):
                found = self.of(records)
                cells = []
                for model in MODELS:
                    cells.append(build.coefficient(getattr(getattr(found, model), of)))
                    if of == "mean":
                        raters = (
                            getattr(found, model).raters
                            if getattr(getattr(found, model), of).is_defined
                            else None
                        )
                        cells.append(build.number(raters, decimal_or_whole))
                if of == "one":
                    cells += [build.n(found.one_way.one), build.n(found.consistency.one)]
                build.add(group_head(group), words(question.prompt), *cells)
        return build.build()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Intraclass correlations are those of Shrout and Fleiss: ICC(1) of all that two or more rated, ICC(2) and "
            "ICC(3) of what all raters of the group rated. Those of a mean follow from those of one rater by the "
            "formula of Spearman and Brown."
        )


def decimal_or_whole(number: float) -> str:
    return f"{number:,.0f}" if number == round(number) else decimal(number)


FIGURE = ICCFigure()

"""Kendall's W of rankings, and tau-b between two raters."""

from collections.abc import Iterable, Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import DASH, Builder, TableCell, caution, columns, interval, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import ReportView, group_head, tag_of
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.rankings.concordance import Concordance, concordance, item_concordance
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec

W = "Kendall's W"
TAU = "\N{GREEK SMALL LETTER TAU}-b"


class ConcordanceFigure(Figure[Concordance]):
    heading = "agreement"
    place = 30
    definition = (
        "Kendall's W of rankings, overall and by number of responses ranked, and the mean tau-b between two "
        "raters."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "ranking"

    def compute(self, given: FigureInput) -> Concordance:
        assert isinstance(given, AnswerInput)
        return concordance(given.answers.as_ranks(), resample=given.resample("concordance"))

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Both agreements, averaged over items."""
        assert isinstance(given, AnswerInput)
        found = item_concordance(given.answers.as_ranks())
        for name, of_items, within in ((W, found.w, SHARE), (f"Mean {TAU} of two raters", found.tau, None)):
            known = np.isfinite(of_items)
            sums = mean_sums(of_items[known], found.query[known], unit="items", within=within)
            yield Quantity(name, sums)

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        if group.key != view.leading.key and group.raters < 2:
            return
        found = self.of(group).w
        if found.value is None:
            yield Fact(W, DASH, found.undefined, undefined=True)
            return
        parts = [interval(found, decimal) or found.undefined, caution(found)]
        yield Fact(W, decimal(found.value), "; ".join(filter(None, parts)), tag=tag_of(group))

    def intro(self, view: ReportView) -> str:
        return (
            "Agreement beyond chance, at each question's level of measurement: 1 is perfect agreement, 0 is "
            "agreement by chance. Intervals are computed over queries."
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        build = Builder(
            f"{W} and mean {TAU} between two raters, per item, averaged over items.",
            columns(["Raters", "Question", W, "By chance", TAU, "n"], names=2),
            foot=f"By chance: the expected {W} of the same number of raters ranking at random.",
        )
        sizes = Builder(
            f"{W} by number of responses ranked.", columns(["Raters", "Responses", W, "n"], names=2)
        )
        for group in view.groups_of_several:
            for question, records in view.answered(view.asked(self.key), group):
                found = self.of(records)
                name = group_head(group)
                build.add(
                    name,
                    words(question.prompt),
                    build.coefficient(found.w),
                    TableCell(DASH if found.chance_w is None else decimal(found.chance_w)),
                    build.coefficient(found.tau),
                    build.n(found.w),
                    of=where.of(group),
                )
                for size in found.by_size if len(found.by_size) > 1 else ():
                    sizes.add(
                        name,
                        words(str(size.n_responses)),
                        sizes.coefficient(size.w),
                        sizes.n(size.w),
                    )
        tables = (build.build(), *([sizes.build()] if sizes.rows else []))
        yield Block(W, tables=tables)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Kendall's W is computed per item over the raters who ranked the same responses, corrected for "
            "ties, and averaged over items; tau-b likewise, over pairs of raters."
        )


FIGURE = ConcordanceFigure()

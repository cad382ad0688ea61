"""Agreement resampled in two ways: over queries, and over queries and raters."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import decimal, percent
from analytics.display.tables import Builder, columns, count, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.report_view import PairView, ReportView, group_head
from analytics.statistics.agreement.two_ways import two_way_agreement
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.tidy import N_LABELS
from evaluation.protocols import QuestionSpec

KEY = "agreement/two_ways"
FIGURES = {"pairwise": ("two raters agree, %", percent), "alpha": ("alpha", decimal)}


class TwoWaysFigure(Figure):
    heading = "agreement"
    place = 55
    deferred_as = "agreement over queries and raters"
    stops_with = ("agreement",)
    definition = (
        "Agreement on a preference with intervals over queries (these raters, other queries) and over queries and "
        "raters (other raters, too): the chance that two raters agree, and alpha."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> Record | None:
        assert isinstance(given, PairInput)
        judgments = given.group.judgments
        if len(judgments.raters) < 2:
            return None
        query = given.items.query[judgments.item]
        resample = given.resample("two ways")
        return dict(
            plain(
                two_way_agreement(
                    judgments.label, judgments.item, judgments.rater, query, N_LABELS, resample=resample
                )
            )
        )

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Agreement has two intervals: over queries, for the raters of this study, and over queries and raters, for "
            "raters drawn anew as well."
        )


FIGURE = TwoWaysFigure()


def _of_pair(view: PairView) -> Iterator[Block]:
    build = Builder(
        "Agreement with its interval over queries, and over queries and raters.",
        columns(["Raters", "Figure", "Over queries", "Over queries and raters", "n", "Raters"], names=2),
    )
    for group in view.groups:
        for key, (name, form) in FIGURES.items() if KEY in group else ():
            found = group[KEY][key]
            build.add(
                group_head(group),
                words(name),
                build.figure(found["over_queries"], form),
                build.figure(found["over_both"], form),
                build.n(found["over_queries"]),
                count(group[KEY]["raters"]),
            )
    if build.rows:
        yield Block("Over queries, and over queries and raters", tables=(build.build(),), folded=True)

"""Consistency of judges between the two orders of the responses."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import MEASURES, AnswerInput, FigureInput, PairInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.frames.needs import NeedSource
from analytics.frames.rows import is_asked_both_ways
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.replicates import inconsistency
from analytics.statistics.judges.order_consistency import order_inconsistency
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class AskedBothWays:
    """The keys of the judges that were asked in both orders of the responses."""

    judges: frozenset[str]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(frozenset(str(each["rater"]) for each in source.judges if is_asked_both_ways(each)))


@dataclass(frozen=True)
class InconsistentOrders:
    """Share of samples whose answer changes with the order of the responses."""

    inconsistent: Estimate


class OrderConsistencyFigure(Figure[InconsistentOrders]):
    needs = (AskedBothWays,)
    heading = "judges"
    place = 40
    definition = "Share of samples in which a judge asked in both orders changes its answer with the order."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form != MEASURES

    def compute(self, given: FigureInput) -> InconsistentOrders | None:
        """Of a judge that was asked in both orders; the readings are those before they are reduced."""
        if given.group_key not in self.need(given, AskedBothWays).judges:
            return None
        if isinstance(given, PairInput):
            readings = given.group.readings
            labelled = readings.where(readings.label >= 0)
            query = given.items.query[labelled.item]
            resample = given.resample("inconsistency")
            return InconsistentOrders(inconsistency(labelled, query, resample=resample).inconsistent)
        assert isinstance(given, AnswerInput)
        found = given.group.readings.get(given.question.key)
        if found is None:
            return None
        return InconsistentOrders(order_inconsistency(found, resample=given.resample("orders")))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        build = Builder(
            "Share of samples in which the judge changes its answer when the responses are shown in the other "
            "order, in percent.",
            columns(["Question", "Judge", "Inconsistent", "n"], names=2),
        )
        for question in view.judged:
            for group in (each for each in question.groups if self.is_in(each)):
                found = self.of(group).inconsistent
                build.add(
                    head(question.prompt),
                    words(group.label, tag_of(group)),
                    build.share(found),
                    build.n(found),
                )
        yield Block("Consistency across orders", tables=(build.build(),))


FIGURE = OrderConsistencyFigure()

"""Prompt conditions of one judge side by side: with and without guideline and worked examples (HREF, section 5.2)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.needs import PromptConditions
from analytics.figures.report_view import PairView, ReportView
from analytics.statistics.agreement.leave_one_out import outer_agreement
from analytics.statistics.core.counts import unique_mode
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.judges.labels_vs_people import outer_difference
from evaluation.protocols import QuestionSpec

KEY = "judges/prompt_conditions"


@dataclass(frozen=True)
class PromptCondition:
    """A prompt condition's leave-one-out agreement with people, that of the rater with guideline and examples (`full`),
    and the first less the second, item by item."""

    full: str
    agreement: Estimate
    full_agreement: Estimate
    difference: Estimate


class PromptConditionsFigure(Figure[PromptCondition]):
    needs = (PromptConditions,)
    heading = "judges"
    place = 16
    definition = (
        "Prompt conditions of one judge: leave-one-out agreement with people with and without the guideline and worked "
        "examples, and its difference, item by item, from the condition with both."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> PromptCondition | None:
        """The difference is on the items that both conditions have a label for."""
        key = self.need(given, PromptConditions).full.get(given.group_key)
        if key is None or given.people is None:
            return None
        assert isinstance(given, PairInput)
        assert isinstance(given.people, PairInput)
        full = given.by_group.get(key)
        if full is None:
            return None
        people, own, other = given.people.votes, unique_mode(given.votes), unique_mode(full.votes)
        query, resample = given.items.query, given.resample("prompt conditions")
        return PromptCondition(
            key,
            outer_agreement(people, own, query, resample=resample),
            outer_agreement(people, other, query, resample=resample),
            outer_difference(people, own, other, query, resample=resample),
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        yield from view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Prompt conditions of a judge are compared item by item with the one that has the guideline and examples."
        )


FIGURE = PromptConditionsFigure()


def _of_pair(view: PairView) -> Iterator[Block]:
    compared = [group for group in view.judging if PromptConditionsFigure.is_in(group)]
    if not compared:
        return
    build = Builder(
        "Leave-one-out agreement with people, in percent, and its difference from that of the prompt with "
        "guideline and examples, as a proportion.",
        columns(["Judge", "Prompt", "Agreement", "Difference", "n"], names=2),
    )
    seen: set[str] = set()
    for group in compared:
        found = PromptConditionsFigure.of(group)
        if found.full not in seen:
            seen.add(found.full)
            build.add(
                head(view.raters[found.full]),
                words("guideline and examples"),
                build.share(found.full_agreement),
                words(""),
                build.n(found.full_agreement),
            )
        build.add(
            head(group.label),
            words("as named"),
            build.share(found.agreement),
            build.coefficient(found.difference),
            build.n(found.difference),
        )
    yield Block("Prompt conditions", tables=(build.build(),))

"""Judges' ratings of an attribute's values beside people's: correlations, attribute by attribute."""

from collections.abc import Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.tables import Builder, columns, head, words
from analytics.figures.conditions.attribute_spread import most_rated
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView
from analytics.figures.report_view import ReportView, tag_of
from analytics.frames.arrays import values_of
from analytics.statistics.conditions.value_correlation import correlation_within_items
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.judges.ratings_vs_people import compare_means
from evaluation.protocols import Over, QuestionSpec


@dataclass(frozen=True)
class AttributeBesidePeople:
    """Spearman's rho over the values of all responses, and that over the values of one response, averaged."""

    attribute: str
    pooled: Estimate
    within: Estimate


@dataclass(frozen=True)
class AttributesBesidePeople:
    by_attribute: tuple[AttributeBesidePeople, ...]


class AttributesVsPeopleFigure(Figure[AttributesBesidePeople]):
    heading = "values"
    place = 30
    definition = (
        "By attribute, Spearman's correlation of a judge's ratings of its values with people's: over all responses "
        "together, and within each response, averaged."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.over == Over.VALUE

    def compute(self, given: FigureInput) -> AttributesBesidePeople | None:
        """ContextEval section 6.1; of attributes that both have rated."""
        assert isinstance(given, AnswerInput)
        people, attributes = given.people, given.frame.attributes
        if people is None or attributes is None:
            return None
        theirs, ours = (values_of(attributes, each.answers)[0] for each in (people, given))
        shared = [code for code in most_rated(theirs) if (ours == code).any()]
        found = []
        for code in shared:
            name = attributes.attributes[code]
            one, other = people.values.where(theirs == code), given.values.where(ours == code)
            pooled = compare_means(
                one, other, resample=given.resample(f"compared {name}"), within=given.ends, unit=given.unit
            )
            within = correlation_within_items(one, other, resample=given.resample(f"within {name}"))
            found.append(AttributeBesidePeople(name, pooled.spearman, within))
        return AttributesBesidePeople(tuple(found)) if found else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            build = Builder(
                "Spearman's correlation with people's mean ratings: over the values of all responses, and over the "
                "values of one response, averaged over responses.",
                columns(["Attribute", "Raters", "All responses", "n", "Within a response", "n"], names=2),
            )
            rows: dict[str, list[tuple[GroupView, Estimate]]] = {}
            groups = [group for group in question.groups if self.is_in(group)]
            found = [
                (each.attribute, group, each) for group in groups for each in self.of(group).by_attribute
            ]
            order = list(dict.fromkeys(name for name, _, _ in found))
            for name, group, each in sorted(found, key=lambda row: order.index(row[0])):
                build.add(
                    head(name),
                    words(group.label, tag_of(group)),
                    build.coefficient(each.pooled),
                    build.n(each.pooled),
                    build.coefficient(each.within),
                    build.n(each.within),
                )
                rows.setdefault(name, []).append((group, each.pooled))
            yield Block("Ratings vs people by attribute", tables=(build.build(),))
            caption = "Spearman's correlation with people, over the values of all responses."
            yield Block(
                plot=score_plot(rows.items(), what="Spearman's correlation with people", caption=caption)
            )

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "By attribute, a judge's ratings are correlated with people's means in two ways: over all responses "
            "together, to which it adds how good a response is for anybody, and within each response."
        )


FIGURE = AttributesVsPeopleFigure()

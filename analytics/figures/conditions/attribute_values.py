"""Ratings by the values of an attribute, and how much they differ over its values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot, share_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, head, words
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import QuestionView
from analytics.figures.needs import SystemKinds
from analytics.figures.rating_figure import RatingFigure, distribution_table, finer
from analytics.figures.rating_records import Ratings, means_of, ratings
from analytics.figures.report_view import ReportView, anchor_of, group_head, legend_of, number, tag_of
from analytics.frames.arrays import values_of
from analytics.statistics.conditions.value_spread import (
    Spreads,
    SpreadShares,
    adapted_spreads,
    adapted_spreads_of_means,
    spread_shares,
    spreads,
    spreads_of_means,
)
from analytics.statistics.core.estimates import Estimate
from evaluation.protocols import Over, QuestionSpec

KEY = "conditions/attribute_values"
# Of attributes that hardly two queries share there are too many values for a table.
MAX_VALUES = 200
# More values than this are in the JSON only; with more attributes than that they stand in one table without a plot.
MAX_SHOWN, MAX_PLOTTED = 100, 20
ALL_VALUES = "Largest difference across an attribute's values, one per response, attribute and rater"
ADAPTED = (
    "Largest difference across responses to one query, each written for one value of an attribute; one per "
    "query, attribute, system and setting"
)
PLOTTED = {"of_raters": "in each rater's ratings", "of_means": "in mean ratings"}


@dataclass(frozen=True)
class ValueMean:
    """The mean of one value of an attribute."""

    attribute: str
    value: str
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int


@dataclass(frozen=True)
class SpreadOfValues:
    """The largest difference over an attribute's values, of each rater's ratings, and of means over raters, each under
    the nearest difference."""

    of_raters: SpreadShares
    of_means: SpreadShares


@dataclass(frozen=True)
class AttributeRatings(Ratings):
    """Ratings, with means by value of an attribute, but for the values rated least, and how far apart these are; also
    over responses that were each written for one value."""

    by_value: tuple[ValueMean, ...]
    values_left_out: int
    spread: SpreadOfValues | None
    spread_adapted: SpreadOfValues | None


class AttributeValuesFigure(RatingFigure[AttributeRatings]):
    heading = "values"
    definition = (
        "Ratings by attribute value, and the distribution of the largest difference across an attribute's "
        "values, in each rater's ratings and in mean ratings."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.over == Over.VALUE

    def compute(self, given: FigureInput) -> AttributeRatings:
        assert isinstance(given, AnswerInput)
        by_value, left_out = _by_value(given)
        return AttributeRatings(
            **vars(ratings(given, self.need(given, SystemKinds))),
            by_value=by_value,
            values_left_out=left_out,
            spread=_spread(given),
            spread_adapted=_adapted_spread(given),
        )

    def intro(self, view: ReportView) -> str:
        return "Mean rating per attribute value, and the largest difference across an attribute's values."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            lead, *others = view.lead_first(question)
            tag = tag_of(lead)
            yield from _value_blocks(view, question)
            yield from _spread_blocks(
                view, question, "spread", "Largest difference across an attribute's values", ALL_VALUES
            )
            heading = "Largest difference across adapted responses"
            yield from _spread_blocks(view, question, "spread_adapted", heading, ADAPTED)
            yield Block(
                "Distribution of ratings",
                tables=(distribution_table(view, question, lead, self.of(lead)),),
                tag=tag,
            )
            for group in others:
                heading = view.title_for(group, question.prompt)
                table = _table(question, self.of(group))
                yield Block(heading, tables=(table,), folded=True, tag=tag_of(group))
            yield from finer(view, [question], type(self))

    def methods(self, view: ReportView) -> Iterator[str]:
        yield from super().methods(view)
        if any(record.spread for record in self.records(view)):
            yield (
                "The spread is the largest minus the smallest rating that one rater gives to an attribute's "
                "values; the spread of means is computed after averaging over raters and counted under the "
                "nearest possible difference."
            )
        if any(record.spread_adapted for record in self.records(view)):
            yield (
                "The spread across adapted responses is computed over the items of one query, attribute, system "
                "and setting, each with a response written for one value; several responses for one value are "
                "averaged first."
            )


FIGURE = AttributeValuesFigure()


def _by_value(given: AnswerInput) -> tuple[tuple[ValueMean, ...], int]:
    """Mean per value of an attribute, those rated most, and how many values there are no room for."""
    attributes = given.frame.attributes
    if given.question.over != Over.VALUE or attributes is None or not len(given.answers):
        return (), 0
    _, code = values_of(attributes, given.answers)
    times = np.bincount(code, minlength=len(attributes.values))
    shown = np.sort(np.argsort(-times, kind="stable")[:MAX_VALUES])
    shown = shown[times[shown] > 0]
    place = np.full(len(attributes.values), -1)
    place[shown] = np.arange(len(shown))
    means = means_of(given, place[code], len(shown), "by value")
    named = [attributes.values[at] for at in shown]
    records = [
        ValueMean(attributes.attributes[of], text, **vars(found))
        for (of, text), found in zip(named, means, strict=True)
    ]
    # Values of one attribute stand together, in the order of its answer set.
    ordered = sorted(range(len(records)), key=lambda at: (named[at][0], shown[at]))
    return tuple(records[at] for at in ordered), int((times > 0).sum()) - len(shown)


def _spread(given: AnswerInput) -> SpreadOfValues | None:
    """The largest difference over an attribute's values, of each rater's ratings and of their means.

    None where one value alone was rated, as of responses that were written for it.
    """
    attributes = given.frame.attributes
    if attributes is None or not len(given.answers):
        return None
    attribute, _ = values_of(attributes, given.answers)
    by_rater = spreads(given.values, attribute)
    if not len(by_rater.spread):
        return None
    return _spread_of(given, by_rater, spreads_of_means(given.values, attribute), "spread")


def _adapted_spread(given: AnswerInput) -> SpreadOfValues | None:
    """The same over responses that were each written for one value, of one system and setting on one query.

    None where no two values of an attribute have such a response.
    """
    attributes = given.frame.attributes
    if attributes is None or not len(given.answers):
        return None
    values, items = given.values, given.items
    # A system of no response is -1.
    setting = (values.system.astype(np.int64) + 1) * len(items.arms) + items.arm[values.item]
    coded = (*values_of(attributes, given.answers), setting)
    of_means = adapted_spreads_of_means(values, *coded)
    if not len(of_means.spread):
        return None
    return _spread_of(given, adapted_spreads(values, *coded), of_means, "adapted spread")


def _spread_of(given: AnswerInput, by_rater: Spreads, of_means: Spreads, purpose: str) -> SpreadOfValues:
    points = given.question.points
    return SpreadOfValues(
        spread_shares(by_rater, points, resample=given.resample(purpose)),
        spread_shares(of_means, points, resample=given.resample(f"{purpose} of means"), nearest=True),
    )


def _table(question: QuestionView, figures: AttributeRatings) -> Table:
    found = figures.by_value
    beyond = len(found) - MAX_SHOWN + figures.values_left_out if len(found) > MAX_SHOWN else 0
    build = Builder(
        "Mean rating per value.",
        columns(["Attribute", "Value", "Mean", "n"], names=2),
        foot=f"{beyond:,} more values are not shown; the JSON has up to {MAX_VALUES}, those rated most often."
        if beyond
        else legend_of(question),
    )
    for each in found[:MAX_SHOWN]:
        build.add(
            head(each.attribute),
            words(each.value),
            build.coefficient(each.mean),
            build.n(each.mean),
        )
    return build.build()


def _value_blocks(view: ReportView, question: QuestionView) -> Iterator[Block]:
    """A table and a plot per attribute, all plots on one scale; one table alone where there are many attributes."""
    lead = view.lead(question)
    tag, anchor = tag_of(lead), anchor_of(question)
    attributes = [
        (name, list(values))
        for name, values in groupby(AttributeValuesFigure.of(lead).by_value, key=lambda each: each.attribute)
    ]
    if not 0 < len(attributes) <= MAX_PLOTTED:
        yield Block(
            question.prompt,
            tables=(_table(question, AttributeValuesFigure.of(lead)),),
            tag=tag,
            anchor=anchor,
        )
        return
    yield Block(question.prompt, text=tuple(filter(None, [legend_of(question)])), tag=tag, anchor=anchor)
    for name, values in attributes:
        build = Builder("Mean rating per value.", columns(["Value", "Mean", "n"]))
        for each in values:
            build.add(head(each.value), build.coefficient(each.mean), build.n(each.mean))
        yield Block(name, tables=(build.build(),), plot=_plot(view, question, values))


def _plot(view: ReportView, question: QuestionView, values: Sequence[ValueMean]) -> DotPlot | None:
    """The values of one attribute, by every voice."""
    found = {
        (group.key, other.attribute, other.value): (group, other.mean)
        for group in view.plotted(question)
        for other in AttributeValuesFigure.of(group).by_value
    }
    keys = list(dict.fromkeys(group for group, *_ in found))
    rows = [
        (
            each.value,
            [found[at] for key in keys if (at := (key, each.attribute, each.value)) in found],
        )
        for each in values
    ]
    return mean_plot(
        rows,
        what=f"Mean rating per value: {values[0].attribute}",
        axis="Mean rating",
        caption="Mean rating per value.",
        within=question.ends,
        whole=True,
    )


def _spread_blocks(
    view: ReportView, question: QuestionView, key: str, heading: str, caption: str
) -> Iterator[Block]:
    """Shares of the differences, a row per group: of single raters, and of means over raters."""
    found = [
        (group, getattr(AttributeValuesFigure.of(group), key))
        for group in question.groups
        if getattr(AttributeValuesFigure.of(group), key)
    ]
    if not found:
        return
    differences = found[0][1].of_raters.differences
    build = Builder(
        f"{caption}: mean, and how often each difference occurs, in percent. 0: the same rating for all values.",
        columns(["Raters", "Ratings", "Mean", *(number(each) for each in differences), "n"], names=2),
    )
    for group, spread in found:
        for name, shares in (("each rater's", spread.of_raters), ("means over raters", spread.of_means)):
            build.add(
                group_head(group),
                words(name),
                build.coefficient(shares.mean),
                *(build.share(each) for each in shares.shares),
                build.n(shares.mean),
            )
    yield Block(heading, tables=(build.build(),), anchor=key.replace("_", "-"))
    # One person seldom sees two responses to a query, so that adapted ones are plotted by their means.
    plotted = "of_raters" if key == "spread" else "of_means"
    spreads = [
        (group, getattr(AttributeValuesFigure.of(group), key))
        for group in view.plotted(question)
        if getattr(AttributeValuesFigure.of(group), key)
    ]
    # Below the table, which needs all the width there is.
    plot = share_plot(
        [
            (number(difference), [(group, getattr(spread, plotted).shares[at]) for group, spread in spreads])
            for at, difference in enumerate(differences)
        ],
        what=f"Share of largest differences, {PLOTTED[plotted]}",
        axis="Share of largest differences",
        caption=f"How often each difference occurs as the largest, {PLOTTED[plotted]}.",
    )
    yield Block(plot=plot)

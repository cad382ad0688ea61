"""Difficulty of each attribute: the largest differences over its values, attribute by attribute."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot, share_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, number, tag_of
from analytics.frames.arrays import values_of
from analytics.statistics.conditions.value_spread import (
    Spreads,
    SpreadShares,
    adapted_spreads_of_means,
    spread_shares,
    spreads_of_means,
)
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Ints
from evaluation.protocols import Over, QuestionSpec

KEY = "conditions/attribute_spread"
# Of the attributes rated most; others are in the totals of `conditions/attribute_values`.
MAX_ATTRIBUTES = 40
# Of more attributes than this the shares stand in the table only.
MAX_PLOTTED = 20
SHAPES = {
    "default": (
        "Largest difference by attribute",
        "Of responses that were each rated for every value of an attribute: mean of the largest difference over its "
        "values, and how often each difference occurs, in percent of responses.",
    ),
    "adapted": (
        "Largest difference by attribute, adapted responses",
        "Of responses that were each written for one value of an attribute: mean of the largest difference over its "
        "values, and how often each difference occurs, in percent of queries (of each system and setting).",
    ),
}
COUNTED = {"default": "responses", "adapted": "queries"}
HOW_OFTEN = {
    "default": "How often each largest difference occurs",
    "adapted": "How often each largest difference occurs, adapted responses",
}
PLOTTED = {
    "default": "Responses rated for every value of an attribute",
    "adapted": "Responses written for one value of an attribute",
}


@dataclass(frozen=True)
class AttributeSpread:
    """The largest difference of mean ratings over the values of one attribute."""

    attribute: str
    mean: Estimate
    differences: tuple[float, ...]
    counts: tuple[int, ...]
    shares: tuple[Estimate, ...]
    n_queries: int


@dataclass(frozen=True)
class AttributeSpreads:
    """Of responses that were rated for every value of an attribute, at most 40 attributes; and over responses that were
    each written for one value."""

    default: tuple[AttributeSpread, ...]
    adapted: tuple[AttributeSpread, ...]


class AttributeSpreadFigure(Figure[AttributeSpreads]):
    heading = "values"
    place = 20
    definition = (
        "By attribute, the distribution of the largest difference of mean ratings over its values: how often each "
        "difference occurs, of default responses and of responses adapted to a value."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.over == Over.VALUE

    def compute(self, given: FigureInput) -> AttributeSpreads | None:
        """ContextEval Figure 6; None of an attribute that no two values of were rated."""
        assert isinstance(given, AnswerInput)
        default: list[AttributeSpread] = []
        adapted: list[AttributeSpread] = []
        attributes = given.frame.attributes
        if attributes is None or not len(given.answers):
            return None
        attribute, value = values_of(attributes, given.answers)
        values, items = given.values, given.items
        # A system of no response is -1.
        setting = (values.system.astype(np.int64) + 1) * len(items.arms) + items.arm[values.item]
        for code in most_rated(attribute):
            rows = np.flatnonzero(attribute == code)
            part, same = values.take(rows), np.zeros(len(rows), dtype=np.int64)
            name = attributes.attributes[code]
            for shape, found, spread in (
                ("default", default, spreads_of_means(part, same)),
                ("adapted", adapted, adapted_spreads_of_means(part, same, value[rows], setting[rows])),
            ):
                if len(spread.spread):
                    shares = _shares(given, spread, f"{shape} spread of {name}")
                    found.append(AttributeSpread(name, **vars(shares)))
        return AttributeSpreads(tuple(default), tuple(adapted)) if default or adapted else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            for shape, (heading, caption) in SHAPES.items():
                table = _table(question, shape, caption)
                if table.rows:
                    yield Block(heading, tables=(table,), anchor=f"{shape}-spread-by-attribute")
                    # Below the table, which needs all the width there is.
                    yield Block(plot=_plot(view, question, shape))
                    yield from _share_plots(view, question, shape)

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "By attribute, the largest difference is taken of mean ratings over raters, and counted under the nearest "
            "possible difference."
        )


FIGURE = AttributeSpreadFigure()


def most_rated(attribute: Ints) -> list[int]:
    """The codes that occur, at most `MAX_ATTRIBUTES`, those with most rows, in ascending order."""
    times = np.bincount(attribute)
    kept = np.argsort(-times, kind="stable")[:MAX_ATTRIBUTES]
    return sorted(int(code) for code in kept if times[code])


def _shares(given: AnswerInput, found: Spreads, purpose: str) -> SpreadShares:
    points = given.question.points
    return spread_shares(found, points, resample=given.resample(purpose), nearest=True)


def _table(question: QuestionView, shape: str, caption: str) -> Table:
    found = [
        (group, each)
        for group in question.groups
        if AttributeSpreadFigure.is_in(group)
        for each in getattr(AttributeSpreadFigure.of(group), shape)
    ]
    differences = found[0][1].differences if found else []
    build = Builder(
        caption,
        columns(["Attribute", "Raters", "Mean", *(number(each) for each in differences), "n"], names=2),
    )
    for name in dict.fromkeys(each.attribute for _, each in found):
        for group, each in found:
            if each.attribute == name:
                build.add(
                    head(name),
                    words(group.label, tag_of(group)),
                    build.coefficient(each.mean),
                    *(build.share(share) for share in each.shares),
                    build.n(each.mean),
                )
    return build.build()


def _plot(view: ReportView, question: QuestionView, shape: str) -> DotPlot | None:
    plotted = [group for group in view.plotted(question) if AttributeSpreadFigure.is_in(group)]
    names = dict.fromkeys(
        each.attribute for group in plotted for each in getattr(AttributeSpreadFigure.of(group), shape)
    )
    ends = [point.number for point in question.points]
    return mean_plot(
        [
            (
                name,
                [
                    (group, each.mean)
                    for group in plotted
                    for each in getattr(AttributeSpreadFigure.of(group), shape)
                    if each.attribute == name
                ],
            )
            for name in names
        ],
        what="Mean of the largest difference by attribute",
        axis="Mean of the largest difference",
        caption=f"{PLOTTED[shape]}: mean of the largest difference over an attribute's values; "
        "0: the same rating for all of them.",
        within=(0.0, ends[-1] - ends[0]),
    )


def _share_plots(view: ReportView, question: QuestionView, shape: str) -> Iterator[Block]:
    """The share of each difference, a folded plot per attribute, all on one scale."""
    found: dict[str, list[tuple[GroupView, AttributeSpread]]] = {}
    for group in view.plotted(question):
        for each in (
            getattr(AttributeSpreadFigure.of(group), shape) if AttributeSpreadFigure.is_in(group) else ()
        ):
            found.setdefault(each.attribute, []).append((group, each))
    if len(found) > MAX_PLOTTED:
        return
    for name, plotted in found.items():
        plot = share_plot(
            [
                (number(difference), [(group, each.shares[at]) for group, each in plotted])
                for at, difference in enumerate(plotted[0][1].differences)
            ],
            what=f"Share of {COUNTED[shape]} by largest difference: {name}",
            axis=f"Share of {COUNTED[shape]}",
            caption=f"{PLOTTED[shape]}: how often each difference is the largest over the values of “{name}”; 0: the "
            "same rating for all of them.",
            whole=True,
        )
        if plot is not None:
            yield Block(f"{HOW_OFTEN[shape]}: {name}", plot=plot, folded=True)

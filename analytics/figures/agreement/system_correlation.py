"""Correlations over systems of mean ratings: between raters of a group, and between groups of raters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, groups_after
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, group_head
from analytics.statistics.agreement.system_correlation import (
    SystemCorrelation,
    paired_raters,
    system_correlation,
)
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Ints
from analytics.statistics.core.values import Values
from analytics.statistics.leaderboards.correlation import LEAST_SYSTEMS
from evaluation.protocols import Over, QuestionSpec

# Of a group those with the most ratings; each two of them are a pair.
MOST_RATERS = 10
COEFFICIENTS = ("kendall", "spearman", "pearson")
NAMES = ("Kendall", "Spearman", "Pearson")


@dataclass(frozen=True)
class RaterCorrelation:
    """Correlations of the systems' means between two raters, by pseudonym."""

    one: str
    other: str
    kendall: Estimate
    spearman: Estimate
    pearson: Estimate


@dataclass(frozen=True)
class GroupCorrelation:
    """Correlations of the systems' means between the group and another, by its key."""

    group: str
    kendall: Estimate
    spearman: Estimate
    pearson: Estimate


@dataclass(frozen=True)
class SystemCorrelations:
    """Correlations of the systems' mean ratings or ranks, without intervals.

    `within` are means over pairs of raters, None for a single one; `raters` counts all of them, and `pairs` are every
    two of up to ten, those with the most ratings.
    """

    within: SystemCorrelation | None
    raters: int
    pairs: tuple[RaterCorrelation, ...]
    between: tuple[GroupCorrelation, ...]


class SystemCorrelationFigure(Figure[SystemCorrelations]):
    heading = "agreement"
    place = 75
    deferred_as = "correlations over systems"
    definition = (
        "Correlations over systems of their mean ratings or ranks (Kendall's tau-b, with Spearman and Pearson): "
        "between two raters of a group, averaged over pairs, and between groups of raters (people, groups of them, "
        "single judges)."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in ("rated", "ranking") and question.over not in (Over.CHOICE, Over.VALUE)

    def compute(self, given: FigureInput) -> SystemCorrelations | None:
        """SummEval, Table 4. None below three systems; each two groups stand in the record of the one that comes
        first."""
        assert isinstance(given, AnswerInput)
        values = given.values
        if len(np.unique(values.system[values.system >= 0])) < LEAST_SYSTEMS:
            return None
        raters = _raters_with_most(values)
        within = paired_raters(values, raters.tolist()) if len(raters) > 1 else None
        between = tuple(
            GroupCorrelation(other.group_key, **vars(system_correlation(values, other.values)))
            for other in groups_after(given)
        )
        if within is None and not between:
            return None
        names = given.group.raters
        return SystemCorrelations(
            SystemCorrelation(within.kendall, within.spearman, within.pearson) if within else None,
            given.counts_record["raters"],
            tuple(
                RaterCorrelation(names[pair.one], names[pair.other], **vars(pair.correlation))
                for pair in (within.pairs if within else ())
            ),
            between,
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        asked = view.asked(self.key)
        tables = tuple(table for table in (_within(view, asked), _between(view, asked)) if table.rows)
        if tables:
            yield Block("Correlations over systems", tables=tables, folded=True)
        pairs = tuple(
            _pairs(view, question, group, self.of(group))
            for question in asked
            for group in question.groups
            if len(self.of(group).pairs) > 1
        )
        if pairs:
            yield Block("Correlations over systems by pair of raters", tables=pairs, folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Correlations over systems are of the systems' mean ratings on what both raters, or both groups, rated; "
            "they have no interval, since resampled queries would draw them towards zero."
        )


FIGURE = SystemCorrelationFigure()


def _raters_with_most(values: Values) -> Ints:
    codes, n = np.unique(values.rater, return_counts=True)
    return np.sort(codes[np.argsort(-n, kind="stable")][:MOST_RATERS])


def _within(view: ReportView, asked: list[QuestionView]) -> Table:
    build = Builder(
        "Two raters of a group: the correlation of their systems' means, averaged over pairs of raters.",
        columns(["Raters", "Question", *NAMES, "Pairs"], names=2),
        foot=f"Of the {MOST_RATERS} raters with the most ratings, where a group has more.",
    )
    for question in asked:
        for group in question.groups:
            found = SystemCorrelationFigure.of(group).within
            if found:
                build.add(group_head(group), words(question.prompt), *_cells(build, found))
    return build.build()


def _between(view: ReportView, asked: list[QuestionView]) -> Table:
    build = Builder(
        "Two groups of raters: the correlation of their systems' means on what both rated.",
        columns(["Raters", "and", "Question", *NAMES, "Systems"], names=3),
    )
    labels = {group.key: group.label for group in view.everybody}
    for question in asked:
        for group in question.groups:
            for each in SystemCorrelationFigure.of(group).between:
                build.add(
                    group_head(group),
                    words(labels[each.group]),
                    words(question.prompt),
                    *_cells(build, each),
                )
    return build.build()


def _pairs(view: ReportView, question: QuestionView, group: GroupView, found: SystemCorrelations) -> Table:
    build = Builder(
        f"{question.prompt}: {group.label}, every two raters.",
        columns(["Rater", "and", *NAMES, "Systems"], names=2),
    )
    for pair in found.pairs:
        one, other = (view.raters.get(each, each) for each in (pair.one, pair.other))
        build.add(head(one), words(other), *_cells(build, pair))
    return build.build(compact=True)


def _cells(build: Builder, found: RaterCorrelation | SystemCorrelation | GroupCorrelation) -> list[TableCell]:
    return [*(build.coefficient(getattr(found, name)) for name in COEFFICIENTS), build.n(found.kendall)]

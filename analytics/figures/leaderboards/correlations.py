"""Correlations of leaderboards: between splits, between groups of raters, and between prompts of one judge."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput, groups_after
from analytics.figures.groups import GroupView
from analytics.figures.needs import PromptConditions
from analytics.figures.report_view import CELLS, SPLIT_NAMES, PairView, ReportView, group_head
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Bools
from analytics.statistics.leaderboards.correlation import (
    LEAST_SYSTEMS,
    LeaderboardCorrelation,
    leaderboard_correlation,
)
from analytics.statistics.leaderboards.scores import splits_of
from evaluation.protocols import QuestionSpec

KEY = "leaderboards/correlations"
COEFFICIENTS = ("pearson", "spearman", "kendall")
RELATIONS = {"raters": "raters", "prompts": "prompts of one judge"}


Relation = Literal["raters", "prompts"]


@dataclass(frozen=True)
class SplitCorrelation:
    """Correlations between the group's leaderboards of two splits."""

    arm: str
    one: str
    other: str
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


@dataclass(frozen=True)
class BoardCorrelation:
    """Correlations between the leaderboards of the group and of another, by its key, on the same items.

    Their relation is one of prompts where both are conditions of one judge.
    """

    arm: str
    group: str
    relation: Relation
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


@dataclass(frozen=True)
class LeaderboardCorrelations:
    splits: tuple[SplitCorrelation, ...]
    groups: tuple[BoardCorrelation, ...]


class CorrelationsFigure(Figure[LeaderboardCorrelations]):
    needs = (PromptConditions,)
    heading = "leaderboard"
    place = 20
    deferred_as = "correlations of leaderboards"
    beside = (CELLS,)
    definition = (
        "Correlations of leaderboards over systems (Pearson, Spearman, Kendall): between splits of the queries, "
        "between groups of raters (people, groups of them, judges), and between prompt conditions of one judge."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> LeaderboardCorrelations | None:
        """HREF, sections 4.3 and 5.2; each two groups stand in the record of the one that comes first."""
        assert isinstance(given, PairInput)
        if len(given.competing.competing) < LEAST_SYSTEMS:
            return None
        arms = [
            (given.items.arms[arm], given.items.arm == arm) for arm in np.unique(given.items.arm).tolist()
        ]
        splits = tuple(each for name, mask in arms for each in _splits(given, name, mask))
        conditions = self.need(given, PromptConditions).full
        groups = tuple(
            BoardCorrelation(
                name,
                other.group_key,
                _relation(given, other, conditions),
                **vars(_between(given, other, mask)),
            )
            for other in groups_after(given)
            for name, mask in arms
        )
        return LeaderboardCorrelations(splits, groups) if splits or groups else None

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Leaderboards are correlated over the systems that are in both; between groups of raters, on the items "
            "that both judged."
        )


FIGURE = CorrelationsFigure()


def _splits(given: PairInput, arm: str, in_arm: Bools) -> Iterator[SplitCorrelation]:
    scores = given.competing
    rates = [
        (name, scores.where((mask & in_arm)[scores.item]).rates()) for name, mask in splits_of(given.items)
    ]
    for at, (one, of_one) in enumerate(rates):
        for other, of_other in rates[at + 1 :]:
            yield SplitCorrelation(arm, one, other, **vars(leaderboard_correlation(of_one, of_other)))


def _between(one: PairInput, other: PairInput, in_arm: Bools) -> LeaderboardCorrelation:
    mine, theirs = one.competing, other.competing
    # Rows are the same items and systems for every group.
    both = np.isfinite(mine.score) & np.isfinite(theirs.score) & in_arm[mine.item]
    return leaderboard_correlation(mine.where(both).rates(), theirs.where(both).rates())


def _relation(one: PairInput, other: PairInput, conditions: Mapping[str, str]) -> Relation:
    """Prompts, where both are conditions of one judge; one of them may be the condition with everything."""
    judges = {conditions.get(each.group_key, each.group_key) for each in (one, other)}
    known = any(each.group_key in conditions for each in (one, other))
    return "prompts" if known and len(judges) == 1 else "raters"


def _of_pair(view: PairView) -> Iterator[Block]:
    shown = {group.key: group for group in view.judging if CorrelationsFigure.is_in(group)}
    tables = [table for table in (_split_table(view, shown), _group_table(view, shown)) if table]
    if tables:
        yield Block("Correlations of leaderboards", tables=tuple(tables), folded=True)


def _split_table(view: PairView, shown: dict[str, GroupView]) -> Table | None:
    arms = ["Setting"] if view.several_arms else []
    build = Builder(
        "Leaderboards of two splits, over systems.",
        columns(
            ["Raters", *arms, "Splits", "Pearson", "Spearman", "Kendall", "Systems"], names=2 + len(arms)
        ),
    )
    for group in shown.values():
        for each in CorrelationsFigure.of(group).splits:
            names = f"{SPLIT_NAMES[each.one]} and {SPLIT_NAMES[each.other].lower()}"
            named = [words(view.arm(each.arm))] if arms else []
            build.add(group_head(group), *named, words(names), *_cells(build, each))
    return build.build() if build.rows else None


def _group_table(view: PairView, shown: dict[str, GroupView]) -> Table | None:
    arms = ["Setting"] if view.several_arms else []
    build = Builder(
        "Leaderboards of two groups of raters on the same items, over systems.",
        columns(
            ["Raters", "and", *arms, "Compared", "Pearson", "Spearman", "Kendall", "Systems"],
            names=3 + len(arms),
        ),
    )
    labels = {group.key: group.label for group in view.everybody}
    for group in shown.values():
        for each in CorrelationsFigure.of(group).groups:
            named = [words(view.arm(each.arm))] if arms else []
            build.add(
                head(group.label),
                words(labels[each.group]),
                *named,
                words(RELATIONS[each.relation]),
                *_cells(build, each),
            )
    return build.build() if build.rows else None


def _cells(build: Builder, each: BoardCorrelation | SplitCorrelation) -> list[TableCell]:
    return [*(build.coefficient(getattr(each, name)) for name in COEFFICIENTS), build.n(each.pearson)]

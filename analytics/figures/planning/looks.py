"""The stopping rule of a study: the interval of each pair that holds at every look, and whether it is met."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.needs import EarlierPreferences
from analytics.figures.report_view import PairView, ReportView
from analytics.frames.needs import NeedSource
from analytics.frames.rows import JURY
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Ints, ItemCell
from analytics.statistics.planning.looks import complete_queries, looks_at, query_values
from evaluation import design
from evaluation.models import Rater, Role, Status
from evaluation.protocols import QuestionSpec
from evaluation.stopping import STOPPABLE, StoppingRule

LEVEL = 0.95
NO_OTHERS = "Krippendorff's alpha and win rates by majority have no interval that holds at every look."


@dataclass(frozen=True)
class LatestLook:
    """The latest look at a pair in a setting, `complete` of whose `queries` have all judgments of every item.

    `met_at` are the queries with which the rule was first met.
    """

    arm: str | None
    system_1: str | None
    system_2: str | None
    category: str | None
    estimate: Estimate
    complete: int
    queries: int
    met_at: int | None


@dataclass(frozen=True)
class LooksAtPairs:
    """The stopping rule as it was registered, and the level of all pairs together, at every look.

    `withdrawn` are items withdrawn since launch, which no query has any more.
    """

    rule: Mapping[str, str | float]
    level: float
    withdrawn: int
    pairs: tuple[LatestLook, ...]


@dataclass(frozen=True)
class GatheredJudgments:
    """Of a study with a stopping rule the items that were withdrawn, and the judgments by people that an item is to
    get."""

    withdrawn: int
    redundancy: int

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        study, may_stop = source.study, bool(source.spec.get("stopping"))
        withdrawn = study.items.filter(role=Role.MAIN, withdrawn_at__isnull=False)
        return cls(withdrawn.count() if may_stop else 0, study.redundancy)


class LooksFigure(Figure[LooksAtPairs]):
    needs = (EarlierPreferences, GatheredJudgments)
    heading = "stopping"
    place = 1
    definition = (
        "The stopping rule of a study that has one: for each pair of systems an interval of its figure that holds at "
        "every look, the queries that have entered, and whether the rule is met."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> LooksAtPairs | None:
        """Of people's first preference alone; pairs share the error."""
        assert isinstance(given, PairInput)
        rule = given.terms.stopping
        earlier = self.need(given, EarlierPreferences).before(given.question, given.group_key)
        # The queries and the order that a view leaves are not those that the rule was registered for.
        if given.terms.is_view:
            return None
        if rule is None or earlier or given.group_key != Rater.Kind.PERSON or given.group.kind == JURY:
            return None
        cells = list(given.items.cells(("arm", "pair")))
        level = 1 - (1 - LEVEL) / max(len(cells), 1)
        order = np.array(design.looks_order(given.items.queries, given.terms.seed), dtype=np.int64)
        gathered = self.need(given, GatheredJudgments)
        pairs = tuple(
            _latest(given, rule, cell, rows, order, level, gathered.redundancy) for cell, rows in cells
        )
        return LooksAtPairs(rule.stored, LEVEL, gathered.withdrawn, pairs)

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(self._of_pair)

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        for group in view.groups:
            found = self.of(group) if self.is_in(group) else None
            if found is None:
                continue
            rule = StoppingRule.of(found.rule)
            assert rule is not None
            closed = view.report["study"]["status"] == Status.CLOSED
            build = Builder(
                f"The first system's {STOPPABLE[rule.figure]}, in percent, with an interval that holds at every look, "
                "for all pairs together in 95 of 100 studies."
                if rule.figure == "win_rate"
                else f"{STOPPABLE[rule.figure].capitalize()}, in percent, with an interval that holds at every look, "
                "for all pairs together in 95 of 100 studies.",
                columns(["Pair", "Setting", "Figure", "n", "Complete", "Queries", "Rule"], names=2),
            )
            for each in found.pairs:
                build.add(
                    head(view.pair(each)),
                    words(view.arm(each.arm)),
                    build.share(each.estimate),
                    build.n(each.estimate),
                    words(f"{each.complete:,}"),
                    words(f"{each.queries:,}"),
                    words(_met(each.met_at, closed=closed)),
                )
            said = [_said(rule, found.pairs, closed=closed), *_withdrawn(found.withdrawn), NO_OTHERS]
            yield Block("", tuple(said), (build.build(),))

    def methods(self, view: ReportView) -> Iterable[str]:
        for record in self.records(view):
            rule = StoppingRule.of(record.rule)
            yield (
                f"The study was registered at launch to stop {rule}. Queries enter once all of their judgments are in, "
                "in an order fixed by the study's seed. The interval is a confidence sequence by betting "
                "(Waudby-Smith and Ramdas 2024), with the error of 5 % divided among the pairs, and holds at every "
                "look. No p-value is given for that figure."
            )


FIGURE = LooksFigure()


def _latest(
    given: PairInput,
    rule: StoppingRule,
    cell: ItemCell,
    rows: Ints,
    order: Ints,
    level: float,
    redundancy: int,
) -> LatestLook:
    items, n = given.items, len(given.items.queries)
    counts, query = given.counts[rows], items.query[rows]
    values = query_values(counts, query, n, rule.figure)
    complete = complete_queries(counts, query, n, max(redundancy, 1))
    here = order[np.isin(order, query)]
    found = looks_at(values, complete, here, half_width=rule.half_width, level=level)
    return LatestLook(
        **vars(cell),
        estimate=found.estimate,
        complete=found.complete,
        queries=found.queries,
        met_at=found.met_at,
    )


def _withdrawn(n: int) -> Iterator[str]:
    """The condition on which the interval holds where items were withdrawn."""
    if n:
        items, whose = ("1 item was", "its") if n == 1 else (f"{n:,} items were", "their")
        yield f"{items} withdrawn after launch: the interval holds if {whose} judgments were no reason for it."


def _met(at: int | None, *, closed: bool) -> str:
    if at is None:
        return "not met" if closed else "not yet met"
    return f"met with {at:,} queries"


def _said(rule: StoppingRule, pairs: Sequence[LatestLook], *, closed: bool) -> str:
    """The rule, and how far it is."""
    met = [each.met_at for each in pairs if each.met_at is not None]
    if met and len(met) == len(pairs):
        may = "" if closed else ": the study may be closed"
        state = f"It is met, with at most {max(met):,} queries of a pair{may}."
    elif closed:
        state = f"The study was closed without meeting it: {len(met)} of {len(pairs)} pairs do."
    else:
        state = f"It is not met yet: {len(met)} of {len(pairs)} pairs meet it."
    return f"The study stops {rule}. {state}"

"""Order effects: what people answer in the first, second and last third of their own work."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import P_COLUMNS, Builder, columns, words
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, MeasuresInput, PairInput, points_of
from analytics.figures.report_view import ReportView, group_head
from analytics.frames.work_order import WorkOrder
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate, LeftOut
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.resampling import SHARE, Range
from analytics.statistics.core.tidy import MISSING, TIE, UNKNOWN_ORDER, Floats, Ints, distinct
from analytics.statistics.core.values import Values, point_columns
from analytics.statistics.entries.entry_sets import N_DECISIONS
from analytics.statistics.preferences.best_picks import picks_as_values
from analytics.statistics.rankings.concordance import tau_with_others
from analytics.statistics.raters.order_effects import order_effect, share_of_others, without_order
from evaluation.protocols import Kind, QuestionSpec

KEY = "raters/order_effects"
# What is taken of an answer, and the name of its row.
NAMES = {
    "mean": "mean",
    "yes": "yes, %",
    "ties": "ties, %",
    "first_shown": "prefer the response shown first, ties left out, %",
    "alike": "others who answer alike, %",
    "tau": "\N{GREEK SMALL LETTER TAU}-b with the others' rankings",
}
# Measured in points of their own, and not in shares.
NUMBERS = ("mean", "tau")
TAU: Range = (-1.0, 1.0)


class Measured(NamedTuple):
    """A number of each judgment, nan where it has none, and the range that they lie in."""

    name: str
    values: Floats
    within: Range


@dataclass(frozen=True)
class MeasuredOrder:
    """A measure of answers in the first, second and last third, and the last less the first.

    It is a mean; the share of yes, of ties, of preferences for the response shown first, or of others who answer alike;
    or of a ranking the mean tau-b with the others'. The test is of no difference, None where one of the two thirds has
    no answer.
    """

    measure: str
    thirds: tuple[Estimate, ...]
    difference: Estimate
    test: Tested | None


@dataclass(frozen=True)
class OrderEffects:
    """Along each person's own work, of answers whose order is recorded."""

    measures: tuple[MeasuredOrder, ...]
    left_out: tuple[LeftOut, ...]


class OrderEffectsFigure(Figure[OrderEffects]):
    needs = (WorkOrder,)
    heading = "raters"
    place = 96
    deferred_as = "order in people's work"
    definition = (
        "Order effects of people's work: ratings' mean, ties and preferences for the response shown first, of "
        "choices, picks and decisions on drafts the share of others who answer alike, and of rankings tau-b with the "
        "others', in the first, second and last third of each person's judgments, and the last third minus the first "
        "with a test."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in ("pairs", "rated", "choice", "picks", "ranking", "entries")

    def is_of(self, given: FigureInput) -> bool:
        """Of people and groups of them."""
        return given.is_of_people and not isinstance(given, MeasuresInput)

    def compute(self, given: FigureInput) -> OrderEffects | None:
        """None where no order of their work is recorded."""
        thirds = self.need(given, WorkOrder).thirds
        if isinstance(given, PairInput):
            third = thirds[given.group.read]
            query, measured = given.items.query[given.group.readings.item], list(_of_pairs(given))
        else:
            assert isinstance(given, AnswerInput)
            answers = given.answers
            # A ranking is one answer, and not one of each of its responses.
            at = distinct(answers.judgment).first if given.form == "ranking" else np.arange(len(answers))
            third = thirds[answers.judgment[at]]
            query, measured = given.items.query[answers.item[at]], [_of_answers(given)]
        if not (third >= 0).any():
            return None
        return OrderEffects(
            tuple(_record(given, each, third, query, len(measured)) for each in measured),
            without_order(third),
        )

    def tests(self, record: OrderEffects) -> Iterator[FamilyTest]:
        for each in record.measures:
            if each.test is not None:
                yield FamilyTest("order in the work", each.test)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        thirds = ["First third", "Second third", "Last third"]
        questions = view.asked(KEY)
        found = [(question, group) for question in questions for group in question.groups]
        build = Builder(
            "Answers along each person's own work, and the last third minus the first, of shares in points, with a "
            "sign-flip test over queries.",
            columns(["Raters", "Question", "Of", *thirds, "Last minus first", *P_COLUMNS, "n"], names=3),
            foot=_foot([OrderEffectsFigure.of(group).left_out for _, group in found]),
        )
        for question, group in found:
            for each in OrderEffectsFigure.of(group).measures:
                write = build.coefficient if each.measure in NUMBERS else build.share
                build.add(
                    group_head(group),
                    words(question.prompt),
                    words(NAMES[each.measure]),
                    *(write(third) for third in each.thirds),
                    write(each.difference),
                    *build.tested(each.test, each.difference.undefined),
                    build.n(each.difference),
                )
        if build.rows:
            yield Block("Order in the work", tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Order effects compare the last with the first third of each person's judgments, in the order in which "
            "they were submitted, by a sign-flip test over queries (raters share the items, and may share their "
            "order), corrected for the number of questions (Holm)."
        )


FIGURE = OrderEffectsFigure()


def _foot(found: list[tuple[LeftOut, ...]]) -> str:
    """The most answers that any row lacks, by reason: rows of a form lack the same ones."""
    most: dict[str, int] = {}
    for parts in found:
        for part in parts:
            most[part.reason] = max(most.get(part.reason, 0), part.n)
    told = "; ".join(f"{n:,} {reason}" for reason, n in most.items())
    return f"Not included: {told}." if told else ""


def _record(given: FigureInput, each: Measured, third: Ints, query: Ints, n_tests: int) -> MeasuredOrder:
    purpose = f"order in the work {each.name}"
    found = order_effect(
        each.values,
        third,
        query,
        within=each.within,
        unit="judgments" if isinstance(given, PairInput) else "answers",
        resample=given.resample(purpose),
        tests=given.tests(purpose, n_tests),
    )
    return MeasuredOrder(each.name, **vars(found))


def _of_pairs(given: PairInput) -> Iterator[Measured]:
    readings = given.group.readings
    label = readings.label
    if given.question.ties:
        yield Measured("ties", np.where(label == MISSING, np.nan, label == TIE), SHARE)
    decided = (label != MISSING) & (label != TIE) & (readings.first != UNKNOWN_ORDER)
    yield Measured("first_shown", np.where(decided, label == readings.first, np.nan), SHARE)


def _of_answers(given: AnswerInput) -> Measured:
    if given.form == "picks":
        return _alike(picks_as_values(given.answers.as_picks()), None)
    if given.form == "choice":
        return _alike(given.values, points_of(given.question))
    if given.form == "entries":
        return _alike(given.values, tuple(range(N_DECISIONS)))
    if given.form == "ranking":
        return Measured("tau", tau_with_others(given.answers.as_ranks()), TAU)
    if given.question.kind == Kind.CHECKLIST:
        return Measured("yes", given.answers.value, SHARE)
    return Measured("mean", given.answers.value, given.ends)


def _alike(values: Values, points: tuple[float, ...] | None) -> Measured:
    label, table, _ = point_columns(values.value, level="nominal", points=points)
    unit = np.unique(values.unit, return_inverse=True)[1]
    counts = count_matrix(unit, label, int(unit.max(initial=-1)) + 1, len(table))
    return Measured("alike", share_of_others(counts, unit, label), SHARE)

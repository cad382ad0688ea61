"""Associations of the answers that a rater gives to two questions about the same thing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Table, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, AnswerInput, FigureInput, PairInput, level_of
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import EarlierPreferences
from analytics.figures.report_view import ReportView, tag_of
from analytics.frames.arrays import Answers
from analytics.frames.pairs import PairGroup
from analytics.statistics.associations.ordered import OrderedAssociation, ordered_association
from analytics.statistics.core.estimates import Estimate, present
from analytics.statistics.core.tidy import FIRST, MISSING, SECOND, TIE, Ints, Judgments
from evaluation.protocols import Kind, QuestionSpec

TAU, RHO = "\N{GREEK SMALL LETTER TAU}", "\N{GREEK SMALL LETTER RHO}"
ONE_ONLY = "{unit} with an answer to one of the two"
OVERALL = "overall"


@dataclass(frozen=True)
class QuestionAssociation:
    """Kendall's tau-b and Spearman's rho with the answers to an earlier question, by its key."""

    question: str
    tau: Estimate
    rho: Estimate


@dataclass(frozen=True)
class QuestionAssociations:
    """Of every earlier question about the same thing."""

    beside: tuple[QuestionAssociation, ...]


class QuestionsFigure(Figure[QuestionAssociations]):
    needs = (EarlierPreferences,)
    heading = "associations"
    place = 10
    deferred_as = "associations of questions"
    definition = (
        "Kendall's tau-b and Spearman's rho between a rater's answers to two questions about the same thing, such as "
        "each aspect and the overall rating, or two preferences on one pair."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or (form == "rated" and _is_ordered(question))

    def is_of(self, given: FigureInput) -> bool:
        if isinstance(given, PairInput):
            return bool(self._earlier(given))
        assert isinstance(given, AnswerInput)
        return any(_earlier(given))

    def _earlier(self, given: PairInput) -> list[tuple[QuestionSpec, PairGroup]]:
        return self.need(given, EarlierPreferences).before(given.question, given.group_key)

    def compute(self, given: FigureInput) -> QuestionAssociations:
        """AGENT-CQ Table 3 and Figure 3; each two questions stand in the record of the later one."""
        if isinstance(given, PairInput):
            found = [(asked.key, _associated_pairs(given, group)) for asked, group in self._earlier(given)]
        else:
            assert isinstance(given, AnswerInput)
            found = [(key, _associated(given, other)) for key, other in _earlier(given)]
        return QuestionAssociations(
            tuple(QuestionAssociation(key, each.tau, each.rho) for key, each in found)
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        asked = [
            question.of_groups(each for each in question.groups if self.is_in(each))
            for question in view.judged
        ]
        # Those with the last question of the form, which mostly is the overall one, come first.
        asked = [question for question in reversed(asked) if question.groups]
        for group in view.groups:
            table = self._table(view, asked, group)
            if table.rows:
                is_lead = group.key == view.leading.key
                yield Block(
                    view.title_for(group, "Answers to two questions"),
                    tables=(table,),
                    plot=self._plot(view, asked) if is_lead else None,
                    folded=True,
                    tag=tag_of(group),
                )

    def _table(self, view: ReportView, asked: Sequence[QuestionView], group: GroupView) -> Table:
        prompts = {question.key: question.prompt for question in view.judged}
        build = Builder(
            f"Kendall's {TAU}-b and Spearman's {RHO} between the answers of a rater to two questions about the same "
            "thing.",
            columns(["Question", "and", TAU, RHO, "n"], names=2),
        )
        for question, records in view.answered(asked, group):
            for each in self.of(records).beside:
                build.add(
                    head(question.prompt),
                    words(prompts[each.question]),
                    build.coefficient(each.tau),
                    build.coefficient(each.rho),
                    build.n(each.tau),
                )
        return build.build()

    def _plot(self, view: ReportView, asked: Sequence[QuestionView]) -> DotPlot | None:
        """Every aspect beside the overall question, where the form has one."""
        overall = next((question for question in asked if question.key == OVERALL), None)
        if overall is None:
            return None
        prompts = {question.key: question.prompt for question in view.judged}
        marks: dict[str, list[tuple[GroupView, Estimate]]] = {}
        for group in view.plotted_groups:
            found = view.group_in(overall, group)
            for each in self.of(found).beside if found else ():
                marks.setdefault(prompts[each.question], []).append((group, each.rho))
        return score_plot(
            marks.items(),
            what=f"Spearman's correlation with {overall.prompt}",
            axis="Spearman's correlation",
            caption=f"Spearman's correlation with “{overall.prompt}”.",
        )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Two questions are correlated over what each rater said of the same thing, every such pair of answers with "
            "the same weight; of a preference a tie lies between the two responses."
        )


FIGURE = QuestionsFigure()


def _is_ordered(question: QuestionSpec) -> bool:
    return question.kind == Kind.SCALE and level_of(question) != "nominal"


def _earlier(given: AnswerInput) -> Iterator[tuple[str, Answers]]:
    """The same group's answers to the questions that can be held against it and come earlier in the form."""
    for other in given.frame.questions:
        if other.key == given.question.key:
            return
        if _is_ordered(other) and other.over == given.question.over and len(given.group.answers[other.key]):
            yield other.key, given.group.answers[other.key]


def _associated(given: AnswerInput, other: Answers) -> OrderedAssociation:
    one, two = given.answers.codes_beside(other)
    if np.array_equal(one, two):
        at_one = at_two = np.arange(len(one))
    else:
        _, at_one, at_two = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    x, y = (
        np.unique(np.round(each.value[at], 9), return_inverse=True)[1]
        for each, at in ((given.answers, at_one), (other, at_two))
    )
    alone = len(one) + len(two) - 2 * len(at_one)
    return ordered_association(
        x,
        y,
        given.items.query[given.answers.item[at_one]],
        resample=given.resample("two questions"),
        unit="pairs of answers",
        left_out=present({ONE_ONLY.format(unit=given.unit): alone}),
    )


def _associated_pairs(given: PairInput, other: PairGroup) -> OrderedAssociation:
    mine, theirs = (each.where(each.label != MISSING) for each in (given.group.judgments, other.judgments))
    names = {name: code for code, name in enumerate(dict.fromkeys([*mine.raters, *theirs.raters]))}
    one, two = (_pair_keys(each, names, len(given.items)) for each in (mine, theirs))
    _, at_one, at_two = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    # A tie lies between the two responses.
    order = np.empty(3, dtype=np.int64)
    order[[FIRST, TIE, SECOND]] = 0, 1, 2
    return ordered_association(
        order[mine.label[at_one]],
        order[theirs.label[at_two]],
        given.items.query[mine.item[at_one]],
        resample=given.resample("two questions"),
        unit="pairs of answers",
        left_out=present({ONE_ONLY.format(unit="judgments"): len(one) + len(two) - 2 * len(at_one)}),
    )


def _pair_keys(judgments: Judgments, names: dict[str, int], n_items: int) -> Ints:
    code = np.array([names[name] for name in judgments.raters], dtype=np.int64)
    return code[judgments.rater] * (n_items + 1) + judgments.item

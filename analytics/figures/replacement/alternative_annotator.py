"""The alternative-annotator test of every judge: whether it fits people as well as one of them does."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import PERCENT, legend, mark_of, short_percent
from analytics.display.numbers import decimal, percent
from analytics.display.plots import DotPlot, Mark, PlotRow, dot_plot
from analytics.display.tables import Builder, Table, columns, count, head, words
from analytics.figures.beside_people import TITLE, is_single_judge
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, UNITS, AnswerInput, FigureInput, PairInput, level_of
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView
from analytics.frames.needs import NeedSource
from analytics.statistics.core.counts import unique_mode
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import MISSING
from analytics.statistics.replacement.alternative_annotator import (
    FDR,
    LEAST_ANNOTATORS,
    LEAST_ITEMS,
    PASSING,
    SharedAnswers,
    alternative_annotator,
)
from evaluation.protocols import Kind, Over, QuestionSpec

# Of people, those with the most answers; a study may have thousands.
MOST_LISTED = 50
CORRECTION = "Benjamini-Yekutieli"


@dataclass(frozen=True)
class TestedAnnotator:
    """A person, by pseudonym, of whose `n` items the judge and the person fit the others as well or better in such
    shares."""

    rater: str
    n: int
    judge: float
    own: float
    p_value: float
    p_adjusted: float
    is_beaten: bool


@dataclass(frozen=True)
class AlternativeJudge:
    """The alternative annotator test of a judge: its advantage (rho) and the share of people whom it beats (omega), of
    which it passes with one half or more.

    `epsilon` is the study's: by how much a judge may fit people worse than one of them does. `score` is of the fit with
    others, of labels and of numbers; `people` have enough items to be tested against, and the annotators are those of
    them with the most answers, at most 50. Their tests are in no family of Holm's.
    """

    epsilon: float
    advantage: Estimate
    annotators: tuple[TestedAnnotator, ...]
    winning_rate: float | None
    passes: bool | None
    score: Literal["accuracy", "rmse"]
    correction: str
    people: int


@dataclass(frozen=True)
class JudgeTolerance:
    """By how much a judge may fit people worse than one of them does (`Study.epsilon`)."""

    epsilon: float

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(source.study.epsilon)


class AlternativeAnnotatorFigure(Figure[AlternativeJudge]):
    needs = (JudgeTolerance,)
    heading = "judges"
    place = 13
    deferred_as = "alternative-annotator test"
    definition = (
        "The alternative-annotator test of every judge: the share of people whom it beats by epsilon "
        "(Benjamini-Yekutieli, not Holm), and its average advantage probability, overall and by person."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in (PAIRS, "rated", "choice", "picks")

    def is_of(self, given: FigureInput) -> bool:
        return is_single_judge(given)

    def compute(self, given: FigureInput) -> AlternativeJudge:
        numbers = not isinstance(given, PairInput) and level_of(given.question) != "nominal"
        answers, raters = shared_answers(given)
        found = alternative_annotator(
            answers,
            epsilon=self.need(given, JudgeTolerance).epsilon,
            numbers=numbers,
            unit=given.unit if isinstance(given, AnswerInput) else UNITS[Over.ITEM],
            resample=given.resample("alternative annotator"),
        )
        most = sorted(found.annotators, key=lambda each: (-each.n, raters[each.rater]))[:MOST_LISTED]
        annotators = (
            TestedAnnotator(**(vars(each) | {"rater": raters[each.rater]}), is_beaten=each.is_beaten)
            for each in most
        )
        return AlternativeJudge(
            found.epsilon,
            found.advantage,
            tuple(annotators),
            found.winning_rate,
            found.passes,
            score="rmse" if numbers else "accuracy",
            correction=CORRECTION,
            people=len(found.annotators),
        )

    def title(self, view: ReportView) -> str:
        return TITLE

    def blocks(self, view: ReportView) -> Iterator[Block]:
        tested = [
            (question, group, self.of(group))
            for question in view.judged
            for group in question.groups
            if self.is_in(group)
        ]
        if not tested:
            return
        epsilon = tested[0][2].epsilon
        build = Builder(
            f"Alternative-annotator test with \N{GREEK SMALL LETTER EPSILON} = {epsilon:g}: the winning rate "
            "\N{GREEK SMALL LETTER OMEGA} is the share of people whom the judge beats, in percent, the advantage "
            "\N{GREEK SMALL LETTER RHO} the mean share of their answers on which the judge fits the other people at "
            "least as well as they do.",
            columns(
                ["Question", "Judge", "Winning rate", "Passes", "Advantage", "People", "n"],
                names=2,
            ),
            foot=f"One-sided t-tests over items, corrected by {CORRECTION} for a false discovery rate of {FDR:g}, not "
            "by Holm as other tests here; n counts what was answered, of ratings the responses. A judge passes with a "
            f"winning rate of {PASSING:.0%}.",
        )
        for question, group, found in tested:
            reason = found.advantage.undefined if found.winning_rate is None else ""
            build.add(
                head(question.prompt or "Preference"),
                words(group.label),
                build.number(found.winning_rate, percent, reason),
                words("" if found.passes is None else "yes" if found.passes else "no"),
                build.share(found.advantage),
                count(found.people),
                build.n(found.advantage),
            )
        yield Block("Alternative-annotator test", tables=(build.build(),), plot=_winning_rates(tested))
        for question, group, found in tested:
            if found.annotators:
                yield Block(
                    f"{question.prompt or 'Preference'}: {group.label} against each person",
                    tables=(_by_person(view, question, group, found),),
                    plot=_differences(view, group, found),
                    folded=True,
                )

    def methods(self, view: ReportView) -> Iterable[str]:
        epsilon = self.records(view)[0].epsilon
        yield (
            "The alternative-annotator test leaves out each person in turn and scores them and the judge by how well "
            "they fit the others on each of the person's items: by accuracy, and for scales by minus the root mean "
            f"square error. The judge beats a person if it is less than \N{GREEK SMALL LETTER EPSILON} = {epsilon:g} "
            "behind in the share of items won, by a one-sided t-test over items; these tests are corrected by "
            f"{CORRECTION}, and not by Holm. It takes at least {LEAST_ANNOTATORS} people with {LEAST_ITEMS} answers "
            "each, and takes answers for independent ones, those to several responses of an item as well."
        )


FIGURE = AlternativeAnnotatorFigure()


def shared_answers(given: FigureInput) -> tuple[SharedAnswers, tuple[str, ...]]:
    """People's answers and the judge's to the same units, and people's pseudonyms."""
    if isinstance(given, PairInput):
        assert isinstance(given.people, PairInput)
        judgments, label = given.people.group.judgments, unique_mode(given.votes)
        known = judgments.vote != MISSING
        return SharedAnswers(
            unit=judgments.item[known].astype(np.int64),
            rater=judgments.rater[known].astype(np.int64),
            value=judgments.vote[known].astype(np.float64),
            judge=np.where(label == MISSING, np.nan, label),
            query=given.items.query,
        ), judgments.raters
    assert isinstance(given, AnswerInput)
    assert isinstance(given.people, AnswerInput)
    ours, own = given.people.values, given.values
    # No pick is an answer, and codes of labels begin at 0.
    shift = 1 if given.question.kind == Kind.PREFERENCE else 0
    least = -shift if given.has_labels else -np.inf
    judge = np.full(len(given.items) * max(len(given.answers.parts), 1), np.nan)
    judge[own.unit] = np.where(own.value >= least, own.value + shift, np.nan)
    known = ours.value >= least
    query = np.repeat(given.items.query, max(len(given.answers.parts), 1))
    return SharedAnswers(
        unit=ours.unit[known].astype(np.int64),
        rater=ours.rater[known].astype(np.int64),
        value=ours.value[known] + shift,
        judge=judge,
        query=query,
    ), given.people.group.raters


def _winning_rates(tested: list[tuple[QuestionView, GroupView, AlternativeJudge]]) -> DotPlot | None:
    """A row per question and a mark per judge, beside the rate that passes."""
    rows: dict[str, list[Mark]] = {}
    for question, group, found in tested:
        mark = mark_of(group, found.advantage)
        rate = replace(mark, value=found.winning_rate, low=None, high=None, n=found.people)
        rows.setdefault(question.prompt or "Preference", []).append(rate)
    marks = [mark for row in rows.values() for mark in row]
    if all(mark.value is None for mark in marks):
        return None
    epsilon = tested[0][2].epsilon
    return dot_plot(
        [PlotRow(label, tuple(row)) for label, row in rows.items()],
        what="Winning rate",
        axis="Winning rate",
        unit=PERCENT,
        caption=f"Winning rate at \N{GREEK SMALL LETTER EPSILON} = {epsilon:g}; on or right of the dotted line a judge "
        f"passes. {legend(marks)}.",
        form=short_percent,
        within=(0.0, 1.0),
        reference=PASSING,
        whole=True,
    )


def _differences(view: ReportView, group: GroupView, found: AlternativeJudge) -> DotPlot:
    """Each listed person's lead over the judge, beside epsilon."""
    rows = [
        PlotRow(
            view.raters.get(each.rater, each.rater),
            (Mark("person", "lead", each.own - each.judge, n=each.n),),
        )
        for each in found.annotators
    ]
    return dot_plot(
        rows,
        what=f"Lead of each person over {group.label}",
        axis="Person's lead over the judge, share of items",
        caption="Share of items on which the person fits the others at least as well, less that of "
        f"{group.label}; the dotted line is \N{GREEK SMALL LETTER EPSILON} = {found.epsilon:g}.",
        form=decimal,
        reference=found.epsilon,
        hints=("judge fits better", "person fits better"),
    )


def _by_person(view: ReportView, question: QuestionView, group: GroupView, found: AlternativeJudge) -> Table:
    listed = found.annotators
    build = Builder(
        f"{question.prompt or 'Preference'}: {group.label} against each person, on the person's items. Judge and "
        "person: in how many items each fits the others at least as well as the other of the two, in percent.",
        columns(["Person", "Judge", "Person fits", "Difference", "p", f"p ({CORRECTION})", "Beaten", "n"]),
        foot=f"The {len(listed)} people with the most answers, of {found.people:,}."
        if len(listed) < found.people
        else "",
    )
    for each in listed:
        build.add(
            head(view.raters.get(each.rater, each.rater)),
            build.number(each.judge, percent),
            build.number(each.own, percent),
            build.number(each.own - each.judge, decimal),
            build.p(each.p_value),
            build.p(each.p_adjusted),
            words("yes" if each.is_beaten else "no"),
            count(each.n),
        )
    return build.build(compact=True)

"""The kappa of a group, such as a jury: its mean over pairs of raters, of ratings weighted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.display.blocks import Block
from analytics.display.kappas import COHENS_KAPPA, Row, are_many, distribution
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, AnswerInput, FigureInput, PairInput, level_of, points_of
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, group_head, tag_of
from analytics.statistics.agreement.kappa import Weights
from analytics.statistics.agreement.mean_kappa import MeanKappas, mean_kappas
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.values import point_codes
from evaluation.protocols import QuestionSpec

LABELS: tuple[Weights, ...] = ("nominal",)
ORDERED: tuple[Weights, ...] = ("nominal", "linear", "quadratic")
NAMES: dict[str, str] = {"nominal": "Unweighted", "linear": "Linear", "quadratic": "Quadratic"}


@dataclass(frozen=True)
class KappasOfPair:
    """Two raters, by pseudonym, their share of equal answers and Cohen's kappa by its weights."""

    rater_1: str
    rater_2: str
    agreement: Estimate
    kappas: Mapping[Weights, Estimate]


@dataclass(frozen=True)
class GroupKappas:
    """The share of equal answers and Cohen's kappa by its weights, averaged over pairs of raters, and of every pair.

    The pairs of preferences are in agreement/kappa.
    """

    agreement: Estimate
    kappas: Mapping[Weights, Estimate]
    pairs: tuple[KappasOfPair, ...]


class MeanKappaFigure(Figure[GroupKappas]):
    heading = "agreement"
    place = 70
    deferred_as = "kappa over pairs of raters"
    definition = (
        "Cohen's kappa averaged over the pairs of raters of a group, such as a jury's members, with their share of "
        "equal answers; of ratings also weighted linearly and quadratically, and for every pair."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in (PAIRS, "rated", "choice")

    def is_of(self, given: FigureInput) -> bool:
        return given.has_several_raters

    def compute(self, given: FigureInput) -> GroupKappas:
        """AGENT-CQ Tables 1 and 2."""
        weights = LABELS if given.form == PAIRS or level_of(given.question) == "nominal" else ORDERED
        found, raters = _of_pairs(given) if isinstance(given, PairInput) else _of_answers(given, weights)
        # Of preferences the pairs stand in a figure of their own.
        told = () if given.form == PAIRS else found.pairs
        pairs = (
            KappasOfPair(
                raters[each.rater_1], raters[each.rater_2], each.agreement, _named(weights, each.kappas)
            )
            for each in told
        )
        return GroupKappas(found.agreement, _named(weights, found.kappas), tuple(pairs))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = [
            question.of_groups(each for each in question.groups if self.is_in(each))
            for question in view.judged
        ]
        means = self._means(view, questions)
        if means.rows:
            yield Block("Kappa between raters", tables=(means,), folded=True)
        for group in view.groups_of_several:
            pairs = self._pairs(view, group, questions)
            if not pairs.rows:
                continue
            asked = [(question, self.of(found)) for question, found in view.answered(questions, group)]
            if any(are_many(found.pairs) for _, found in asked):
                heading = view.title_for(group, "Kappa over pairs of raters")
                rows = list(_by_weights(view, asked))
                yield distribution(
                    heading, pairs, ["Question", "Weights"], rows, tag=tag_of(group), folded=True
                )
            else:
                heading = view.title_for(group, "Kappa of every pair of raters")
                yield Block(heading, tables=(pairs,), folded=True)

    def _means(self, view: ReportView, questions: Sequence[QuestionView]) -> Table:
        ordered = any(len(self.of(g).kappas) > 1 for q in questions for g in q.groups)
        weights = ORDERED if ordered else LABELS
        labels = [NAMES[each] for each in weights] if ordered else [COHENS_KAPPA]
        build = Builder(
            f"{COHENS_KAPPA} and the share of equal answers in percent, averaged over pairs of raters; n is the "
            "number of pairs.",
            columns(["Raters", "Question", "Equal", *labels, "n"], names=2),
        )
        for group in view.groups_of_several:
            for question, records in view.answered(questions, group):
                found = self.of(records)
                build.add(
                    group_head(group),
                    words(question.prompt),
                    build.share(found.agreement),
                    *(_kappa(build, found, each) for each in weights),
                    build.n(found.kappas["nominal"]),
                )
        return build.build()

    def _pairs(self, view: ReportView, group: GroupView, questions: Sequence[QuestionView]) -> Table:
        asked = list(view.answered(questions, group))
        ordered = any(len(self.of(each).kappas) > 1 for _, each in asked)
        weights = ORDERED if ordered else LABELS
        labels = [NAMES[each] for each in weights] if ordered else [COHENS_KAPPA]
        build = Builder(
            f"{COHENS_KAPPA} between two raters and their share of equal answers in percent, on what both rated.",
            columns(["Question", "Rater", "and", "Equal", *labels, "n"], names=3),
        )
        for question, records in asked:
            for pair in self.of(records).pairs:
                of = where.of_two(view.report, pair.rater_1, pair.rater_2, question.key)
                build.add(
                    head(question.prompt),
                    replace(words(view.raters.get(pair.rater_1, pair.rater_1)), where=where.named(of)),
                    replace(words(view.raters.get(pair.rater_2, pair.rater_2)), where=where.named(of)),
                    build.share(pair.agreement),
                    *(_kappa(build, pair, each) for each in weights),
                    build.n(pair.agreement),
                    of=of,
                )
        return build.build()

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The kappa of several raters is the mean of Cohen's kappa over the pairs of them that share ten units or "
            "more, of the twelve raters with the most answers; weights are the distance of two ratings (linear) or "
            "its square (quadratic)."
        )


FIGURE = MeanKappaFigure()


def _by_weights(view: ReportView, asked: Iterable[tuple[QuestionView, GroupKappas]]) -> Iterator[Row]:
    """The kappas of each question's pairs, with the name of the question and that of their weights."""
    for question, found in asked:
        judged = [where.of_two(view.report, each.rater_1, each.rater_2, question.key) for each in found.pairs]
        for weights in found.kappas if found.pairs else ():
            kappas = [pair.kappas[weights] for pair in found.pairs]
            yield (question.prompt, NAMES[weights]), list(zip(kappas, judged, strict=True))


def _of_pairs(given: PairInput) -> tuple[MeanKappas, Sequence[str]]:
    judgments = given.group.judgments
    found = mean_kappas(
        judgments.item,
        judgments.rater,
        judgments.vote,
        given.items.query[judgments.item],
        range(given.n_votes),
        LABELS,
        resample=given.resample("mean kappa"),
    )
    return found, judgments.raters


def _of_answers(given: FigureInput, weights: Sequence[Weights]) -> tuple[MeanKappas, Sequence[str]]:
    assert isinstance(given, AnswerInput)
    values, points = given.values, points_of(given.question)
    code = point_codes(values.value, points)
    found = mean_kappas(
        values.unit,
        values.rater,
        np.asarray(code),
        values.query,
        points,
        weights,
        resample=given.resample("mean kappa"),
        what=given.unit,
    )
    return found, given.group.raters


def _named(weights: Sequence[Weights], kappas: Sequence[Estimate]) -> Mapping[Weights, Estimate]:
    return dict(zip(weights, kappas, strict=True))


def _kappa(build: Builder, found: GroupKappas | KappasOfPair, weights: Weights) -> TableCell:
    return build.coefficient(found.kappas[weights]) if weights in found.kappas else words("")

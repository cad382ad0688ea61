"""Agreement resampled in two ways: over queries, and over queries and raters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import decimal, percent
from analytics.display.tables import Builder, columns, count, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    MEASURES,
    PAIRS,
    AnswerInput,
    FigureInput,
    PairInput,
    level_of,
    points_of,
)
from analytics.figures.groups import GroupView
from analytics.figures.report_view import PairView, ReportView, group_head
from analytics.statistics.agreement.alpha import Level
from analytics.statistics.agreement.two_ways import TwoWays, two_way_agreement, two_way_alpha, two_way_tau
from analytics.statistics.core.values import Values, point_columns
from analytics.statistics.entries.entry_sets import N_DECISIONS
from analytics.statistics.preferences.best_picks import picks_as_values
from evaluation.protocols import QuestionSpec

KEY = "agreement/two_ways"
FIGURES = {
    "pairwise": ("two raters agree, %", percent),
    "alpha": ("alpha", decimal),
    "tau": ("mean \N{GREEK SMALL LETTER TAU}-b", decimal),
}
LIMITS = ["Over queries", "Over queries and raters", "n", "Raters"]
TITLE = "Over queries, and over queries and raters"
CAPTION = "Agreement with its interval over queries, and over queries and raters."
# What stands in a record for a figure that is not taken of such a question.


@dataclass(frozen=True)
class AgreementTwoWays:
    """Agreement of so many raters with intervals over queries, and over queries and raters.

    `pairwise` is the chance that two raters give one label, None for scales and rankings; `alpha`, at its level, is
    None for rankings, which alone have `tau`, the mean tau-b over pairs of raters.
    """

    pairwise: TwoWays | None
    alpha: TwoWays | None
    tau: TwoWays | None
    level: Level | None
    raters: int


class TwoWaysFigure(Figure[AgreementTwoWays]):
    heading = "agreement"
    place = 55
    deferred_as = "agreement over queries and raters"
    stops_with = ("agreement",)
    definition = (
        "Agreement on every question with intervals over queries (these raters, other queries) and over queries and "
        "raters (other raters, too): alpha at its level of measurement, of labels without an order also the chance "
        "that two raters agree, and of rankings the mean tau-b of two raters."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form != MEASURES

    def is_of(self, given: FigureInput) -> bool:
        return given.has_several_raters

    def compute(self, given: FigureInput) -> AgreementTwoWays:
        if isinstance(given, PairInput):
            return _of_labels_of_pairs(given)
        assert isinstance(given, AnswerInput)
        return _of_answers(given)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        yield from view.per_pair(_of_pair)
        build = Builder(CAPTION, columns(["Raters", "Question", "Figure", *LIMITS], names=3))
        for group in view.groups_of_several:
            questions = (question for question in view.asked(KEY) if question.form != PAIRS)
            for question, records in view.answered(questions, group):
                _add(build, group, TwoWaysFigure.of(records), question.prompt)
        if build.rows:
            yield Block(TITLE, tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Agreement has two intervals: over queries, for the raters of this study, and over queries and raters, for "
            "raters drawn anew as well."
        )


FIGURE = TwoWaysFigure()


def _of_pair(view: PairView) -> Iterator[Block]:
    build = Builder(CAPTION, columns(["Raters", "Figure", *LIMITS], names=2))
    for group in view.groups:
        if TwoWaysFigure.is_in(group):
            _add(build, group, TwoWaysFigure.of(group))
    if build.rows:
        yield Block(TITLE, tables=(build.build(),), folded=True)


def _add(build: Builder, group: GroupView, record: AgreementTwoWays, *names: str) -> None:
    """A row for each figure that is taken of the question."""
    for key, (name, form) in FIGURES.items():
        found = getattr(record, key)
        if found is None:
            continue
        level = f", {record.level}" if key == "alpha" and names else ""
        build.add(
            group_head(group),
            *(words(each) for each in names),
            words(f"{name}{level}"),
            build.figure(found.over_queries, form),
            build.figure(found.over_both, form),
            build.n(found.over_queries),
            count(record.raters),
            of=where.of(group),
        )


def _of_labels_of_pairs(given: PairInput) -> AgreementTwoWays:
    judgments = given.group.judgments
    found = two_way_agreement(
        judgments.vote,
        judgments.item,
        judgments.rater,
        given.items.query[judgments.item],
        given.n_votes,
        resample=given.resample("two ways"),
    )
    return AgreementTwoWays(found.pairwise, found.alpha, None, "nominal", given.counts_record["raters"])


def _of_answers(given: AnswerInput) -> AgreementTwoWays:
    resample, raters = given.resample("two ways"), given.counts_record["raters"]
    if given.form == "ranking":
        tau = two_way_tau(given.answers.as_ranks(), resample=resample)
        return AgreementTwoWays(None, None, tau, None, raters)
    if given.form == "picks":
        picked = picks_as_values(given.answers.as_picks())
        return _of_labels(given, picked, tuple(np.unique(picked.value).tolist()), unit="items")
    if given.form == "entries":
        return _of_labels(given, given.values, tuple(range(N_DECISIONS)), unit=given.unit)
    level, offered = level_of(given.question), points_of(given.question)
    if level == "nominal":
        return _of_labels(given, given.values, offered, unit=given.unit)
    found = two_way_alpha(given.values, level=level, points=offered, resample=resample, unit=given.unit)
    return AgreementTwoWays(None, found, None, level, raters)


def _of_labels(
    given: AnswerInput, values: Values, points: tuple[float, ...], *, unit: str
) -> AgreementTwoWays:
    found = two_way_agreement(
        point_columns(values.value, level="nominal", points=points)[0],
        values.unit,
        values.rater,
        values.query,
        len(points),
        resample=given.resample("two ways"),
        unit=unit,
    )
    return AgreementTwoWays(found.pairwise, found.alpha, None, "nominal", given.counts_record["raters"])

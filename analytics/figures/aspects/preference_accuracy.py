"""The accuracy of a judge's ratings of single responses: does the one that people prefer have the better one?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, group_head
from analytics.frames.aspects import best_point, towards_best
from analytics.frames.measures import picked_beside_others, picks_of_people, preferred_beside_other
from analytics.frames.needs import NeedSource
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import N_LABELS, Floats, Ints, Items
from analytics.statistics.core.values import unit_means
from analytics.statistics.judges.measures import preference_accuracy
from evaluation.models import Rater
from evaluation.protocols import Kind, Over, QuestionSpec


@dataclass(frozen=True)
class AccuracyOnPreference:
    """The share of people's choices that a group's ratings agree with, by the key of what people were asked."""

    preference: str
    prompt: str
    accuracy: Estimate


@dataclass(frozen=True)
class PreferenceAccuracies:
    """Of a group's ratings of responses, beside people's preferences."""

    by_preference: tuple[AccuracyOnPreference, ...]


@dataclass(frozen=True, eq=False)
class PeoplesPreference:
    """People's votes (n_items, 3) for the first response, the second and neither."""

    question: QuestionSpec
    items: Items
    counts: Ints


@dataclass(frozen=True, eq=False)
class PeoplesPreferences:
    """Every preference between two responses that people gave."""

    found: tuple[PeoplesPreference, ...]

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(
            tuple(
                PeoplesPreference(
                    frame.preference,
                    frame.items,
                    count_matrix(group.judgments.item, group.judgments.label, len(frame.items), N_LABELS),
                )
                for frame in source.frame.pairs
                for group in frame.groups
                if group.key == Rater.Kind.PERSON and frame.preference is not None
            )
        )


class PreferenceAccuracyFigure(Figure[PreferenceAccuracies]):
    needs = (PeoplesPreferences,)
    heading = "judges"
    place = 27
    deferred_as = "accuracy of judges on preferences"
    definition = (
        "How often a response that people prefer to another has a judge's better rating, on every scale whose "
        "better end is known; equal ratings count half."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        rates_responses = question.kind == Kind.SCALE and question.over == Over.RESPONSE
        return rates_responses and best_point(question) in (question.points[0], question.points[-1])

    def is_of(self, given: FigureInput) -> bool:
        """Not of people, and only beside preferences of theirs."""
        assert isinstance(given, AnswerInput)
        return given.group.kind != Rater.Kind.PERSON and len(given.answers) > 0

    def compute(self, given: FigureInput) -> PreferenceAccuracies:
        """LFQA section 5.4, of best picks and of preferences between two."""
        assert isinstance(given, AnswerInput)
        scores = _scores(given)
        found = []
        picks = picks_of_people(given.frame)
        if picks is not None:
            found.append((picks.question, picked_beside_others(picks, scores)))
        for pairs in self.need(given, PeoplesPreferences).found:
            # A preference that is asked of each turn has a row for each: its items are others.
            if len(pairs.items) == len(scores):
                first, second = scores.T
                choices = preferred_beside_other(pairs.counts, first, second, pairs.items.query)
                found.append((pairs.question, choices))
        return PreferenceAccuracies(
            tuple(
                AccuracyOnPreference(
                    question.key,
                    question.prompt,
                    preference_accuracy(
                        chosen, other, query, resample=given.resample(f"accuracy on {question.key}")
                    ),
                )
                for question, (chosen, other, query) in found
                if (np.isfinite(chosen) & np.isfinite(other)).any()
            )
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        build = Builder(
            "Share of people's preferences for one response over another in which it has the judge's better rating, in "
            "percent; equal ratings count half.",
            columns(["Judge", "Rated on", "Preference", "Accuracy", "n"], names=3),
        )
        for question in view.judged:
            for group in question.groups:
                for each in self.of(group).by_preference if self.is_in(group) else ():
                    build.add(
                        group_head(group),
                        words(question.prompt),
                        words(each.prompt),
                        build.share(each.accuracy),
                        build.n(each.accuracy),
                    )
        if build.rows:
            yield Block("Preference accuracy of ratings", tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The preference accuracy of a judge's ratings is over people's preferences, each of a response over "
            "another of its item; ties of people are no preference."
        )


FIGURE = PreferenceAccuracyFigure()


def _scores(given: AnswerInput) -> Floats:
    """The group's mean rating of each response of an item (n_items, m), the better the higher; nan without one."""
    means = unit_means(given.values)
    scores = np.full(given.items.system.shape, np.nan)
    place = np.zeros(len(given.answers.parts), dtype=np.int64)
    place[given.answers.part] = given.answers.response
    # Means of the same ratings in another order may differ in their last bits, which must not break a tie.
    scores[means.item, place[means.part]] = np.round(means.mean, 9) * towards_best(given.question)
    return scores

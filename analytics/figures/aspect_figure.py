"""The common part of figures of aspects beside an overall rating: where they apply, and the ratings they are of."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.figures.figure import AnyRecord, Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import QuestionView
from analytics.figures.needs import DerivedJudges
from analytics.frames.aspects import OVERALL_KEYS, AspectRatings, aspect_ratings, aspects_of
from evaluation.protocols import Kind, QuestionSpec

# Every question of which the report has other scales as aspects has this record.
LEVELS = "aspects/levels"


@dataclass(frozen=True)
class NamedAspect:
    key: str
    prompt: str


class AspectFigure(Figure[AnyRecord]):
    """A figure of an overall scale and the other scales about the same things, of every group that gave both."""

    needs = (DerivedJudges,)
    heading = "aspects"

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE

    def is_of(self, given: FigureInput) -> bool:
        assert isinstance(given, AnswerInput)
        return bool(overall_aspects(given, self.need(given, DerivedJudges)))

    def compute(self, given: FigureInput) -> AnyRecord:
        assert isinstance(given, AnswerInput)
        aspects = overall_aspects(given, self.need(given, DerivedJudges))
        rated = aspect_ratings(given.frame, {given.group_key}, given.question, aspects)
        return self.record(given, aspects, rated)

    @abstractmethod
    def record(self, given: AnswerInput, aspects: Sequence[QuestionSpec], rated: AspectRatings) -> AnyRecord:
        """The record of one group; `rated` has a row for what each rater said of one thing."""


def overall_aspects(given: AnswerInput, derived: DerivedJudges) -> tuple[QuestionSpec, ...]:
    """The aspects of which the question is the overall rating; none where it is not one, or an aspect was asked the
    other way by another revision."""
    named = [about["overall"] for about in derived.by_key.values() if "overall" in about]
    return aspects_of(given.question, given.frame.questions, named)


def is_overall(question: QuestionView) -> bool:
    """True if a question of a report, with its groups, is an overall rating: by its key, or since a judge names it."""
    return question.key in OVERALL_KEYS or any(LEVELS in group.records for group in question.groups)


def fully_rated(rated: AspectRatings) -> AspectRatings:
    """The rows with every aspect and the overall rating."""
    return rated.where(rated.complete & np.isfinite(rated.overall))


def named_aspects(aspects: Sequence[QuestionSpec]) -> tuple[NamedAspect, ...]:
    return tuple(NamedAspect(each.key, each.prompt) for each in aspects)

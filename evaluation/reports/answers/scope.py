"""What the parts of an answers report share: one group's answers to one question, and where randomness comes from."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evaluation import design
from evaluation.analytics.alpha import Level
from evaluation.analytics.estimates import plain
from evaluation.analytics.randomization import Randomization
from evaluation.analytics.resampling import ResampleSpec
from evaluation.analytics.scales import Distribution
from evaluation.analytics.tidy import Ints
from evaluation.analytics.values import Values
from evaluation.answers_frame import AnswerGroup, AnswerItems, Answers, AnswersFrame
from evaluation.protocols import Kind, Over, Question
from evaluation.reports.families import ALPHA

# A scale of more points is taken as one with equal distances.
MOST_ORDINAL_POINTS = 7
# What a question is asked about, in the plural.
UNITS = {
    Over.ITEM: "items",
    Over.RESPONSE: "responses",
    Over.FOLLOW_UP: "follow-up questions",
    Over.FOLLOW_UP_RESPONSE: "follow-up questions of responses",
    Over.VALUE: "values of attributes",
    Over.CHOICE: "tags of items",
}


@dataclass(frozen=True, eq=False)
class AnswerScope:
    """`kinds` is the kind of each of the frame's systems (person, model, prompt)."""

    frame: AnswersFrame
    group: AnswerGroup
    answers: Answers
    kinds: tuple[str, ...]
    seed: int
    replicates: int
    # What answers are about, in the plural, where the question does not say.
    about: str = ""

    @property
    def question(self) -> Question:
        return self.answers.question

    @property
    def items(self) -> AnswerItems:
        return self.frame.items

    @cached_property
    def values(self) -> Values:
        return self.answers.as_values()

    @property
    def unit(self) -> str:
        return self.about or UNITS[self.question.over]

    @property
    def is_yes_or_no(self) -> bool:
        return self.question.kind == Kind.CHECKLIST

    def resample(self, purpose: str) -> ResampleSpec:
        rng = design.generator(self.seed, "report", self.group.key, self.question.key, purpose)
        return ResampleSpec(rng, replicates=self.replicates)

    def tests(self, purpose: str, family: int) -> Randomization:
        """How the tests of a family of so many a question are drawn."""
        seed = design.derived_seed(self.seed, "test", self.group.key, self.question.key, purpose)
        return Randomization(seed, level=ALPHA / max(family * len(self.frame.questions), 1))


def how_many(answers: Answers) -> dict[str, int]:
    """Answers after replicates are reduced, who gave them, and items that they are about."""
    return {
        "answers": len(answers),
        "raters": len(set(answers.rater.tolist())),
        "items": len(set(answers.item.tolist())),
    }


def level_of(question: Question) -> Level:
    """At which level of measurement agreement is taken."""
    if question.kind != Kind.SCALE:
        return "nominal"
    return "ordinal" if len(question.points) <= MOST_ORDINAL_POINTS else "interval"


def points_of(question: Question) -> tuple[float, ...]:
    """The values that a question offers, as numbers; a choice's are the places of its choices."""
    if question.kind == Kind.SCALE:
        return question.points
    if question.kind == Kind.CHOICE:
        return tuple(float(place) for place in range(len(question.choices)))
    return (0.0, 1.0)


def point_records(question: Question) -> list[dict[str, Any]]:
    """The values and what they are called: those of a scale, the labels of a choice, no and yes."""
    if question.kind == Kind.CHOICE:
        return [{"value": each, "label": question.label(each) or each} for each in question.choices]
    if question.kind == Kind.SCALE:
        return [{"value": point, "label": question.label(point)} for point in question.points]
    if question.kind == Kind.CHECKLIST:
        # The two are labels of a list that asks yes or no; tags have no others.
        labels = {0: question.label(0) or "No", 1: question.label(1) or "Yes"}
        return [{"value": value, "label": label} for value, label in labels.items()]
    return []


def distribution_records(question: Question, found: Distribution) -> list[dict[str, Any]]:
    """Number and share of each of the question's values."""
    records = point_records(question)
    return [
        {**record, "n": n, "share": plain(share)}
        for record, n, share in zip(records, found.counts, found.shares, strict=True)
    ]


def several(codes: Ints, names: Iterable[str]) -> list[tuple[int, str]]:
    """(code, name) of those that occur, none where there is only one to tell apart."""
    used = set(np.unique(codes[codes >= 0]).tolist())
    found = [(code, name) for code, name in enumerate(names) if code in used]
    return found if len(found) > 1 else []

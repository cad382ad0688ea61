"""Conditions on the answers of judgments: a value, a range of numbers, or a system that is preferred."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol, Self

from django.db.models import Q
from django.db.models.lookups import Exact

from evaluation.explorer.answers_of import (
    AnswersOf,
    any_of,
    known_system,
    named,
    response_names,
    responses_of,
)
from evaluation.explorer.number_range import NumberRange
from evaluation.models import Study
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.layout import AnswerPlace
from evaluation.protocols.base import option_key
from evaluation.protocols.kinds import KINDS
from evaluation.selectors import asked_questions
from evaluation.services.answers import layouts_of_question


@dataclass(frozen=True)
class GivenAnswer:
    """A value of some answers."""

    of: AnswersOf
    value: str

    @classmethod
    def parse(cls, study: Study, text: str) -> Self:
        """`<answers>:<value>`. ValueError says what is wrong with it."""
        where, colon, value = text.rpartition(":")
        if not colon or not value:
            raise ValueError(f"{text!r} is no answer: write it as question:value or question.part:value.")
        of = AnswersOf.parse(study, where)
        question = _answered_by_value(study, of)
        if question is not None:
            require_answer(question, value, response_names(study))
        elif not is_number(value):
            raise ValueError(f"{value!r} is no number.")
        return cls(of, value)

    def __str__(self) -> str:
        return f"{self.of}:{self.value}"

    def condition(self, study: Study) -> Q:
        """Judgments that have it."""
        return self.of.condition(study, self._reads_label, self._holds)

    def _reads_label(self, place: AnswerPlace) -> bool | None:
        number = as_number(self.value)
        if place.label is not None and (number is None or place.number is None):
            return True
        return None if number is None or place.number is None else False

    def _holds(self, value: Any, *, is_label: bool) -> Q:
        return Q(Exact(value, self.value if is_label else as_number(self.value)))


@dataclass(frozen=True)
class AnswerRange:
    """Some answers that are numbers within a range."""

    of: AnswersOf
    within: NumberRange

    @classmethod
    def parse(cls, study: Study, text: str) -> Self:
        """`<answers>:<range>`. ValueError says what is wrong with it."""
        where, colon, given = text.rpartition(":")
        if not colon:
            raise ValueError(f"{text!r} names no range: write it as question:2..3.")
        of, within = AnswersOf.parse(study, where), NumberRange.parse(given)
        question = _answered_by_value(study, of)
        if question is not None and KINDS[question.kind].storage == "label":
            raise ValueError(f"{question.key!r} is answered by labels, which have no range.")
        low, high = (-inf, inf) if question is None else _bounds(question, len(response_names(study)))
        if within.high < low or high < within.low:
            raise ValueError(
                f"No answer to {of.question!r} lies {within.in_words} (its answers: {low:g} to {high:g})."
            )
        return cls(of, within)

    def __str__(self) -> str:
        return f"{self.of}:{self.within}"

    @property
    def in_words(self) -> str:
        return f"{self.of.in_words}, {self.within.in_words}"

    def condition(self, study: Study) -> Q:
        """Judgments that have such a number."""
        return self.of.condition(
            study,
            lambda place: None if place.number is None else False,
            lambda value, *, is_label: self.within.holds(value),
        )


@dataclass(frozen=True)
class PreferredSystem:
    """A system that judgments prefer in a question, or rank first."""

    question: str
    system: str

    @classmethod
    def parse(cls, study: Study, text: str) -> Self:
        """`<question>:<system key>`. ValueError says what is wrong with it."""
        question, _, system = text.partition(":")
        asked = asked_questions(study)
        prefers = [key for key, each in asked.items() if each.kind in (Kind.PREFERENCE, Kind.RANKING)]
        if question not in prefers:
            raise ValueError(f"No question {question!r} prefers a system ({named('questions', prefers)}).")
        return cls(question, known_system(study, system))

    def __str__(self) -> str:
        return f"{self.question}:{self.system}"

    def condition(self, study: Study) -> Q:
        """Judgments that prefer it, wherever it stands among an item's responses."""
        if asked_questions(study)[self.question].kind == Kind.RANKING:
            return GivenAnswer(AnswersOf(self.question, system=self.system), "1").condition(study)
        return any_of(
            Q(item__systems_key__in=sets) & GivenAnswer(AnswersOf(self.question), response).condition(study)
            for response, sets in responses_of(study, self.system).items()
        )


class AnswerCondition(Protocol):
    """A condition on some answers."""

    @property
    def of(self) -> AnswersOf: ...

    def condition(self, study: Study) -> Q:
        """The judgments that it admits."""
        ...


def answers_q(study: Study, conditions: Iterable[AnswerCondition]) -> Q:
    """Judgments that one of the conditions on the same answers admits, of all answers that there are conditions on."""
    by_answers: dict[AnswersOf, list[AnswerCondition]] = {}
    for each in conditions:
        by_answers.setdefault(each.of, []).append(each)
    found = Q()
    for alternatives in by_answers.values():
        found &= any_of(each.condition(study) for each in alternatives)
    return found


def answered_q(questions: Iterable[str]) -> Q:
    """Judgments with any answer to one of the questions."""
    layouts = {layout.key for each in questions for layout in layouts_of_question(each)}
    return Q(answer_layout__in=sorted(layouts))


def known_question(study: Study, key: str) -> str:
    """ValueError where the study does not ask it."""
    known = [*asked_questions(study)]
    if key not in known:
        raise ValueError(f"The study has no question {key!r} ({named('questions', known)}).")
    return key


def as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def is_number(text: str) -> bool:
    number = as_number(text)
    return number is not None and number == number


def require_answer(question: QuestionSpec, value: str, responses: Sequence[str]) -> None:
    """ValueError where none of an item with at most these responses can be answered so."""
    if KINDS[question.kind].storage == "label":
        offered = offered_labels(question, responses)
        if offered and value not in offered:
            raise ValueError(f"{value!r} is no answer to {question.key!r} ({named('answers', offered)}).")
        return
    if not is_number(value):
        raise ValueError(f"{value!r} is no number.")
    low, high = _bounds(question, len(responses))
    if not low <= float(value) <= high:
        raise ValueError(f"{value!r} is no answer to {question.key!r} (its answers: {low:g} to {high:g}).")


def require_leading(question: QuestionSpec, value: str, responses: Sequence[str]) -> None:
    """The same of what an item is counted by: of a ranking the response that is first."""
    if question.kind != Kind.RANKING:
        require_answer(question, value, responses)
    elif value not in responses:
        raise ValueError(f"No response {value!r} is ranked ({named('responses', responses)}).")


def offered_labels(question: QuestionSpec, responses: Sequence[str]) -> list[str]:
    """The labels that answer it; none where responses do and are not known yet."""
    if question.kind == Kind.PREFERENCE:
        return [*responses, *question.tie_values] if responses else []
    return [option_key(each) for each in KINDS[question.kind].offers(question)]


def _bounds(question: QuestionSpec, n_responses: int) -> tuple[float, float]:
    """The least and the greatest number that answers a question; judges and imports give any between."""
    if question.kind == Kind.SCALE:
        return question.form["low"], question.form["high"]
    if question.kind == Kind.RANKING:
        return 1, n_responses or inf
    return (0, 1) if question.kind == Kind.CHECKLIST else (-inf, inf)


def _answered_by_value(study: Study, of: AnswersOf) -> QuestionSpec | None:
    """The question that they answer; None of a measure. ValueError where it is answered by texts."""
    question = asked_questions(study).get(of.question)
    if question is not None and KINDS[question.kind].storage == "text":
        raise ValueError(f"{question.key!r} is answered by texts, which are searched for words.")
    return question

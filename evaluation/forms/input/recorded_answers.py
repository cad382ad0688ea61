"""Recorded answers as form data."""

from collections.abc import Iterable
from typing import Any

from evaluation.protocols import AnswerValue, Kind, QuestionSpec
from evaluation.protocols.entries.form import KEEP, fields_of
from evaluation.protocols.entries.sets import read_answers
from evaluation.protocols.kinds.checklist import NONE
from evaluation.protocols.kinds.ranking import RANKING_CONFIRMED


def answers_as_data(questions: Iterable[QuestionSpec], answers: Iterable[AnswerValue]) -> dict[str, Any]:
    """The data of a form that was answered like this."""
    answers = list(answers)
    by_key = {question.key: question for question in questions}
    data: dict[str, Any] = {}
    for answer in answers:
        question = by_key[answer.question]
        if question.kind == Kind.ENTRIES:
            continue
        value = _value(question, answer)
        if question.kind == Kind.RANKING:
            data.setdefault(answer.question, {RANKING_CONFIRMED: "1"})
        if not answer.part:
            data[answer.question] = value
        elif not (question.kind == Kind.CHECKLIST and question.over == "choice" and value == "0"):
            data.setdefault(answer.question, {})[answer.part] = value
    answered = {answer.question for answer in answers}
    for question in by_key.values():
        if question.kind == Kind.ENTRIES:
            data[question.key] = _rows(answers, question)
        elif question.offers_none and question.key in answered and question.key not in data:
            data[question.key] = {NONE: "1"}
    return data


def _rows(answers: Iterable[AnswerValue], question: QuestionSpec) -> dict[str, str]:
    """The rows of a set of entries, each in the place that it was given."""
    entries = read_answers([answer for answer in answers if answer.question == question.key])
    return {
        f"e{number}.{name}": value
        for number, entry in enumerate(entries, 1)
        for name, value in {**fields_of(entry, KEEP), "place": str(number)}.items()
    }


def _value(question: QuestionSpec, answer: AnswerValue) -> str:
    if answer.text is not None:
        return answer.text
    if answer.label is not None and not question.grades:
        return answer.label
    # Equals share the mean of their places, and a form has whole ones.
    number = answer.number or 0.0
    return f"{int(number) if question.kind == Kind.RANKING else number:g}"

"""From recorded answers back to a form's data."""

from collections.abc import Iterable
from typing import Any

from evaluation.protocols import AnswerValue, Kind, Question
from evaluation.protocols.values import RANKING_CONFIRMED


def answers_as_data(questions: Iterable[Question], answers: Iterable[AnswerValue]) -> dict[str, Any]:
    """What a form would have held that was answered like this. Sets of entries are not read back."""
    by_key = {question.key: question for question in questions}
    data: dict[str, Any] = {}
    for answer in answers:
        question = by_key[answer.question]
        value = _value(question, answer)
        if question.kind == Kind.RANKING:
            data.setdefault(answer.question, {RANKING_CONFIRMED: "1"})
        if not answer.part:
            data[answer.question] = value
        elif not (question.kind == Kind.CHECKLIST and question.over == "choice" and value == "0"):
            data.setdefault(answer.question, {})[answer.part] = value
    return data


def _value(question: Question, answer: AnswerValue) -> str:
    if answer.text is not None:
        return answer.text
    if answer.label is not None and not question.grades:
        return answer.label
    # Equals share the mean of their places, and a form has whole ones.
    number = answer.number or 0.0
    return f"{int(number) if question.kind == Kind.RANKING else number:g}"

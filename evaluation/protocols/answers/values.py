"""Cleaning one question's value, by its kind."""

from typing import Any

from evaluation.protocols.base import AnswerValue, Problem, QuestionSpec, Source, Stimulus
from evaluation.protocols.kinds import KINDS, BadValue


def clean_value(
    question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
) -> tuple[list[AnswerValue], list[Problem]]:
    """The answers that a value stands for, or what is wrong with it."""
    try:
        answers = KINDS[question.kind].clean(question, stimulus, value, source)
    except BadValue as bad:
        return [], bad.problems
    if not answers and question.required and source == "form":
        return [], [Problem("missing", question.key)]
    return answers, []

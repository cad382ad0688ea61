"""Choice: one of the question's own choices."""

import re
from collections.abc import Iterator
from typing import Any

from evaluation.protocols.base import Problem, QuestionSpec
from evaluation.protocols.kinds.base import PARTS, QuestionKind

# A value is a part of an answer's key, a field's name and a word in a judge's reply.
VALUE = re.compile(r"[A-Za-z0-9_-]{1,32}")
MAX_CHOICES = 60


class ChoiceKind(QuestionKind):
    key = "choice"
    storage = "label"
    form = "choice"
    overs = PARTS
    rule = "majority"

    def offers(self, question: QuestionSpec) -> tuple[Any, ...]:
        return question.choices

    def find_problems(self, question: QuestionSpec) -> Iterator[Problem]:
        return find_choice_problems(question)


def find_choice_problems(question: QuestionSpec) -> Iterator[Problem]:
    """The problems of a question's list of choices."""
    choices = question.form.get("choices")
    if not isinstance(choices, list) or not all(isinstance(each, str) for each in choices):
        yield Problem("choices_missing", "")
        return
    if not 2 <= len(choices) <= MAX_CHOICES:
        yield Problem("choices_number", "", {"limit": MAX_CHOICES, "found": len(choices)})
    if len(set(choices)) != len(choices):
        yield Problem("choices_twice", "")
    for value in choices:
        if not VALUE.fullmatch(value):
            yield Problem("choice_value", "", {"value": value[:40]})

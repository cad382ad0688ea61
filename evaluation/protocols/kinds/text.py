"""Text: a few words, or many."""

from typing import Any

from evaluation.protocols.base import (
    MAX_TEXT,
    AnswerValue,
    Problem,
    Question,
    Source,
    Stimulus,
    recorded_text,
)
from evaluation.protocols.kinds.base import BadValue, QuestionKind


class Text(QuestionKind):
    key = "text"
    storage = "text"
    form = "text"
    has_gold = False

    def clean(self, question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
        if not isinstance(value, str):
            raise BadValue(Problem("not_text", question.key))
        text = recorded_text(value).strip()
        if len(text) > MAX_TEXT:
            raise BadValue(Problem("too_long", question.key, {"limit": MAX_TEXT}))
        return [AnswerValue(question.key, question.kind, text=text)] if text else []

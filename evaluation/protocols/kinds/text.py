"""Text: a few words, or many."""

from typing import Any

from evaluation.protocols.base import (
    MAX_TEXT,
    AnswerValue,
    Problem,
    QuestionSpec,
    Source,
    Stimulus,
    normalize_text,
)
from evaluation.protocols.kinds.base import BadValue, QuestionKind


class TextKind(QuestionKind):
    key = "text"
    storage = "text"
    form = "text"
    has_gold = False

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        if not isinstance(value, str):
            raise BadValue(Problem("not_text", question.key))
        text = normalize_text(value).strip()
        if len(text) > MAX_TEXT:
            raise BadValue(Problem("too_long", question.key, {"limit": MAX_TEXT}))
        return [AnswerValue(question.key, question.kind, text=text)] if text else []

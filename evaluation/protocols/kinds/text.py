"""Text: a few words, or many."""

from collections.abc import Mapping
from typing import Any

from evaluation.protocols.base import (
    MAX_TEXT,
    AnswerValue,
    Over,
    Problem,
    QuestionSpec,
    Source,
    Stimulus,
    normalize_text,
)
from evaluation.protocols.kinds.base import PARTS, BadValue, QuestionKind, values_by_part


class TextKind(QuestionKind):
    key = "text"
    storage = "text"
    form = "text"
    overs = PARTS
    has_gold = False

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """A text, or one per part; blank ones are left out, as if nobody had written them."""
        if question.over == Over.ITEM:
            text = _clean_text(question.key, value)
            return [AnswerValue(question.key, question.kind, text=text)] if text else []
        if not isinstance(value, Mapping):
            raise BadValue(Problem("not_a_mapping", question.key))
        given = {part: each.strip() if isinstance(each, str) else each for part, each in dict(value).items()}
        return values_by_part(self, question, stimulus, given, source, _clean_text)


def _clean_text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadValue(Problem("not_text", where))
    text = normalize_text(value).strip()
    if len(text) > MAX_TEXT:
        raise BadValue(Problem("too_long", where, {"limit": MAX_TEXT}))
    return text

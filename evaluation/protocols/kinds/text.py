"""Text: a few words, or many."""

from collections.abc import Callable, Iterator, Mapping
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
    own_settings = frozenset({"least"})

    def find_problems(self, question: QuestionSpec) -> Iterator[Problem]:
        least = question.form.get("least", 0)
        if type(least) is not int or not 0 <= least <= MAX_TEXT:
            yield Problem("text_least", "", {"limit": MAX_TEXT})

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """A text, or one per part; blank ones are left out, as if nobody had written them."""
        clean_text = _cleaner(question.least if source == "form" else 0)
        if question.over == Over.ITEM:
            text = clean_text(question.key, value)
            return [AnswerValue(question.key, question.kind, text=text)] if text else []
        if not isinstance(value, Mapping):
            raise BadValue(Problem("not_a_mapping", question.key))
        given = {part: each.strip() if isinstance(each, str) else each for part, each in dict(value).items()}
        return values_by_part(self, question, stimulus, given, source, clean_text)


def count_characters(text: str) -> int:
    """The characters of a text, blanks in a row counted once, so that none can be made longer by them."""
    return len(" ".join(text.split()))


def _cleaner(least: int) -> Callable[[str, Any], str]:
    def clean_text(where: str, value: Any) -> str:
        if not isinstance(value, str):
            raise BadValue(Problem("not_text", where))
        text = normalize_text(value).strip()
        if len(text) > MAX_TEXT:
            raise BadValue(Problem("too_long", where, {"limit": MAX_TEXT}))
        if text and (found := count_characters(text)) < least:
            raise BadValue(Problem("too_short", where, {"found": found, "least": least}))
        return text

    return clean_text

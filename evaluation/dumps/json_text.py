"""JSON as other programs write it: NaN, Infinity and -Infinity, which Python writes for a missing number, are null."""

import re
from typing import Any

import orjson

# A text up to its end, or one of the three words outside of texts.
TEXT_OR_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"?|-?\bInfinity\b|\bNaN\b', re.DOTALL)


def load_json(text: str) -> Any:
    """The value; JSONDecodeError where it is none for another reason than these words."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if "NaN" not in text and "Infinity" not in text:
            raise
        return orjson.loads(TEXT_OR_WORD.sub(_as_null, text))


def number_word(text: str) -> tuple[int, str] | None:
    """The first of the three words outside of texts, with its character, counted from 1."""
    found = next((each for each in TEXT_OR_WORD.finditer(text) if not each[0].startswith('"')), None)
    return None if found is None else (found.start() + 1, found[0])


def _as_null(found: re.Match[str]) -> str:
    # As long as what it stands for, so that later errors name the right character.
    return found[0] if found[0].startswith('"') else "null".ljust(len(found[0]))

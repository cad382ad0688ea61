"""Lengths in words and in characters; markup counts as what it is."""

from collections.abc import Sequence

from judging.backends.text_metrics.base import TextMetric, words_of


def count_words(text: str, references: Sequence[str] = ()) -> int:
    return len(words_of(text))


def count_characters(text: str, references: Sequence[str] = ()) -> int:
    """Code points, blanks included."""
    return len(text)


WORDS = TextMetric(
    key="words",
    label="Length in words",
    low=0,
    high=None,
    direction="none",
    needs_reference=False,
    compute=count_words,
)
CHARACTERS = TextMetric(
    key="characters",
    label="Length in characters",
    low=0,
    high=None,
    direction="none",
    needs_reference=False,
    compute=count_characters,
)

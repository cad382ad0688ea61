"""A text metric as data, and words, which most of them count."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["higher", "lower", "none"]
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class TextMetric:
    """A number of a text, computed from it and, where `needs_reference`, from references.

    `compute(text, references)` lies from `low` to `high` (None: no bound) and is None where it is undefined: without a
    reference that has words, or of a text that has none where words are divided by.
    """

    key: str
    label: str
    low: float | None
    high: float | None
    # Which values are the better ones.
    direction: Direction
    needs_reference: bool
    compute: Callable[[str, Sequence[str]], float | None]


def words_of(text: str) -> list[str]:
    """Runs of letters and digits of any script, in lower case. Of English the tokens of Google's rouge-score."""
    return WORD.findall(text.lower())

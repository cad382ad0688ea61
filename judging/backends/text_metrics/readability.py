"""Flesch reading ease (Flesch 1948) of English.

Syllables are estimated by groups of vowels: textstat reads them from a dictionary of pronunciation that is downloaded
when it is first asked.
"""

import re
from collections.abc import Sequence

from judging.backends.text_metrics.base import TextMetric

ENGLISH_WORD = re.compile(r"[a-z]+(?:['\u2019][a-z]+)*")
SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)|\n\s*\n")
VOWELS = re.compile(r"[aeiouy]+")
# An e that is not spoken: at the end, or before s and d, unless a sound before it needs it (boxes, ended).
SILENT = re.compile(r"(?<![aeiouy])e$|(?<![aeiouysxzcgh])es$|(?<![aeiouytd])ed$")
SPOKEN_LE = re.compile(r"[^aeiouy]l(?:e|es|ed)$")
# Two vowels in two syllables (Australian, radio, create), except where they only soften what is before them (nation).
HIATUS = re.compile(r"(?<![tscgx])i[aou]|(?<=[rnl])eo|(?<=cr)ea(?=t[eio])|[aeou]ing$")


def flesch_reading_ease(text: str, references: Sequence[str] = ()) -> float | None:
    """206.835 - 1.015 words per sentence - 84.6 syllables per word; the higher, the easier. None without a word."""
    words = ENGLISH_WORD.findall(text.lower())
    if not words:
        return None
    sentences = sum(1 for part in SENTENCE_END.split(text.lower()) if ENGLISH_WORD.search(part))
    syllables = sum(map(count_syllables, words))
    return 206.835 - 1.015 * len(words) / sentences - 84.6 * syllables / len(words)


def count_syllables(word: str) -> int:
    """An estimate for an English word in lower case, at least 1."""
    word = re.sub(r"['\u2019]", "", word)
    groups = len(VOWELS.findall(word)) + len(HIATUS.findall(word))
    if SILENT.search(word) and not SPOKEN_LE.search(word):
        groups -= 1
    return max(1, groups)


FLESCH = TextMetric(
    key="flesch",
    label="Flesch reading ease",
    low=None,
    high=206.835 - 1.015 - 84.6,
    direction="none",
    needs_reference=False,
    compute=flesch_reading_ease,
)

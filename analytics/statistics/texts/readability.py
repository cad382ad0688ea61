"""Length and readability of English texts: words, sentences, syllables, Flesch's reading ease and Kincaid's grade.

Source: Flesch (1948), Kincaid et al. (1975); AGENT-CQ compares questions by them (section 4.1, Table 5). Syllables are
counted by rules of spelling, without a dictionary: a row of vowels is one, a silent e at the end, in -es and in -ed is
none, and a vowel before -ing stands for itself. About one word in ten has one more or less than in speech.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}-][^\W_]+)*")
# A sentence ends where a mark is followed by a space or the end, not within 3.5 or example.org.
END_OF_SENTENCE = re.compile(r"[.!?]+(?=[\s\"')\]]|$)")
VOWELS = re.compile(r"[aeiouyàâäáãåæèéêëìíîïòóôöõøùúûüýÿ]+")
SILENT_E = re.compile(r"[^aeiouy]e$|[^aeiouytd]ed$|[^aeiouyszxcg]es$")
SPOKEN_E = re.compile(r"[^aeiouy]le$|[sc]hes$|[^aeiouy]les$")
VOWEL_ING = re.compile(r"[aeiouy]ing(?:s|ly)?$")


@dataclass(frozen=True)
class TextMeasures:
    """`ease` and `grade` are None of a text without words."""

    characters: int
    words: int
    sentences: int
    syllables: int
    ease: float | None
    grade: float | None


def measure_text(text: str) -> TextMeasures:
    """Characters without surrounding space, words, sentences (one at least, where there are words), syllables, and

    reading ease = 206.835 - 1.015 words / sentences - 84.6 syllables / words, and
    grade = 0.39 words / sentences + 11.8 syllables / words - 15.59.
    """
    words = WORD.findall(text)
    syllables = sum(syllables_of(word.lower()) for word in words)
    sentences = max(len(END_OF_SENTENCE.findall(text)), 1) if words else 0
    ease = grade = None
    if words:
        length, weight = len(words) / sentences, syllables / len(words)
        ease = 206.835 - 1.015 * length - 84.6 * weight
        grade = 0.39 * length + 11.8 * weight - 15.59
    return TextMeasures(len(text.strip()), len(words), sentences, syllables, ease, grade)


@lru_cache(maxsize=65_536)
def syllables_of(word: str) -> int:
    """The syllables of a word in small letters, one at least; parts joined by a hyphen are counted one by one."""
    return sum(_of_part(part) for part in word.split("-"))


def _of_part(word: str) -> int:
    word = re.sub(r"['\N{RIGHT SINGLE QUOTATION MARK}](?:s|ll|d|re|ve|m)?$", "", word) or word
    groups = len(VOWELS.findall(word))
    if SILENT_E.search(word) and not SPOKEN_E.search(word):
        groups -= 1
    if VOWEL_ING.search(word):
        groups += 1
    return max(groups, 1)

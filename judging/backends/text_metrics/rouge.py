"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), as F1 with the reference that gives the highest.

Without stemming and stop words, and ROUGE-L of the whole text, not of sentences: Google's rouge-score gives the same of
English with its defaults. Words of other scripts count too, which rouge-score drops.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from judging.backends.text_metrics.base import TextMetric, words_of


def rouge_n(text: str, references: Sequence[str], *, n: int) -> float | None:
    """F1 of the n-grams that a text and a reference share, each counted as often as both have it."""
    return _best(text, references, lambda mine, theirs: _shared_ngrams(mine, theirs, n), n)


def rouge_l(text: str, references: Sequence[str]) -> float | None:
    """F1 of the longest common subsequence of words."""
    return _best(text, references, longest_common_subsequence, 1)


def longest_common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Its length; each row of the table is the bits of one number (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & full
    return len(one) - row.bit_count()


def _best(
    text: str, references: Sequence[str], shared: Callable[[list[str], list[str]], int], n: int
) -> float | None:
    mine = words_of(text)
    scores = []
    for theirs in map(words_of, references):
        sizes = len(mine) - n + 1, len(theirs) - n + 1
        if sizes[1] < 1:
            continue
        common = shared(mine, theirs) if sizes[0] > 0 else 0
        # 2PR / (P + R) with P and R over the two sizes.
        scores.append(2 * common / (sizes[0] + sizes[1]) if common else 0.0)
    return max(scores, default=None)


def _shared_ngrams(mine: Sequence[str], theirs: Sequence[str], n: int) -> int:
    return (_ngrams(mine, n) & _ngrams(theirs, n)).total()


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def _rouge(key: str, label: str, compute: Callable[[str, Sequence[str]], float | None]) -> TextMetric:
    return TextMetric(
        key=key, label=label, low=0, high=1, direction="higher", needs_reference=True, compute=compute
    )


ROUGE_1 = _rouge("rouge_1", "ROUGE-1", partial(rouge_n, n=1))
ROUGE_2 = _rouge("rouge_2", "ROUGE-2", partial(rouge_n, n=2))
ROUGE_L = _rouge("rouge_l", "ROUGE-L", rouge_l)

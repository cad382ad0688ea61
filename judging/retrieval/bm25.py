"""BM25 over texts (Lucene's variant, k1 1.5, b 0.75), by `bm25s`.

Words are runs of letters and digits, case folded. There is no list of stop words and no stemming: both are of one
language, and words that stand everywhere weigh next to nothing anyway.
"""

import logging
import re
from collections.abc import Iterable
from typing import Any

K1, B = 1.5, 0.75
WORD = re.compile(r"\w+")


class Index:
    """An index of texts; its rows are their places, from 0."""

    def __init__(self, scores: Any, vocabulary: dict[str, int]) -> None:
        self._scores, self._vocabulary = scores, vocabulary

    def best(self, text: str, most: int) -> list[tuple[int, float]]:
        """So many rows with a score above 0, the best first, equals by their row; each with its score."""
        import numpy as np

        words = [self._vocabulary[word] for word in words_of(text) if word in self._vocabulary]
        if not words or most < 1:
            return []
        scores = self._scores.get_scores(words)
        rows = np.flatnonzero(scores > 0)
        if len(rows) > most:
            # Whatever ties with the last one stays, so that equals are told by their row and not by chance.
            rows = rows[scores[rows] >= np.partition(scores[rows], -most)[-most]]
        rows = rows[np.lexsort((rows, -scores[rows]))][:most]
        return [(int(row), float(scores[row])) for row in rows]


def build_index(texts: Iterable[str]) -> Index:
    # A second of every start, for what few processes do.
    from bm25s import BM25

    # Importing it sets its logger to tell everything.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    vocabulary: dict[str, int] = {}
    rows = [[vocabulary.setdefault(word, len(vocabulary)) for word in words_of(text)] for text in texts]
    scores = BM25(method="lucene", k1=K1, b=B)
    if vocabulary:
        scores.index((rows, vocabulary), create_empty_token=False, show_progress=False)
    return Index(scores, vocabulary)


def words_of(text: str) -> list[str]:
    return WORD.findall(text.casefold())

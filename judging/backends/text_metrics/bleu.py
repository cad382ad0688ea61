"""BLEU of one text (Papineni et al. 2002), as sacrebleu computes it, so that it compares with published figures.

Its signature: case:mixed|eff:yes|tok:13a|smooth:exp. Exponential smoothing halves the precision of each length of
n-grams without a match once more (NIST); effective order leaves out the lengths that a short text does not reach.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from judging.backends.text_metrics.base import TextMetric


def sentence_bleu(text: str, references: Sequence[str]) -> float | None:
    """From 0 to 100, against all references together; None without a reference that has text."""
    references = [reference for reference in references if reference.strip()]
    if not references:
        return None
    return min(100.0, float(_scorer().sentence_score(text, references).score))


@cache
def _scorer() -> Any:
    # It brings an XML parser and more: only what computes BLEU imports it.
    from sacrebleu.metrics import bleu

    return bleu.BLEU(smooth_method="exp", effective_order=True)


BLEU = TextMetric(
    key="bleu",
    label="BLEU",
    low=0,
    high=100,
    direction="higher",
    needs_reference=True,
    compute=sentence_bleu,
)

"""A set of condition-answer-citation entries against a reference set (CondAmbigQA sections 4.1 and 4.2).

The paper scores conditions and answers of a model's set against those of the reference and leaves open which entry is
compared with which. Its release goes through the model's entries in their order and gives each the free reference
entry that fits it best; a better pair later on finds its reference taken. The optimal matching has no such order.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.core.tidy import Floats, Ints


@dataclass(frozen=True, eq=False)
class Matching:
    """Matched pairs of two sets: entry `given[i]` with reference entry `reference[i]`, by ascending entry."""

    given: Ints
    reference: Ints
    n_given: int
    n_reference: int

    def mean_of_all(self, scores: Floats) -> float:
        """The sum of the matched pairs' scores (n, m) over the size of the larger set: what has no match scores 0."""
        largest = max(self.n_given, self.n_reference)
        return float(scores[self.given, self.reference].sum() / largest) if largest else 0.0

    def mean_of_matched(self, scores: Floats) -> float:
        """The mean of the matched pairs' scores (n, m); 0 where nothing is matched."""
        return float(scores[self.given, self.reference].mean()) if len(self.given) else 0.0


def optimal_matching(fit: Floats) -> Matching:
    """The matching of as many pairs as can be whose fit (n entries, m reference entries) is the greatest in sum.

    Raises ParameterError where `fit` is no table of finite numbers.
    """
    from scipy.optimize import linear_sum_assignment

    _check(fit)
    given, reference = linear_sum_assignment(fit, maximize=True)
    return Matching(given, reference, *fit.shape)


def greedy_matching(fit: Floats) -> Matching:
    """Each entry in its order takes the free reference entry with the greatest fit (n, m), the first of equals.

    Raises ParameterError where `fit` is no table of finite numbers.
    """
    _check(fit)
    taken: list[int] = []
    for row in fit:
        free = [column for column in range(fit.shape[1]) if column not in taken]
        if free:
            taken.append(max(free, key=lambda column: row[column]))
    return Matching(np.arange(len(taken)), np.array(taken, dtype=np.int64), *fit.shape)


def given_matching(conditions: Sequence[str], reference: Sequence[str]) -> Matching | None:
    """The matching of entries whose conditions were given to the system: each with the reference entry of the very same
    condition, the first that is free of equals. None where a condition is empty or none of the reference's.

    An answer that stands under another condition than its own then matches nothing that it says.
    """
    free: dict[str, list[int]] = {}
    for place, text in enumerate(reference):
        free.setdefault(text.strip(), []).append(place)
    found = []
    for text in conditions:
        if not text.strip() or not free.get(text.strip()):
            return None
        found.append(free[text.strip()].pop(0))
    return Matching(np.arange(len(found)), np.array(found, dtype=np.int64), len(found), len(reference))


def _check(fit: Floats) -> None:
    if fit.ndim != 2 or not np.isfinite(fit).all():
        raise ParameterError(
            "The fit of entries must be a number for each pair of an entry and a reference entry."
        )


def citation_recall(cited: Collection[Hashable], wanted: Collection[Hashable]) -> float | None:
    """The share of the wanted sources that are cited, 0 to 1 (CondAmbigQA equation 4); None where none is wanted."""
    needed = set(wanted)
    return len(needed & set(cited)) / len(needed) if needed else None


def count_difference(given: int, wanted: int) -> int:
    """The distance of two numbers of answers (CondAmbigQA equation 5)."""
    return abs(given - wanted)

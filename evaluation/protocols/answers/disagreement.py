"""Disagreement about one item: the chance that two who answered, drawn at random, answer differently; pure.

Of labels that is what it says. Numbers differ by their distance as a share of the greatest that there can be; texts and
entries are not compared.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

# The answers to one question at one part, by judgment, and the greatest distance of its numbers (None: labels).
Labels = Sequence[str]
Numbers = Sequence[float]


def labels_differ(labels: Labels) -> float | None:
    """The share of pairs that differ; None of fewer than two."""
    n = len(labels)
    if n < 2:
        return None
    alike = sum(count * (count - 1) for count in Counter(labels).values())
    return 1 - alike / (n * (n - 1))


def labels_differ_between(ones: Labels, others: Labels) -> float | None:
    """The same of pairs of one and another; None where one side is empty."""
    if not (ones and others):
        return None
    among = Counter(others)
    return 1 - sum(among[each] for each in ones) / (len(ones) * len(others))


def numbers_differ(numbers: Numbers, reach: float) -> float | None:
    """The mean distance of two numbers, as a share of `reach`; None of fewer than two."""
    n = len(numbers)
    if n < 2:
        return None
    # Of numbers in their order, each is the greater one in as many pairs as stand before it.
    total = sum((2 * at - n + 1) * each for at, each in enumerate(sorted(numbers)))
    return total / (n * (n - 1) / 2) / reach


def numbers_differ_between(ones: Numbers, others: Numbers, reach: float) -> float | None:
    """The same of pairs of one and another; None where one side is empty."""
    if not (ones and others):
        return None
    return sum(abs(one - other) for one in ones for other in others) / (len(ones) * len(others)) / reach


def majority_of(values: Sequence[str]) -> str:
    """The value of more than half; empty where there is none."""
    [(value, count), *_] = Counter(values).most_common(1) or [("", 0)]
    return value if 2 * count > len(values) else ""


def mean_of(shares: Sequence[float | None]) -> float | None:
    """The mean of those that there are."""
    known = [each for each in shares if each is not None]
    return sum(known) / len(known) if known else None


def leading_value(answers: Mapping[str, str | float], *, ranks: bool) -> str | None:
    """A judgment's answer to a question about the whole item, as text; of ranks by part, the part that is first."""
    if ranks:
        first = [part for part, rank in answers.items() if rank == 1]
        return first[0] if len(first) == 1 else None
    value = answers.get("")
    return f"{value:g}" if isinstance(value, float) else value

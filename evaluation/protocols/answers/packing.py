"""A judgment's numbers and labels, packed as three values.

A report of a million judgments reads many times as many answers, and looking at the question, part and label of every
row takes most of its time. So a judgment holds its answers once more: a text that says which there are, and that many
judgments share, and in its order their labels, as one line, and their numbers, as bytes.
"""

import json
import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from evaluation.protocols.base import AnswerValue

# Most answers are small whole numbers, or labels without one.
BYTE, DOUBLE = "i1", "<f8"
NO_NUMBER = -128


class AnswerKey(NamedTuple):
    """An answer without its value."""

    kind: str
    question: str
    part: str


class Packed(NamedTuple):
    """The answers that there are, and in that order their labels and their numbers; see `unpack`."""

    answered: str
    labels: str
    numbers: bytes


NOTHING = Packed("", "", b"")


def pack_answers(answers: Iterable[AnswerValue]) -> Packed:
    """All answers but texts, in an order that does not depend on theirs; nothing where there are none."""
    kept = sorted((each for each in answers if each.text is None), key=_place)
    if not kept:
        return NOTHING
    answered = tuple(AnswerKey(each.kind, each.question, each.part) for each in kept)
    labels = [each.label for each in kept if each.label is not None]
    line = _as_json(labels) if labels else ""
    if all(each.number is None or _is_small(each.number) for each in kept):
        small = (NO_NUMBER if each.number is None else int(each.number) for each in kept)
        return Packed(_written(answered, len(labels), BYTE), line, struct.pack(f"{len(answered)}b", *small))
    doubles = (math.nan if each.number is None else each.number for each in kept)
    return Packed(_written(answered, len(labels), DOUBLE), line, struct.pack(f"<{len(answered)}d", *doubles))


def _place(answer: AnswerValue) -> tuple[bool, str, str, str]:
    """Those with labels come first."""
    return answer.label is None, answer.kind, answer.question, answer.part


def _is_small(number: float) -> bool:
    return float(number).is_integer() and abs(number) < -NO_NUMBER


@lru_cache(maxsize=1024)
def _written(answered: tuple[AnswerKey, ...], with_label: int, numbers: str) -> str:
    return _as_json([numbers, _by_question(answered[:with_label]), _by_question(answered[with_label:])])


def _by_question(answered: Sequence[AnswerKey]) -> list[list[object]]:
    found = groupby(answered, key=lambda answer: (answer.kind, answer.question))
    return [[*key, [answer.part for answer in parts]] for key, parts in found]


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, eq=False)
class PackedAnswers:
    """The values of the same answers (k,) in judgments (n,), which go by a key.

    `numbers` (n, k) are as they are stored, see `number`; `codes` (n, l) are those of the `labels`, which the first l
    answers have.
    """

    answered: tuple[AnswerKey, ...]
    key: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int8] | npt.NDArray[np.float64]
    codes: npt.NDArray[np.int32]
    labels: tuple[str, ...]

    def number(self, places: Sequence[int]) -> npt.NDArray[np.float64]:
        """The numbers (n, m) of the answers at these places (m,), nan where there is none."""
        stored = self.numbers.take(places, axis=1)
        found = stored.astype(np.float64)
        if stored.dtype == np.int8:
            found[stored == NO_NUMBER] = np.nan
        return found

    def has_label(self, at: int) -> bool:
        return at < int(self.codes.shape[1])

    def take(self, rows: npt.NDArray[np.int64], key: npt.NDArray[np.int64]) -> Self:
        """These rows (m,), by other keys (m,)."""
        return type(self)(self.answered, key, self.numbers[rows], self.codes[rows], self.labels)


def unpack(
    answered: str,
    key: npt.NDArray[np.int64],
    line: npt.NDArray[np.int64],
    lines: Sequence[str],
    numbers: bytes,
) -> PackedAnswers:
    """The answers of judgments (n,) with the same text of what was `answered`, which may not be empty.

    Given are the judgments' keys (n,), for each the code (n,) of its labels among the `lines`, and their numbers, one
    judgment's after the other's.
    """
    stored, with_label, others = json.loads(answered)
    found = tuple(
        AnswerKey(kind, question, part) for kind, question, parts in [*with_label, *others] for part in parts
    )
    table: dict[str, int] = {}
    codes = [[table.setdefault(label, len(table)) for label in json.loads(each or "[]")] for each in lines]
    return PackedAnswers(
        answered=found,
        key=key,
        numbers=np.frombuffer(numbers, stored).reshape(-1, len(found)),
        codes=np.array(codes, dtype=np.int32)[line],
        labels=tuple(table),
    )

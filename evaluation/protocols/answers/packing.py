"""A judgment's numbers and labels, packed as two values.

A report of a million judgments reads many times as many answers, and looking at the question, part and label of every
row takes most of its time. So a judgment holds its answers once more: as a text that says which they are, and which
many judgments share, and their numbers in the order of that text.
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


class Slot(NamedTuple):
    """An answer without its value."""

    kind: str
    question: str
    part: str


class Packed(NamedTuple):
    """The answers that there are, a line of their slots and one of the labels among them, and their numbers."""

    slots: str
    numbers: bytes


def pack_answers(answers: Iterable[AnswerValue]) -> Packed:
    """All answers but texts, in an order that does not depend on theirs; nothing where there are none."""
    kept = sorted((each for each in answers if each.text is None), key=_place)
    if not kept:
        return Packed("", b"")
    slots = tuple(Slot(each.kind, each.question, each.part) for each in kept)
    labels = tuple(each.label for each in kept if each.label is not None)
    if all(each.number is None or _is_small(each.number) for each in kept):
        small = (NO_NUMBER if each.number is None else int(each.number) for each in kept)
        return Packed(_written(slots, labels, BYTE), struct.pack(f"{len(slots)}b", *small))
    doubles = (math.nan if each.number is None else each.number for each in kept)
    return Packed(_written(slots, labels, DOUBLE), struct.pack(f"<{len(slots)}d", *doubles))


def _place(answer: AnswerValue) -> tuple[bool, str, str, str]:
    """Those with labels come first."""
    return answer.label is None, answer.kind, answer.question, answer.part


def _is_small(number: float) -> bool:
    return float(number).is_integer() and abs(number) < -NO_NUMBER


@lru_cache(maxsize=1024)
def _written(slots: tuple[Slot, ...], labels: tuple[str, ...], numbers: str) -> str:
    n = len(labels)
    line = _as_json([numbers, _by_question(slots[:n]), _by_question(slots[n:])])
    return f"{line}\n{_as_json(labels)}" if labels else line


def _by_question(slots: Sequence[Slot]) -> list[list[object]]:
    found = groupby(slots, key=lambda slot: (slot.kind, slot.question))
    return [[*key, [slot.part for slot in parts]] for key, parts in found]


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, eq=False)
class PackedAnswers:
    """The answers of rows (n,), named by their keys, to the same slots (k,).

    `numbers` (n, k) are stored ones, see `number`; `codes` (n, l) are those of `labels`, which the first l slots have.
    """

    slots: tuple[Slot, ...]
    key: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int8] | npt.NDArray[np.float64]
    codes: npt.NDArray[np.int32]
    labels: tuple[str, ...]

    def number(self, at: int) -> npt.NDArray[np.float64]:
        """The numbers (n,) of one slot, nan where it has none."""
        stored = self.numbers[:, at]
        found = stored.astype(np.float64)
        if stored.dtype == np.int8:
            found[stored == NO_NUMBER] = np.nan
        return found

    def has_label(self, at: int) -> bool:
        return at < int(self.codes.shape[1])

    def where(self, mask: npt.NDArray[np.bool_], key: npt.NDArray[np.int64]) -> Self:
        """The rows of a mask (n,), by other keys, one for each that is left."""
        if mask.all():
            return type(self)(self.slots, key, self.numbers, self.codes, self.labels)
        return type(self)(self.slots, key, self.numbers[mask], self.codes[mask], self.labels)


def unpack(blocks: Iterable[tuple[str, npt.NDArray[np.int64], bytes]]) -> list[PackedAnswers]:
    """Answers by their slots, from blocks of rows: the slots that all of them have, their keys and numbers, one row
    after the other."""
    found: dict[str, list[tuple[str, npt.NDArray[np.int64], bytes]]] = {}
    for text, key, numbers in blocks:
        line, _, labels = text.partition("\n")
        found.setdefault(line, []).append((labels, key, numbers))
    found.pop("", None)
    return [_unpacked(line, parts) for line, parts in found.items()]


def _unpacked(line: str, parts: Sequence[tuple[str, npt.NDArray[np.int64], bytes]]) -> PackedAnswers:
    stored, with_label, others = json.loads(line)
    slots = tuple(
        Slot(kind, question, part) for kind, question, named in [*with_label, *others] for part in named
    )
    table: dict[str, int] = {}
    codes = [
        [table.setdefault(label, len(table)) for label in (json.loads(labels) if labels else ())]
        for labels, _, _ in parts
    ]
    keys = [key for _, key, _ in parts]
    return PackedAnswers(
        slots=slots,
        key=np.concatenate(keys),
        numbers=np.frombuffer(b"".join(numbers for _, _, numbers in parts), stored).reshape(-1, len(slots)),
        codes=np.repeat(np.array(codes, dtype=np.int32), [len(key) for key in keys], axis=0),
        labels=tuple(table),
    )

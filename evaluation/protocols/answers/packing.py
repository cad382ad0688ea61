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


class Slot(NamedTuple):
    """An answer without its value."""

    kind: str
    question: str
    part: str


class Packed(NamedTuple):
    """See `unpack`."""

    slots: str
    labels: str
    numbers: bytes


NOTHING = Packed("", "", b"")


def pack_answers(answers: Iterable[AnswerValue]) -> Packed:
    """All answers but texts, in an order that does not depend on theirs; nothing where there are none."""
    kept = sorted((each for each in answers if each.text is None), key=_place)
    if not kept:
        return NOTHING
    slots = tuple(Slot(each.kind, each.question, each.part) for each in kept)
    labels = [each.label for each in kept if each.label is not None]
    line = _as_json(labels) if labels else ""
    if all(each.number is None or _is_small(each.number) for each in kept):
        small = (NO_NUMBER if each.number is None else int(each.number) for each in kept)
        return Packed(_written(slots, len(labels), BYTE), line, struct.pack(f"{len(slots)}b", *small))
    doubles = (math.nan if each.number is None else each.number for each in kept)
    return Packed(_written(slots, len(labels), DOUBLE), line, struct.pack(f"<{len(slots)}d", *doubles))


def _place(answer: AnswerValue) -> tuple[bool, str, str, str]:
    """Those with labels come first."""
    return answer.label is None, answer.kind, answer.question, answer.part


def _is_small(number: float) -> bool:
    return float(number).is_integer() and abs(number) < -NO_NUMBER


@lru_cache(maxsize=1024)
def _written(slots: tuple[Slot, ...], with_label: int, numbers: str) -> str:
    return _as_json([numbers, _by_question(slots[:with_label]), _by_question(slots[with_label:])])


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


def unpack(
    slots: str,
    key: npt.NDArray[np.int64],
    line: npt.NDArray[np.int64],
    lines: Sequence[str],
    numbers: bytes,
) -> PackedAnswers:
    """Answers of judgments (n,) with the same `slots`, which must be some: their keys, the code (n,) of their labels
    among `lines`, and their numbers, one judgment's after the other's."""
    stored, with_label, others = json.loads(slots)
    found = tuple(
        Slot(kind, question, part) for kind, question, parts in [*with_label, *others] for part in parts
    )
    table: dict[str, int] = {}
    codes = [[table.setdefault(label, len(table)) for label in json.loads(each or "[]")] for each in lines]
    return PackedAnswers(
        slots=found,
        key=key,
        numbers=np.frombuffer(numbers, stored).reshape(-1, len(found)),
        codes=np.array(codes, dtype=np.int32)[line],
        labels=tuple(table),
    )

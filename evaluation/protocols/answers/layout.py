"""Answers as a judgment stores them: a layout says which there are, in the order in which they were given, and one JSON
array has their labels and numbers in that order.

Judgments of a kind share their layout, so that a million of them store which questions were asked once. Texts are no
part of the array: they are rows of their own, which can be searched and erased by plain SQL.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import orjson

from evaluation.protocols.answers.measures import MEASURE_KIND
from evaluation.protocols.base import AnswerValue, Kind

# Doubles are exact for whole numbers below; what is greater is written as it is read.
EXACT = 2**53
# The text of an answer, by its question and part.
Texts = Mapping[tuple[str, str], str]
# Question, kind and part of an answer, and of label, number and text the letters of those that it has.
Shape = tuple[str, str, str, str]
# What an answer of a kind may have; one of a kind that is registered beside these has one of the three.
FITTING: dict[str, set[str]] = {
    Kind.PREFERENCE: {"l", "ln"},
    Kind.CHOICE: {"l"},
    Kind.TEXT: {"t"},
    Kind.ENTRIES: {"t"},
    Kind.SCALE: {"n"},
    Kind.CHECKLIST: {"n"},
    Kind.RANKING: {"n"},
}
OTHER = {"l", "n", "t"}


class AnswerPlace(NamedTuple):
    """An answer without its value: where in the array its label and its number stand, None for what it has not. One
    without either is a text."""

    question: str
    kind: str
    part: str
    label: int | None
    number: int | None

    @property
    def is_text(self) -> bool:
        return self.label is None and self.number is None

    @property
    def has(self) -> str:
        """As in a shape."""
        return "t" if self.is_text else "l" * (self.label is not None) + "n" * (self.number is not None)


@dataclass(frozen=True)
class Layout:
    """The answers that there are, in their order."""

    places: tuple[AnswerPlace, ...]

    @classmethod
    def from_json(cls, places: Iterable[Mapping[str, Any]]) -> Self:
        return cls(tuple(AnswerPlace(**each) for each in places))

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {
                "question": each.question,
                "kind": each.kind,
                "part": each.part,
                "label": each.label,
                "number": each.number,
            }
            for each in self.places
        ]

    @cached_property
    def is_proper(self) -> bool:
        """True of a layout as `layout_of` makes them."""
        try:
            return self == _layout(tuple((*each[:3], each.has) for each in self.places))
        except ValueError:
            return False

    @cached_property
    def key(self) -> int:
        """A primary key from its content, positive and of 63 bits: whoever has to write a layout knows its key, and
        two that write the same at once write one."""
        digest = hashlib.sha256(_as_json(self.as_json()).encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    @cached_property
    def width(self) -> int:
        """Length of the array."""
        return sum((each.label is not None) + (each.number is not None) for each in self.places)

    @cached_property
    def measured(self) -> tuple[AnswerPlace, ...]:
        """The numbers that are no answers to questions."""
        return tuple(each for each in self.places if each.kind == MEASURE_KIND)

    @cached_property
    def has_texts(self) -> bool:
        return any(each.is_text for each in self.places)


def layout_of(answers: Iterable[AnswerValue]) -> Layout:
    """`ValueError` names an answer whose value is not of its kind, and one that is given twice."""
    return _layout(tuple((each.question, each.kind, each.part, _has(each)) for each in answers))


def _has(answer: AnswerValue) -> str:
    label = "" if answer.label is None else "l"
    number = "" if answer.number is None else "n"
    return label + number + ("" if answer.text is None else "t")


@lru_cache(maxsize=1024)
def _layout(shapes: tuple[Shape, ...]) -> Layout:
    places: list[AnswerPlace] = []
    at = 0
    for question, kind, part, has in shapes:
        if has not in FITTING.get(kind, OTHER):
            raise ValueError(f"{question}{part and '.'}{part}: a {kind} has no such value")
        label = at if "l" in has else None
        at += label is not None
        number = at if "n" in has else None
        at += number is not None
        places.append(AnswerPlace(question, str(kind), part, label, number))
    if len({(each.question, each.part) for each in places}) < len(places):
        raise ValueError("a question is answered twice for one part")
    return Layout(tuple(places))


def array_of(answers: Iterable[AnswerValue]) -> str:
    """The labels and numbers, as JSON; whole numbers without a point."""
    values: list[str | float] = []
    for each in answers:
        if each.label is not None:
            values.append(each.label)
        if each.number is not None:
            values.append(_plain(each.number))
    return _as_json(values)


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() and abs(number) < EXACT else number


def answers_in(layout: Layout, array: str, texts: Texts) -> list[AnswerValue]:
    """The answers as they were given; a text that is not there any more is empty."""
    values = orjson.loads(array)
    return [
        AnswerValue(
            each.question,
            each.kind,
            each.part,
            None if each.number is None else float(values[each.number]),
            None if each.label is None else values[each.label],
            texts.get((each.question, each.part), "") if each.is_text else None,
        )
        for each in layout.places
    ]


def is_sound(layout: Layout, array: str, texts: Set[tuple[str, str]]) -> bool:
    """True if the array and the questions and parts of the texts are what the layout says, as the write door leaves
    them."""
    try:
        values = orjson.loads(array)
    except ValueError:
        return False
    if not isinstance(values, list) or len(values) != layout.width:
        return False
    labels = (values[each.label] for each in layout.places if each.label is not None)
    numbers = (values[each.number] for each in layout.places if each.number is not None)
    return (
        all(isinstance(each, str) for each in labels)
        and all(type(each) in (int, float) and math.isfinite(each) for each in numbers)
        and {(each.question, each.part) for each in layout.places if each.is_text} == texts
    )


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, eq=False)
class AnswerColumns:
    """The values of the same answers in judgments (n,), which go by a key.

    `values` has an array (n,) for each place of the judgments' arrays: numbers as they are, of labels their codes
    among the `labels`.
    """

    layout: Layout
    key: npt.NDArray[np.int64]
    values: tuple[npt.NDArray[Any], ...]
    labels: tuple[str, ...]

    def numbers(self, places: Sequence[AnswerPlace]) -> npt.NDArray[np.float64]:
        """The numbers (n, m) of these answers (m,), nan where there is none."""
        found = np.full((len(self.key), len(places)), math.nan)
        for at, each in enumerate(places):
            if each.number is not None:
                found[:, at] = self.values[each.number]
        return found

    def codes(self, places: Sequence[AnswerPlace]) -> npt.NDArray[np.int32]:
        """The codes (n, m) of these answers' labels, which all have one."""
        columns = [self.values[each.label] for each in places if each.label is not None]
        return np.stack(columns, axis=1).astype(np.int32, copy=False)

    def take(self, rows: npt.NDArray[np.int64], key: npt.NDArray[np.int64]) -> Self:
        """These rows (m,), by other keys (m,)."""
        return type(self)(self.layout, key, tuple(each[rows] for each in self.values), self.labels)


def columns_of(layout: Layout, runs: Iterable[tuple[npt.NDArray[np.int64], str]]) -> AnswerColumns:
    """The answers of judgments with one layout, from runs of them: their keys, and their arrays with commas between."""
    labelled = {each.label for each in layout.places if each.label is not None}
    table: dict[str, int] = {}
    keys: list[npt.NDArray[np.int64]] = []
    columns: list[list[npt.NDArray[Any]]] = [[] for _ in range(layout.width)]
    for key, arrays in runs:
        keys.append(key)
        for at, column in enumerate(zip(*orjson.loads(f"[{arrays}]"), strict=True)):
            columns[at].append(_coded(column, table) if at in labelled else _compact(column))
    values = tuple(np.concatenate(each) for each in columns)
    return AnswerColumns(layout, np.concatenate(keys), values, tuple(table))


def _coded(labels: Sequence[str], table: dict[str, int]) -> npt.NDArray[np.int32]:
    for each in dict.fromkeys(labels):
        table.setdefault(each, len(table))
    return np.array([table[each] for each in labels], dtype=np.int32)


def _compact(numbers: Sequence[float]) -> npt.NDArray[Any]:
    """Most numbers are small and whole: a byte each, of many millions, in place of eight."""
    found = np.array(numbers)
    if found.dtype.kind == "i" and found.min() >= -128 and found.max() < 128:
        return found.astype(np.int8)
    return found.astype(np.float64)

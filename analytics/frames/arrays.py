"""A study's items and answers as arrays, and the statistics' own made from them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from analytics.statistics.core.tidy import Bools, Floats, Ints, Items
from analytics.statistics.core.values import NO_SYSTEM, Values
from analytics.statistics.judges.order_consistency import OrderReadings
from analytics.statistics.preferences.best_picks import NO_PICK, Picks
from analytics.statistics.rankings.ranks import UNKNOWN_PLACE, Ranks
from evaluation.database.columns import CodedColumn
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.entries.sets import Entry

RESPONSE = re.compile(r"(?:^|\.)r(\d+)$")
VALUE = re.compile(r"^f(\d+)\.v(\d+)$")
NO_ORDER = -1
# The sets of entries of each item, by its row, and of each rater, by pseudonym.
SetsByItem: TypeAlias = Mapping[int, Mapping[str, Sequence[Entry]]]


def response_places(parts: Sequence[str]) -> Ints:
    """The place from 0 of the response in each part's key ("r2", "f3.r2"), -1 without one."""
    found = [RESPONSE.search(part) for part in parts]
    return np.array([int(match[1]) - 1 if match else -1 for match in found], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class StudyItems:
    """One row per item, arrays of shape (n,): codes into `queries`, `arms`, `categories` ('' = none) and `systems`.

    `system` (n, m) is the system of each of an item's responses, NO_SYSTEM beyond its last; `lengths` are their
    characters, with commas between them; `splits` is the split and `sources` the source of each of `queries`
    ('' = none).
    """

    key: npt.NDArray[Any]
    query: Ints
    queries: tuple[str, ...]
    arm: Ints
    arms: tuple[str, ...]
    category: Ints
    categories: tuple[str, ...]
    system: Ints
    systems: tuple[str, ...]
    lengths: CodedColumn
    # Codes of what wrote the items' contexts ('' = no context, or one whose source is not known).
    context_source: Ints
    context_sources: tuple[str, ...]
    # What asks their clarifying questions ('' = none, or one whose source is not known).
    question_source: CodedColumn
    splits: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.query)

    def as_pairs(self) -> Items:
        """Of a study whose items all have two responses."""
        joined = ",".join(self.lengths.values[code] for code in np.unique(self.lengths.codes))
        table = np.zeros((len(self.lengths.values), 2), dtype=np.int64)
        if joined:
            table[np.unique(self.lengths.codes)] = np.array(joined.split(","), dtype=np.int64).reshape(-1, 2)
        length_1, length_2 = table[self.lengths.codes].T
        system_1, system_2 = self.system.T if len(self) else np.zeros((2, 0), dtype=np.int64)
        return Items(
            key=self.key,
            query=self.query,
            queries=self.queries,
            arm=self.arm,
            arms=self.arms,
            category=self.category,
            categories=self.categories,
            system_1=system_1,
            system_2=system_2,
            systems=self.systems,
            length_1=length_1,
            length_2=length_2,
            splits=self.splits,
        )

    @cached_property
    def only_system(self) -> Ints:
        """The system of what an item is about as a whole: of its response, where it has just one."""
        if not self.system.shape[1]:
            return np.full(len(self), NO_SYSTEM)
        single = (self.system >= 0).sum(axis=1) == 1
        return np.where(single, self.system[:, 0], NO_SYSTEM)

    def response_lengths(self, item: Ints, place: Ints) -> Floats:
        """The characters of the response at a `place` (n,) of an `item` (n,); a place of -1 is an item's only response.
        nan where there is none."""
        rows = [[float(each) for each in text.split(",") if each] for text in self.lengths.values]
        width = max((len(row) for row in rows), default=0)
        table = np.full((len(rows), width + 1), np.nan)
        for line, row in zip(table, rows, strict=True):
            line[: len(row)] = row
        single = np.array([len(row) == 1 for row in rows], dtype=bool)
        code = self.lengths.codes[item]
        at = np.where(place >= 0, np.minimum(place, width), np.where(single[code], 0, width))
        return np.asarray(table[code, at])

    @cached_property
    def offered(self) -> Ints:
        """Number of responses of each system in an item, (n, number of systems)."""
        table = np.zeros((len(self), len(self.systems)), dtype=np.int64)
        row, place = np.nonzero(self.system >= 0)
        np.add.at(table, (row, self.system[row, place]), 1)
        return table


@dataclass(frozen=True, eq=False)
class SetPairs:
    """Pairs of two raters' sets of one item, arrays of shape (n,): their raters' pseudonyms, and how far they agree."""

    item: Ints
    one: npt.NDArray[Any]
    other: npt.NDArray[Any]
    matched: Floats
    alike: Floats


@dataclass(frozen=True, eq=False)
class Attributes:
    """The meaning of the parts f1.v1, ... of each item: codes (n, f, v) of attributes and of their values."""

    attribute: Ints
    value: Ints
    attributes: tuple[str, ...]
    # (attribute's code, text) of each value.
    values: tuple[tuple[int, str], ...]


@dataclass(frozen=True, eq=False)
class Answers:
    """One group's answers to one question, replicates reduced; arrays of shape (n,), one row per answer.

    `part` codes `parts`, the same for every group. `value` is the number, or the code of the label: a choice's place
    among the choices, the place of the preferred response, -1 for a tie. `judgment` is any code of the judgment,
    `order` that of the order in which responses were shown, NO_ORDER of several judgments that were reduced to one:
    a row of `orders` (o, r), which have the place on the screen of each response.
    """

    question: QuestionSpec
    items: StudyItems
    parts: tuple[str, ...]
    judgment: Ints
    item: Ints
    rater: Ints
    part: Ints
    value: Floats
    order: Ints
    orders: Ints

    def __len__(self) -> int:
        return len(self.item)

    def where(self, mask: Bools) -> "Answers":
        rows = ("judgment", "item", "rater", "part", "value", "order")
        return replace(self, **{name: getattr(self, name)[mask] for name in rows})

    @cached_property
    def response(self) -> Ints:
        """The place of the response that the answer is about, -1 where it is about none."""
        return response_places(self.parts)[self.part]

    @cached_property
    def system(self) -> Ints:
        whole = self.items.only_system[self.item]
        if not self.items.system.shape[1]:
            return whole
        own = self.items.system[self.item, np.maximum(self.response, 0)]
        return np.where(self.response >= 0, own, whole)

    @cached_property
    def shown(self) -> Ints:
        """The place on the screen of the response that the answer is about or, of a pick, that it picks; UNKNOWN_PLACE
        where that is not known or none."""
        is_pick = self.question.kind == Kind.PREFERENCE
        response = self.value.astype(np.int32) if is_pick else self.response
        known = np.flatnonzero((self.order != NO_ORDER) & (response >= 0))
        shown = np.full(len(self), UNKNOWN_PLACE, dtype=np.int32)
        shown[known] = self.orders[self.order[known], response[known]]
        return shown

    def codes_beside(self, other: "Answers") -> tuple[Ints, Ints]:
        """Codes of each answer's rater, item and part, the same for the same group's answers to another question."""
        parts = {part: code for code, part in enumerate(dict.fromkeys([*self.parts, *other.parts]))}
        return _codes(self, parts), _codes(other, parts)

    def as_values(self) -> Values:
        """Units are numbered alike in every group, so that groups can be compared."""
        return Values(
            unit=self.item.astype(np.int64) * max(len(self.parts), 1) + self.part,
            query=self.items.query[self.item],
            system=self.system,
            part=self.part,
            item=self.item,
            rater=self.rater,
            value=self.value,
        )

    def as_picks(self) -> Picks:
        response = self.value.astype(np.int64)
        picked = response >= 0
        system = self.items.system[self.item, np.maximum(response, 0)]
        return Picks(
            item=self.item,
            query=self.items.query[self.item],
            rater=self.rater,
            response=np.where(picked, response, NO_PICK),
            system=np.where(picked, system, NO_SYSTEM),
        )

    def as_ranks(self) -> Ranks:
        return self._ranks

    # Checked once: half a dozen figures are of the same rankings.
    @cached_property
    def _ranks(self) -> Ranks:
        return Ranks(
            judgment=self.judgment,
            item=self.item,
            query=self.items.query[self.item],
            rater=self.rater,
            response=self.response,
            system=self.system,
            rank=self.value,
            place=self.shown,
        )


@dataclass(frozen=True, eq=False)
class AnswerGroup:
    """Raters who are read together; `n_judgments` counts replicates, `per_rater` what is left of them.

    A `heuristic` reads nothing: it is a mark beside judges, and never one of them.
    """

    key: str
    label: str
    kind: str
    raters: tuple[str, ...]
    per_rater: tuple[int, ...]
    n_judgments: int
    n_items: int
    answers: Mapping[str, Answers]
    # By the key of a question that asks for sets of entries: how far each set is from its draft. Computed when it is
    # first called, as it takes long.
    distances: Callable[[str], Answers]
    # Of one judge that is asked in both orders: its answers by question before its readings are reduced.
    readings: Mapping[str, OrderReadings] = field(default_factory=dict)
    heuristic: bool = False
    # True of a jury as one rater.
    is_jury: bool = False
    # The key of the group that this one is a part of.
    within: str = ""


@dataclass(frozen=True, eq=False)
class AnswersFrame:
    items: StudyItems
    questions: tuple[QuestionSpec, ...]
    groups: tuple[AnswerGroup, ...]
    attributes: Attributes | None
    # By the key of a question that asks for sets of entries.
    sets: Mapping[str, SetsByItem]
    # Every two of them of one item; computed when it is first called, as it takes long.
    set_pairs: Callable[[str], SetPairs]


def _codes(answers: Answers, parts: Mapping[str, int]) -> Ints:
    code = np.array([parts[part] for part in answers.parts], dtype=np.int64)
    unit = answers.item.astype(np.int64) * len(parts) + code[answers.part]
    return answers.rater.astype(np.int64) * (len(answers.items) * len(parts) + 1) + unit


def values_of(attributes: Attributes, answers: Answers) -> tuple[Ints, Ints]:
    """The attribute and the value that each answer is about, as codes."""
    found = [VALUE.match(part) for part in answers.parts]
    numbers = np.array([(int(match[1]) - 1, int(match[2]) - 1) if match else (0, 0) for match in found])
    follow_up, place = numbers.reshape(-1, 2)[answers.part].T
    where = (answers.item, follow_up, place)
    return attributes.attribute[where], attributes.value[where]

"""Columns of texts and of votes that a map does not use, each with the reason: none is dropped in silence."""

import re
from dataclasses import dataclass
from typing import Any

from evaluation.dumps.tables.cells import SYSTEM_KEYS, TEXT_KEYS, structure_of
from evaluation.dumps.tables.column_names import (
    ColumnRole,
    asks_for_a_choice,
    asks_for_the_worse,
    judged_by_name,
    may_be_judged,
    plain_name,
    role_of_name,
)
from evaluation.dumps.tables.guess import LOOK_AT, SHORT
from evaluation.dumps.tables.judgments.cells import read_number
from evaluation.dumps.tables.judgments.guess import names_in_words, names_responses
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import LABELS, PER_RESPONSE, TableMap

# Words of names of columns that hold answers, in whatever form.
SAID = {
    "feedback",
    "annotation",
    "ratings",
    "votes",
    "labels",
    "judgments",
    "judgements",
    "scores",
    "rankings",
}
SAID |= {"annotations", "preferences"}
# Between the responses of an order.
ORDER = re.compile(r"[>,;|<]")


@dataclass(frozen=True)
class UnusedColumn:
    """A column of texts or votes, and why it is in no item; or what the objects in a column hold beside."""

    column: str
    reason: str
    what: str = "texts"

    def __str__(self) -> str:
        return f"column {self.column!r} holds {self.what} that are not used: {self.reason}"


def unused_texts(sheet: Sheet, table_map: TableMap, *, guessed: bool) -> list[UnusedColumn]:
    used = {use.column for use in table_map.columns if use.role != ColumnRole.IGNORED}
    of_map = "the map does not use it"
    found = []
    for column in sheet.columns:
        if column in used:
            continue
        if reason := _votes(sheet, table_map, column):
            found.append(UnusedColumn(column, reason if guessed else of_map, "votes"))
        elif _has_texts(sheet, column):
            found.append(UnusedColumn(column, _reason(column, table_map) if guessed else of_map))
    return found + _beside_responses(sheet, table_map)


def _votes(sheet: Sheet, table_map: TableMap, column: str) -> str:
    """Why a column that seems to hold votes is not read as them; empty where it holds none."""
    values = sheet.values(column)[:LOOK_AT]
    # Objects, as of a rater and a vote, are no prose.
    texts = [as_name(each) for each in values if structure_of(each) is None]
    is_prose = bool(texts) and sum(map(len, texts)) >= SHORT * len(texts)
    if is_prose or not table_map.named(ColumnRole.RESPONSE, ColumnRole.RESPONSES):
        return ""
    role = judged_by_name(column)
    if asks_for_the_worse(column) and (
        asks_for_a_choice(column) or names_responses(sheet, table_map, column)
    ):
        return "by its name it may say which response is the worse, and only the preferred one is read"
    if role == ColumnRole.WINNER or asks_for_a_choice(column):
        return _unread_choice(sheet, table_map, column)
    if role == ColumnRole.RANK and all(ORDER.search(as_name(each)) for each in values):
        return "an order of the responses in one cell is not read; a column of ranks for each of them is"
    if may_be_judged(column) and role in (None, ColumnRole.SCORE, ColumnRole.RANK):
        numbers = sum(read_number(each) is not None for each in values)
        if numbers == len(values):
            return "by its name it is a score or rank, and nothing says of which response or by whom"
        if numbers:
            return "by its name it is a score or rank, and too many of its cells are no numbers"
    if SAID & {*plain_name(column).split()}:
        return "by its name it says what people or judges answered; choose what it is"
    if names_in_words(sheet, table_map, column):
        return "what stands in it may be votes, and its name does not say what it is"
    return ""


def _unread_choice(sheet: Sheet, table_map: TableMap, column: str) -> str:
    if not names_responses(sheet, table_map, column):
        return "by its name it says which response is chosen, and too few of its cells name one"
    if taken := table_map.named(ColumnRole.WINNER):
        return f"column {taken[0].column!r} is the {LABELS[ColumnRole.WINNER]} already"
    if judged_by_name(column) is None and not names_in_words(sheet, table_map, column):
        return "by its name it says which response is chosen, and its numbers may say anything"
    if table_map.per == PER_RESPONSE:
        return "by its name it may say which response is chosen, and it says yes of several to one prompt"
    return "by its name it says which response is chosen; choose what it is"


def _beside_responses(sheet: Sheet, table_map: TableMap) -> list[UnusedColumn]:
    """Values of the objects in a column of responses beside a system and a text, such as scores."""
    found = []
    for use in table_map.named(ColumnRole.RESPONSES):
        cells = [structure_of(each) for each in sheet.values(use.column)[:LOOK_AT]]
        keys = dict.fromkeys(
            str(name)
            for cell in cells
            if isinstance(cell, list)
            for each in cell
            if isinstance(each, dict)
            for name in each
        )
        if beside := [repr(name) for name in keys if name not in (*SYSTEM_KEYS, *TEXT_KEYS)]:
            reason = f"of each response its system and its text are read, not {', '.join(beside)}"
            found.append(UnusedColumn(use.column, reason, "values"))
    return found


def _has_texts(sheet: Sheet, column: str) -> bool:
    """True for sentences and for words that differ; not for keys, times, numbers and labels, nor for JSON of these."""
    texts = [_written(each) for each in sheet.values(column)[:LOOK_AT]]
    if not texts or sum(map(_words, texts)) < 2 * len(texts):
        return False
    return sum(map(len, texts)) >= SHORT * len(texts) or 2 * len(set(texts)) > len(texts) > 1


def _written(cell: Any) -> str:
    """The text of a cell; of JSON the texts in it, without the names of its keys."""
    found = structure_of(cell)
    if found is None:
        return as_name(cell)
    inside = found.values() if isinstance(found, dict) else found
    return " ".join(_written(each) for each in inside if isinstance(each, str | list | dict)).strip()


def _words(text: str) -> int:
    """Words with letters in them; in scripts without blanks about two letters are one."""
    written = sum(any(map(str.isalpha, each)) for each in text.split())
    return max(written, sum(each.isalpha() and each > "\u2e7f" for each in text) // 2)


def _reason(column: str, table_map: TableMap) -> str:
    found = role_of_name(column)
    if found is None:
        return "neither its name nor its content tells what it is"
    if found.role == ColumnRole.IGNORED:
        return "by its name it is about judgments or the file, and no part of an item"
    if taken := table_map.named(found.role):
        return f"column {taken[0].column!r} is the {LABELS[found.role]} already"
    if found.role == ColumnRole.SYSTEM:
        return "systems' names are used where there is one for each column of responses"
    return f"its name says {LABELS[found.role]}, and its content does not fit"

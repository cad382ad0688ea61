"""Columns of texts that a map does not use, each with the reason: none is dropped in silence."""

from dataclasses import dataclass
from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.column_names import ColumnRole, role_of_name
from evaluation.dumps.tables.guess import LOOK_AT, SHORT
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import LABELS, TableMap


@dataclass(frozen=True)
class UnusedColumn:
    """A column of texts, and why it is in no item."""

    column: str
    reason: str

    def __str__(self) -> str:
        return f"column {self.column!r} holds texts that are not used: {self.reason}"


def unused_texts(sheet: Sheet, table_map: TableMap, *, guessed: bool) -> list[UnusedColumn]:
    used = {use.column for use in table_map.columns if use.role != ColumnRole.IGNORED}
    return [
        UnusedColumn(column, _reason(column, table_map) if guessed else "the map does not use it")
        for column in sheet.columns
        if column not in used and _has_texts(sheet, column)
    ]


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

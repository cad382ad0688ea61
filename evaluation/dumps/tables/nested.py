"""Records that lie a level down: an object under one key, with bookkeeping around it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole, role_of_name
from evaluation.dumps.tables.sheet import MAX_COLUMNS, Sheet, is_empty
from evaluation.dumps.tables.turns import LOOK_AT
from evaluation.refusals import Refused

Rows = list[tuple[int, list[Any]]]
DEEPEST = 2
# What a record is about.
MATERIAL = (ColumnRole.PROMPT, ColumnRole.RESPONSE, ColumnRole.RESPONSES)


def open_records(names: Sequence[str], rows: Rows) -> tuple[list[str], Rows]:
    """The table with such objects opened: their keys are columns; a key that is taken stands behind the column's."""
    names = list(names)
    for _ in range(DEEPEST):
        at = _closed(names, rows)
        if at is None:
            break
        names, rows = _opened(names, rows, at)
    return names, rows


def open_column(sheet: Sheet, column: str) -> Sheet:
    """The table with the objects of that column opened, whatever their keys are called."""
    rows = [(row.number, list(row.cells)) for row in sheet.rows]
    names, opened = _opened([*sheet.columns], rows, sheet.columns.index(column))
    cells = [tuple(each) for _, each in opened]
    return replace(
        sheet,
        columns=tuple(names),
        rows=tuple(replace(row, cells=each) for row, each in zip(sheet.rows, cells, strict=True)),
    )


def _closed(names: Sequence[str], rows: Rows) -> int | None:
    """The column of objects that holds what the record is about, where nothing beside it does."""
    found = [at for at in range(len(names)) if any(map(_holds_material, _objects(rows, at)))]
    beside = [name for at, name in enumerate(names) if at not in found]
    return found[0] if len(found) == 1 and not any(_role(name) for name in beside) else None


def _objects(rows: Rows, at: int) -> list[Mapping[str, Any]]:
    """The column's first cells, where all of them are objects."""
    seen = [cells[at] for _, cells in rows[:LOOK_AT] if at < len(cells) and not is_empty(cells[at])]
    return seen if all(isinstance(each, Mapping) for each in seen) else []


def _holds_material(value: Mapping[str, Any], level: int = 1) -> bool:
    """True for a prompt or two responses among the object's keys, or those of an object in it."""
    roles = [_role(name) for name, each in value.items() if not is_empty(each)]
    if ColumnRole.PROMPT in roles or roles.count(ColumnRole.RESPONSE) > 1:
        return True
    inside = [each for each in value.values() if isinstance(each, Mapping)]
    return level < DEEPEST and any(_holds_material(each, level + 1) for each in inside)


def _role(name: Any) -> ColumnRole | None:
    """The role of what a record is about, where the name tells nothing but that."""
    found = role_of_name(name) if isinstance(name, str) else None
    return found.role if found and found.role in MATERIAL and found.is_whole else None


def _opened(names: list[str], rows: Rows, at: int) -> tuple[list[str], Rows]:
    outer = [name for each, name in enumerate(names) if each != at]
    inner: dict[str, None] = {}
    for _, cells in rows:
        if at < len(cells) and isinstance(cells[at], Mapping):
            inner.update(dict.fromkeys(cells[at]))
    if len(outer) + len(inner) > MAX_COLUMNS:
        raise Refused(f"The objects in {names[at]!r} have more than {MAX_COLUMNS} keys.")
    called = [f"{names[at]}.{name}" if name in outer else name for name in inner]
    opened = []
    for number, cells in rows:
        own = cells[at] if at < len(cells) and isinstance(cells[at], Mapping) else {}
        others = [cells[each] if each < len(cells) else None for each in range(len(names)) if each != at]
        opened.append((number, [*others, *(own.get(name) for name in inner)]))
    return [*outer, *called], opened

"""JSON and JSONL whose records are somebody else's: an object is a row, its keys are the columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from evaluation.dumps.json_text import load_json
from evaluation.dumps.tables.readers.delimited import decode
from evaluation.dumps.tables.sheet import BrokenLine, RawRows, SizeGuard
from evaluation.refusals import Refused

# Keys of the list that has the rows, where there are others beside it.
ROWS_NAMED = ("samples", "results", "rows", "records", "items", "data")


def read_json(raw: bytes) -> RawRows:
    """A list of objects, an object that has one, or columns of equal length (as pandas writes both)."""
    text, notices = decode(raw)
    try:
        value = load_json(text)
    except orjson.JSONDecodeError as error:
        raise Refused(f"line {error.lineno}: not JSON: {error.msg}.") from None
    records = _records(value)
    if records is None:
        raise Refused("The JSON is no list of objects, one for each row, nor columns of equal length.")
    return table_of(list(enumerate(records, 1)), "record", notices)


def read_json_lines(raw: bytes, limit: int | None = None) -> RawRows:
    """A row for each line; one that is no object is a row without cells, as long as others are."""
    text, notices = decode(raw)
    records: list[tuple[int, Mapping[str, Any]]] = []
    broken: dict[int, BrokenLine] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = load_json(line)
        except orjson.JSONDecodeError as error:
            reason = f"not JSON: {error.msg} (character {error.colno} of the line)"
            value, broken[number] = {}, BrokenLine(reason, line)
        if not isinstance(value, dict):
            value, broken[number] = {}, BrokenLine("not a JSON object", line)
        records.append((number, value))
        if limit is not None and len(records) >= limit:
            break
    return replace(table_of(records, "line", notices), broken=broken)


def _records(value: Any) -> Sequence[Mapping[str, Any]] | None:
    if isinstance(value, list):
        return value if value and all(isinstance(each, dict) for each in value) else None
    if not isinstance(value, dict):
        return None
    if {"columns", "data"} <= value.keys() and isinstance(value["data"], list):
        rows = value["data"]
        if all(isinstance(row, list) for row in rows):
            return [dict(zip(map(str, value["columns"]), row, strict=False)) for row in rows]
    columns = {name: _column(each) for name, each in value.items()}
    lists = [each for each in columns.values() if each is not None]
    if len(lists) == len(columns) > 1 and len({len(each) for each in lists}) == 1:
        return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
    if (inside := _lists_inside(value)) is not None:
        return inside
    # The rows under keys of their own: {"q1": {...}, "q2": {...}}.
    if value and all(isinstance(each, dict) for each in value.values()):
        return [{"id": key, **each} for key, each in value.items()]
    return None


def _lists_inside(value: Mapping[str, Any]) -> Sequence[Mapping[str, Any]] | None:
    """The one list of objects, or the one that is named as rows are, in the object or in one of its objects."""
    found = {
        key: records for key, each in value.items() if isinstance(each, list) and (records := _records(each))
    }
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        return next((found[name] for name in ROWS_NAMED if name in found), None)
    # Objects that are rows themselves have no lists of others.
    deeper = [
        rows
        for key in ROWS_NAMED
        if isinstance(each := value.get(key), dict) and (rows := _lists_inside(each))
    ]
    return deeper[0] if deeper else None


def _column(value: Any) -> list[Any] | None:
    """A column as pandas writes it: a list, or an object from row numbers to values."""
    if isinstance(value, list):
        return value if not any(isinstance(each, dict) for each in value) else None
    if isinstance(value, dict) and value and all(key.isdigit() for key in value):
        return list(value.values())
    return None


def table_of(
    records: Iterable[tuple[int, Mapping[str, Any]]], unit: str, notices: Sequence[str] = ()
) -> RawRows:
    """A row for each record, by its number, and a column for each key that one of them has."""
    records = list(records)
    names: dict[str, None] = {}
    for _, record in records:
        names.update(dict.fromkeys(record))
    guard = SizeGuard()
    rows = []
    for number, record in records:
        cells = [record.get(name) for name in names]
        guard.add(cells)
        rows.append((number, cells))
    return RawRows(rows, unit, names=list(names), notices=notices)

"""The row that names the columns, found among titles and empty rows; what has no name gets its number."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import orjson

from evaluation.dumps.json_text import load_json
from evaluation.dumps.spreadsheets import exact_cell
from evaluation.dumps.tables.column_names import role_of_name
from evaluation.dumps.tables.nested import open_records
from evaluation.dumps.tables.readers.json_rows import table_of
from evaluation.dumps.tables.sheet import (
    RawRows,
    Sheet,
    SheetRow,
    as_name,
    as_text,
    is_conversation,
    is_empty,
)
from evaluation.dumps.tables.turns import with_messages
from evaluation.refusals import Refused

# A name of a column is short; a cell that is longer is content.
MAX_NAME = 80
# The first two columns of rows that were left out of an import and come again.
REASON, ROW = "left out because", "row in the file"
# The third, where there are lines of JSON that could not be read.
LINE = "line of the file"
# A title stands above a table only if one of the next rows has more cells.
LOOK_AT = 6
# Below the names, where the row with the ids of a survey's questions may be.
IMPORT_IDS_WITHIN = 2

Rows = list[tuple[int, list[Any]]]


def name_columns(raw: RawRows, name: str, header: bool | None = None, *, least_columns: int = 2) -> Sheet:
    """The rows as a table with named columns; `header` None: the first row is looked at."""
    rows = [
        (number, list(cells))
        for number, cells in raw.rows
        if number in raw.broken or not all(map(is_empty, cells))
    ]
    notices = list(raw.notices)
    names = raw.names
    if names is None:
        rows = _without_titles(rows, raw.unit, notices)
    else:
        names, rows = open_records(names, rows)
    if not rows:
        raise Refused("The file has no rows.")
    has_header = True
    if names is None:
        has_header = _is_header(rows[0][1]) if header is None else header
        if has_header:
            names, rows = [as_name(each) for each in rows[0][1]], rows[1:]
            rows = _without_import_ids(rows, notices)
            names, rows = _joined_header(names, rows, notices)
            names, rows = _handed_back(names, rows)
        else:
            names = []
            notices.append("The first row looks like content, so columns are called by their numbers.")
        if not rows:
            raise Refused("The file has the names of columns, and no rows.")
    rows = with_messages(rows)
    width = max(len(cells) for _, cells in rows)
    used = [at for at in range(max(width, len(names))) if _is_used(at, names, rows)]
    if len(used) < least_columns and not _are_conversations(rows, used):
        raise Refused(
            "This is no table: it has one column only. Prompt and responses have to stand in columns of their own, "
            "separated by commas, semicolons or tabs."
        )
    columns = _unique([_name(names, at) for at in used])
    # A last column without a name, of a few rows only, is what a separator too many has made.
    stray = {at for at in used if has_header and at >= len(names)}
    kept = [
        (
            number,
            cells,
            (raw.broken[number].reason,)
            if number in raw.broken
            else _stray_problem(cells, stray, len(names)),
        )
        for number, cells in rows
    ]
    columns = tuple(each for each, at in zip(columns, used, strict=True) if at not in stray)
    places = [at for at in used if at not in stray]
    return Sheet(
        name=name,
        unit=raw.unit,
        columns=columns,
        rows=tuple(
            SheetRow(
                number,
                tuple(cells[at] if at < len(cells) else None for at in places),
                problems,
                raw.broken[number].line if number in raw.broken else "",
            )
            for number, cells, problems in kept
        ),
        has_header=has_header,
        sheets=tuple(raw.sheets),
        sheet=raw.sheet,
        is_cut=raw.is_cut,
        has_images=raw.has_images,
        notices=tuple(notices),
    )


def _handed_back(names: list[str], rows: Rows) -> tuple[list[str], Rows]:
    """Rows that were left out, as the file had them: without their reasons, and without what guards a spreadsheet. A
    line that could not be read is taken for the row's cells where it was mended."""
    if names[:2] != [REASON, ROW]:
        return names, rows
    first = 3 if names[2:3] == [LINE] else 2
    names = [*map(exact_cell, names[first:])]
    mended = _mended((number, line) for number, cells in rows for line in cells[2:first])
    return names, [
        (
            number,
            [mended[number].get(name) for name in names]
            if number in mended
            else [*map(exact_cell, cells[first:])],
        )
        for number, cells in rows
    ]


def _mended(lines: Iterable[tuple[int, Any]]) -> dict[int, dict[str, Any]]:
    """By number, the cells of those lines that are JSON by now, under the columns that they had in a whole file."""
    records: dict[int, dict[str, Any]] = {}
    for number, line in lines:
        with suppress(orjson.JSONDecodeError):
            record = load_json(str(exact_cell(line)))
            if isinstance(record, dict) and not all(map(is_empty, record.values())):
                records[number] = record
    if not records:
        return {}
    sheet = name_columns(table_of(records.items(), "line"), "", least_columns=0)
    return {row.number: dict(zip(sheet.columns, row.cells, strict=True)) for row in sheet.rows}


def _are_conversations(rows: Rows, used: Sequence[int]) -> bool:
    """True for one column that has all of an item: what was said, and the response to it."""
    return len(used) == 1 and all(
        is_conversation(cells[used[0]]) and len(cells[used[0]]) > 1 for _, cells in rows
    )


def _without_import_ids(rows: Rows, notices: list[str]) -> Rows:
    """The rows below the three header rows of a Qualtrics export: names, questions' texts, ids as JSON."""
    for at, (_, cells) in enumerate(rows[:IMPORT_IDS_WITHIN]):
        texts = [as_name(each) for each in cells if not is_empty(each)]
        if texts and all(each.startswith('{"ImportId"') for each in texts):
            notices.append("Below the names stand the questions' texts and their ids, which are left out.")
            return rows[at + 1 :]
    return rows


def _without_titles(rows: Rows, unit: str, notices: list[str]) -> Rows:
    """The rows from the header on: a line of one cell above rows of several is a title."""
    start = 0
    while start < len(rows) - 1 and _filled(rows[start][1]) == 1:
        if not any(_filled(cells) > 1 for _, cells in rows[start + 1 : start + LOOK_AT]):
            break
        start += 1
    if start:
        notices.append(
            f"Above the table stands something else, which is left out (to {unit} {rows[start - 1][0]})."
        )
    return rows[start:]


def _filled(cells: Sequence[Any]) -> int:
    return sum(not is_empty(each) for each in cells)


def _joined_header(names: list[str], rows: Rows, notices: list[str]) -> tuple[list[str], Rows]:
    """Of a table with merged headers, whose second row names columns once more, both names: "GPT-4 response".

    A merged cell stands above all columns up to the next one that is filled; where nothing is below, it is a name by
    itself, and so is what stands below nothing.
    """
    lower = [as_name(each) for each in rows[0][1]] if rows else []
    said = [each for each in lower if each]
    if len(said) < 2 or any(len(each) > MAX_NAME or role_of_name(each) is None for each in said):
        return names, rows
    found, above = [], ""
    for at in range(max(len(names), len(lower))):
        upper, below = (each[at] if at < len(each) else "" for each in (names, lower))
        above = upper or (above if below else "")
        found.append(" ".join(dict.fromkeys(filter(None, (above, below)))))
    notices.append(
        "The table has two rows of names, which are joined, such as "
        + repr(found[lower.index(said[-1])])
        + "."
    )
    return found, rows[1:]


def _is_header(cells: Sequence[Any]) -> bool:
    """True unless the row reads like content: sentences, numbers, long texts, and no name that is known."""
    texts = [as_name(each) for each in cells if not is_empty(each)]
    if any(len(each) <= MAX_NAME and role_of_name(each) is not None for each in texts):
        return True
    return not any(
        len(each) > MAX_NAME or each.endswith(("?", ".", "!")) or each.replace(".", "").isdigit()
        for each in texts
    )


def _is_used(at: int, names: Sequence[str], rows: Sequence[tuple[int, list[Any]]]) -> bool:
    """True for a column with a name or with content; spreadsheets have any number of others."""
    return bool(at < len(names) and names[at]) or any(
        at < len(cells) and not is_empty(cells[at]) for _, cells in rows
    )


def _name(names: Sequence[str], at: int) -> str:
    name = " ".join(names[at].split())[:MAX_NAME] if at < len(names) else ""
    return name or f"column {at + 1}"


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in names:
        number = 1
        unique = name
        while unique in found:
            number += 1
            unique = f"{name} ({number})"
        found[unique] = None
    return tuple(found)


def _stray_problem(cells: Sequence[Any], stray: set[int], named: int) -> tuple[str, ...]:
    extra = [cells[at] for at in sorted(stray) if at < len(cells) and not is_empty(cells[at])]
    if not extra:
        return ()
    return (
        f"has {len(cells)} cells, and the header has {named}; the first too many is {as_text(extra[0])[:60]!r}. "
        "A text with a separator in it has to stand in quotation marks",
    )

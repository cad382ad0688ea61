"""Label Studio's exports CSV, TSV and JSON_MIN: a row for each annotation, with the task's data and the answers in
columns of their own, which are told apart by what they hold."""

import json
from collections.abc import Mapping
from typing import Any

from evaluation.dumps.tables.answers import cells_of, columns_for, preferred, roles_of_answers
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_text, is_empty
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, guess_material, records, sub_sheet

NEEDED = {"annotation_id", "annotator", "lead_time"}
# Keys of what an answer holds.
HOLDERS = ("selected", "choices", "text", "rating", "number")
BOOKKEEPING = {*NEEDED, "id", "created_at", "updated_at", "agreement"}


def _tells(sheet: Sheet) -> bool:
    return {*sheet.columns} >= NEEDED


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    shown = sub_sheet(sheet, {each: each for each in sheet.columns if each not in BOOKKEEPING})
    material = guess_material(shown)
    unused = [each.column for each in material.columns if each.role == ColumnRole.IGNORED]
    task = sub_sheet(shown, {each: each for each in shown.columns if each not in unused})
    every = [{name: _answer(record[name]) for name in unused} for _, record in records(sheet)]
    roles = roles_of_answers(every, task, material)
    names = columns_for(roles, task)
    uses = [
        *(each for each in material.columns if each.role != ColumnRole.IGNORED),
        *(ColumnUse(names[name], role) for name, role in roles.items()),
        ColumnUse("annotator", ColumnRole.RATER),
        ColumnUse("lead_time", ColumnRole.SECONDS),
        ColumnUse("created_at", ColumnRole.JUDGED_AT),
    ]
    plain = PlainTable(sheet, uses, BOOKKEEPING)
    for (row, record), answers in zip(records(sheet), every, strict=True):
        judged = any(not is_empty(answers[name]) for name in roles)
        if not judged:
            plain.leave_out("annotations without an answer that can be read", "judgment")
            plain.add(row, {**record, "annotator": None, **dict.fromkeys(names.values())})
            continue
        plain.add(row, record | {"annotator": as_text(record["annotator"])} | cells_of(answers, roles, names))
    return plain.finish()


def _answer(cell: Any) -> Any:
    """A choice or a text; of a pair the side that was selected; of several choices all of them."""
    value = _opened(cell)
    if not isinstance(value, list):
        return _held(value)
    parts = [_held(each) for each in value]
    return parts[0] if len(parts) == 1 else "\n".join(map(as_text, parts))


def _held(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    inside = next((value[each] for each in HOLDERS if each in value), None)
    return preferred(inside) if isinstance(inside, str) else inside


def _opened(cell: Any) -> Any:
    """JSON in a cell of CSV as what it holds."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell


TOOL = Tool("label_studio_table", "a Label Studio export as a table", _tells, _read)

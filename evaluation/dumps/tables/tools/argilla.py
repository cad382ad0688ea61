"""Argilla's records as a data set: a record's fields, and for each question who answered what, and how far they are."""

from typing import Any

from evaluation.dumps.tables.answers import cells_of, columns_for, roles_of_answers
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import (
    PlainTable,
    Record,
    Tool,
    guess_material,
    records,
    sub_sheet,
)

ANSWERS, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
BOOKKEEPING = {"id", "status", "_server_id", "inserted_at", "updated_at"}


def _questions(sheet: Sheet) -> list[str]:
    names = [each.removesuffix(ANSWERS) for each in sheet.columns if each.endswith(ANSWERS)]
    return [each for each in names if {f"{each}{USERS}", f"{each}{STATUS}"} <= {*sheet.columns}]


def _tells(sheet: Sheet) -> bool:
    return bool(_questions(sheet))


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    questions = _questions(sheet)
    about = {
        each for each in sheet.columns for name in questions if each.startswith(f"{name}.")
    } | BOOKKEEPING
    shown = sub_sheet(sheet, {each: each for each in sheet.columns if each not in about})
    material = guess_material(shown)
    made = [(row, record, _by_user(record, questions)) for row, record in records(sheet)]
    every = [answers for _, _, users in made for answers, _ in users.values()]
    roles = roles_of_answers(every, shown, material)
    columns = columns_for(roles, shown)
    uses = [
        *material.columns,
        *(ColumnUse(columns[name], role) for name, role in roles.items()),
        ColumnUse("user", ColumnRole.RATER),
    ]
    plain = PlainTable(sheet, uses, about)
    for row, record, users in made:
        judged = False
        for user, (answers, status) in users.items():
            if status != "submitted":
                plain.leave_out("answers that were not submitted", "judgment")
                continue
            plain.add(row, record | cells_of(answers, roles, columns) | {"user": user})
            judged = True
        if not judged:
            plain.add(row, record)
    return plain.finish()


def _by_user(record: Record, questions: list[str]) -> dict[str, tuple[Record, str]]:
    """Each user's answers by question, and how far they were with them."""
    found: dict[str, tuple[Record, str]] = {}
    for name in questions:
        answers, users, statuses = (_listed(record[f"{name}{part}"]) for part in (ANSWERS, USERS, STATUS))
        for answer, user, status in zip(answers, users, statuses, strict=False):
            given, _ = found.setdefault(as_name(user), ({}, as_name(status)))
            given[name] = answer
    return found


def _listed(cell: Any) -> list[Any]:
    return cell if isinstance(cell, list) else []


TOOL = Tool("argilla", "records of Argilla", _tells, _read)

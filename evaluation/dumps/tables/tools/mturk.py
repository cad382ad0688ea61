"""Batch results of Amazon Mechanical Turk: what a task showed (Input.*), and what a worker answered (Answer.*)."""

from evaluation.dumps.tables.answers import cells_of, columns_for, roles_of_answers
from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import (
    PlainTable,
    Record,
    Tool,
    as_object,
    guess_material,
    records,
    sub_sheet,
)

INPUT, ANSWER = "Input.", "Answer."
# Who answered, when, and how long it took.
ABOUT = {
    "WorkerId": ColumnRole.RATER,
    "WorkTimeInSeconds": ColumnRole.SECONDS,
    "SubmitTime": ColumnRole.JUDGED_AT,
}
# What forms of crowd elements send: all their fields in one cell.
TASK_ANSWERS = "taskAnswers"
NEEDED = {"HITId", "AssignmentId", "WorkerId", "AssignmentStatus"}


def _tells(sheet: Sheet) -> bool:
    return {*sheet.columns} >= NEEDED and any(each.startswith(INPUT) for each in sheet.columns)


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    shown = {each: each.removeprefix(INPUT) for each in sheet.columns if each.startswith(INPUT)}
    table = sub_sheet(sheet, shown)
    material = guess_material(table)
    answers = [_answers(record) for _, record in records(sheet)]
    roles = roles_of_answers(answers, table, material)
    columns = columns_for(roles, table)
    uses = [
        *material.columns,
        *(ColumnUse(columns[name], role) for name, role in roles.items()),
        *(ColumnUse(column, role) for column, role in ABOUT.items() if column in sheet.columns),
    ]
    bookkeeping = {each for each in sheet.columns if not each.startswith(ANSWER)}
    read = {f"{ANSWER}{name}" for name in (TASK_ANSWERS, *roles)}
    plain = PlainTable(sheet, uses, bookkeeping | read)
    items: dict[str, tuple[SheetRow, Record]] = {}
    judged: set[str] = set()
    for (row, record), answer in zip(records(sheet), answers, strict=True):
        item = {name: record[column] for column, name in shown.items()}
        hit = repr(item)
        items.setdefault(hit, (row, item))
        if as_name(record["AssignmentStatus"]) == "Rejected" or as_name(record.get("Reject")):
            plain.leave_out("assignments that were rejected", "judgment")
            continue
        judged.add(hit)
        plain.add(row, record | item | cells_of(answer, roles, columns))
    for hit, (row, item) in items.items():
        if hit not in judged:
            plain.add(row, item)
    return plain.finish()


def _answers(record: Record) -> Record:
    """The worker's answers by question; of boxes, a column or a key each, the one that is ticked."""
    given = {name.removeprefix(ANSWER): value for name, value in record.items() if name.startswith(ANSWER)}
    forms = structure_of(given.pop(TASK_ANSWERS, None))
    for form in forms if isinstance(forms, list) else [forms]:
        given |= as_object(form)
    found: Record = {}
    for name, value in given.items():
        boxes = as_object(value)
        question, dot, choice = name.rpartition(".")
        if boxes and all(isinstance(each, bool) for each in boxes.values()):
            ticked = [str(each) for each, is_on in boxes.items() if is_on]
            found[name] = ticked[0] if len(ticked) == 1 else ""
        elif not isinstance(value, str | int | float):
            continue
        elif dot and as_name(value).casefold() in ("true", "false"):
            if as_name(value).casefold() == "true":
                found[question] = choice
        else:
            found[name] = value
    return found


TOOL = Tool("mturk", "batch results of Mechanical Turk", _tells, _read)

"""Label Studio's export (JSON): a task's data, and the annotations that people made of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.dumps.tables.answers import cells_of, columns_for, roles_of_answers
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.nested import open_column
from evaluation.dumps.tables.sheet import Sheet, as_name, as_text, is_empty
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import (
    PlainTable,
    Record,
    Tool,
    as_object,
    as_objects,
    cells_are,
    guess_material,
    records,
    sub_sheet,
)

DATA, JUDGED = "data", "annotations"
# What stands around a task's data.
BOOKKEEPING = {
    "id", "inner_id", JUDGED, "predictions", "drafts", "meta", "created_at", "updated_at", "project",
    "file_upload", "updated_by", "total_annotations", "cancelled_annotations", "total_predictions",
    "comment_count", "unresolved_comment_count", "last_comment_updated_at", "comment_authors", "agreement",
    "annotators", "is_labeled", "overlap", "reviews", "allow_skip", "annotations_ids", "annotations_results",
}  # fmt: skip
SIDES = {"left": "A", "right": "B"}


def _holds_results(cell: Any) -> bool:
    return isinstance(cell, list) and all(
        isinstance(each, Mapping) and isinstance(each.get("result"), list) for each in cell
    )


def _tells(sheet: Sheet) -> bool:
    return cells_are(sheet, [JUDGED], _holds_results) and not BOOKKEEPING.issuperset(sheet.columns)


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    if DATA in sheet.columns:
        sheet = open_column(sheet, DATA)
    task = {each: each for each in sheet.columns if each not in BOOKKEEPING}
    shown = sub_sheet(sheet, task)
    material = guess_material(shown)
    responses = [each.column for each in material.named(ColumnRole.RESPONSE)]
    made = [
        (row, record, [(each, _answers(each, responses)) for each in as_objects(record[JUDGED])])
        for row, record in records(sheet)
    ]
    every = [answers for _, _, forms in made for _, answers in forms]
    roles = roles_of_answers(every, shown, material)
    names = columns_for(roles, shown)
    uses = [
        *material.columns,
        *(ColumnUse(names[name], role) for name, role in roles.items()),
        ColumnUse("annotator", ColumnRole.RATER),
        ColumnUse("seconds", ColumnRole.SECONDS),
        ColumnUse("annotated_at", ColumnRole.JUDGED_AT),
    ]
    plain = PlainTable(sheet, uses, BOOKKEEPING)
    for row, record, forms in made:
        judged = False
        for form, answers in forms:
            if form.get("was_cancelled"):
                plain.leave_out("annotations that were cancelled", "judgment")
                continue
            if not roles.keys() & answers.keys():
                plain.leave_out("annotations without an answer that can be read", "judgment")
                continue
            about = {
                "annotator": _annotator(form.get("completed_by")),
                "seconds": form.get("lead_time"),
                "annotated_at": form.get("created_at"),
            }
            plain.add(row, record | cells_of(answers, roles, names) | about)
            judged = True
        if not judged:
            plain.add(row, record)
    return plain.finish()


def _annotator(value: Any) -> str:
    """The annotator's number; an address only where there is no other name, and then it becomes a pseudonym."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in ("id", "email") if not is_empty(value.get(name))), "")
    return as_text(value)


def _answers(form: Mapping[str, Any], responses: Sequence[str]) -> Record:
    """The annotator's answers by the name of the control."""
    found: Record = {}
    for result in as_objects(form.get("result")):
        value = as_object(result.get("value"))
        name = as_name(result.get("from_name")) or "answer"
        if "selected" in value:
            found[name] = _side(as_name(value["selected"]), result.get("to_name"), responses)
        elif result.get("type") in ("choices", "textarea", "rating", "number"):
            inside = next(
                (value[each] for each in ("choices", "text", "rating", "number") if each in value), None
            )
            parts = inside if isinstance(inside, list) else [inside]
            found[name] = parts[0] if len(parts) == 1 else "\n".join(map(as_text, parts))
    return found


def _side(selected: str, to_name: Any, responses: Sequence[str]) -> str:
    """A or B of the responses as the table has them; the control may name them the other way round."""
    side = SIDES.get(selected, selected)
    named = [each.strip() for each in as_name(to_name).split(",")]
    if side in "AB" and named == [*responses[1::-1]] and len(named) == 2:
        return "B" if side == "A" else "A"
    return side


TOOL = Tool("label_studio", "a Label Studio export", _tells, _read)

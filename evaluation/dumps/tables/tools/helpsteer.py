"""Preferences of HelpSteer3 (nvidia/HelpSteer3): a conversation, two responses, and each annotator's grade from -3, the
first is much better, to 3."""

from collections.abc import Mapping
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, is_conversation
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, as_objects, cells_are, records

JUDGMENTS = "individual_preference"
RESPONSES = ("response1", "response2")
USES = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    *(ColumnUse(each, ColumnRole.RESPONSE, each) for each in RESPONSES),
    ColumnUse("winner", ColumnRole.WINNER),
    ColumnUse("reason", ColumnRole.REASON),
)


def _is_judgments(cell: Any) -> bool:
    return isinstance(cell, list) and all(isinstance(each, Mapping) and "score" in each for each in cell)


def _tells(sheet: Sheet) -> bool:
    return (
        cells_are(sheet, ["context"], is_conversation)
        and cells_are(sheet, [JUDGMENTS], _is_judgments)
        and {*RESPONSES} <= {*sheet.columns}
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    uses = [*USES, *([ColumnUse("domain", ColumnRole.CATEGORY)] if "domain" in sheet.columns else [])]
    plain = PlainTable(sheet, uses, {"context", JUDGMENTS})
    plain.notice("The file does not name its annotators. Of their grades the side is read, not by how much.")
    for row, record in records(sheet):
        item = record | {"prompt": record["context"]}
        votes = [
            {"winner": winner, "reason": each.get("reasoning")}
            for each in as_objects(record[JUDGMENTS])
            if (winner := _side(each.get("score")))
        ]
        for vote in votes or [{}]:
            plain.add(row, item | vote)
    return plain.finish()


def _side(score: Any) -> str:
    if not isinstance(score, int | float):
        return ""
    return "tie" if not score else "A" if score < 0 else "B"


TOOL = Tool("helpsteer", "preferences of HelpSteer", _tells, _read)

"""promptfoo's results (JSON, JSONL): each test's output by each provider, graded by its assertions."""

from collections.abc import Mapping
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name, as_text
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, as_object, cells_are, records
from evaluation.dumps.tables.turns import read_messages

USES = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    ColumnUse("provider", ColumnRole.SYSTEM),
    ColumnUse("output", ColumnRole.RESPONSE),
    ColumnUse("score", ColumnRole.SCORE),
    ColumnUse("rater", ColumnRole.RATER),
    ColumnUse("kind", ColumnRole.RATER_KIND),
    ColumnUse("reason", ColumnRole.REASON),
)
TAKEN = {"prompt", "provider", "response", "gradingResult", "score", "testCase"}


def _tells(sheet: Sheet) -> bool:
    return (
        cells_are(sheet, ["prompt"], lambda cell: isinstance(cell, Mapping) and "raw" in cell)
        and cells_are(sheet, ["response"], lambda cell: isinstance(cell, Mapping))
        and {"provider", "success"} <= {*sheet.columns}
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, TAKEN)
    seen: set[tuple[str, str]] = set()
    for row, record in records(sheet):
        raw = as_object(record["prompt"]).get("raw")
        prompt = read_messages(raw) or as_text(raw)
        output = as_text(as_object(record["response"]).get("output"))
        provider = _name(record["provider"])
        if not (prompt and provider and output):
            plain.leave_out("tests without an output")
            continue
        if (as_text(raw), provider) in seen:
            plain.leave_out("a second output of the same provider to the same prompt")
            continue
        seen.add((as_text(raw), provider))
        grading = as_object(record.get("gradingResult"))
        has_score = isinstance(record.get("score"), int | float) and bool(grading)
        judged = {
            "score": record["score"],
            "rater": "promptfoo",
            "kind": "judge",
            "reason": grading.get("reason"),
        }
        plain.add(
            row, {"prompt": prompt, "provider": provider, "output": output} | (judged if has_score else {})
        )
    return plain.finish(PER_RESPONSE)


def _name(provider: Any) -> str:
    if isinstance(provider, Mapping):
        return as_name(provider.get("label")) or as_name(provider.get("id"))
    return as_name(provider)


TOOL = Tool("promptfoo", "results of promptfoo", _tells, _read)

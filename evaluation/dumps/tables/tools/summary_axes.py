"""Axis files of openai/summarize_from_feedback: a post, one summary, and its ratings on up to four axes, 1 to 7."""

from collections.abc import Mapping
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name, as_text
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, as_object, cells_are, records
from evaluation.dumps.tables.tools.summaries import post_of

AXES = ("overall", "accuracy", "coverage", "coherence")
USES = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    ColumnUse("policy", ColumnRole.SYSTEM),
    ColumnUse("summary text", ColumnRole.RESPONSE),
    ColumnUse("category", ColumnRole.CATEGORY),
    *(ColumnUse(each, ColumnRole.SCORE) for each in AXES),
    ColumnUse("worker", ColumnRole.RATER),
    ColumnUse("reason", ColumnRole.REASON),
)


def _is_rated(cell: Any) -> bool:
    return (
        isinstance(cell, Mapping)
        and {"text", "policy"} <= cell.keys()
        and isinstance(cell.get("axes"), Mapping)
    )


def _tells(sheet: Sheet) -> bool:
    return cells_are(sheet, ["info"], lambda cell: isinstance(cell, Mapping)) and cells_are(
        sheet, ["summary"], _is_rated
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, {"info", "summary", "worker"})
    for row, record in records(sheet):
        info, summary = as_object(record["info"]), as_object(record["summary"])
        axes = {each: as_object(summary.get("axes")).get(each) for each in AXES}
        if not as_name(summary.get("policy")) or all(each is None for each in axes.values()):
            plain.leave_out("summaries without a policy or a rating")
            continue
        plain.add(
            row,
            {
                "prompt": post_of(info),
                "policy": summary["policy"],
                "summary text": as_text(summary.get("text")),
                "category": info.get("subreddit"),
                **axes,
                "worker": record.get("worker"),
                "reason": summary.get("note"),
            },
        )
    return plain.finish(PER_RESPONSE)


TOOL = Tool("summary_axes", "axis ratings of summarize-from-feedback", _tells, _read)

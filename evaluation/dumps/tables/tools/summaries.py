"""Comparisons of openai/summarize_from_feedback: a post, two summaries, and which was chosen."""

from collections.abc import Mapping
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name, as_text
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, as_object, cells_are, records

TEXTS = ("post", "article")
USES = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    ColumnUse("policy_a", ColumnRole.SYSTEM),
    ColumnUse("summary_a", ColumnRole.RESPONSE),
    ColumnUse("policy_b", ColumnRole.SYSTEM),
    ColumnUse("summary_b", ColumnRole.RESPONSE),
    ColumnUse("category", ColumnRole.CATEGORY),
    ColumnUse("winner", ColumnRole.WINNER),
    ColumnUse("worker", ColumnRole.RATER),
    ColumnUse("reason", ColumnRole.REASON),
)


def post_of(info: Mapping[str, Any]) -> str:
    """The text that was summarised, under its title."""
    text = next((info[each] for each in TEXTS if info.get(each)), "")
    return "\n\n".join(as_text(each) for each in (info.get("title"), text) if as_name(each))


def _is_pair(cell: Any) -> bool:
    return (
        isinstance(cell, list)
        and len(cell) == 2
        and all(isinstance(each, Mapping) and {"text", "policy"} <= each.keys() for each in cell)
    )


def _tells(sheet: Sheet) -> bool:
    return (
        cells_are(
            sheet, ["info"], lambda cell: isinstance(cell, Mapping) and any(cell.get(each) for each in TEXTS)
        )
        and cells_are(sheet, ["summaries"], _is_pair)
        and cells_are(sheet, ["choice"], lambda cell: cell in (0, 1))
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, {"info", "summaries", "choice", "worker"})
    for row, record in records(sheet):
        info, pair = as_object(record["info"]), record["summaries"]
        if not _is_pair(pair):
            plain.leave_out("without two summaries")
            continue
        first, second = pair
        plain.add(
            row,
            {
                "prompt": post_of(info),
                "policy_a": first["policy"],
                "summary_a": first["text"],
                "policy_b": second["policy"],
                "summary_b": second["text"],
                "category": info.get("subreddit"),
                "winner": "B" if record["choice"] else "A",
                "worker": record.get("worker"),
                "reason": first.get("note") or second.get("note"),
            },
        )
    return plain.finish()


TOOL = Tool("summarize_from_feedback", "comparisons of summarize-from-feedback", _tells, _read)

"""The Arena's preferences as JSON lists (lmsys/lmsys-arena-human-preference-55k): prompts and replies of each turn, and
a column of 0 and 1 for each way to vote."""

import json
from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, cells_are, records
from evaluation.dumps.tables.tools.arena import PAIR
from evaluation.dumps.tables.turns import as_cell

TEXTS = ("prompt", "response_a", "response_b")
VOTES = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}


def _list_of(cell: Any) -> list[str] | None:
    """The texts of a JSON list, where a reply that is missing is empty; None where the cell is no such list."""
    found = structure_of(cell)
    if found is None and isinstance(cell, str) and cell.startswith("["):
        # Halves of characters outside Unicode's first plane, which are no text, became those of a question mark.
        try:
            found = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    if not isinstance(found, list) or not found:
        return None
    if not all(each is None or isinstance(each, str) for each in found):
        return None
    return [(each or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace") for each in found]


def _tells(sheet: Sheet) -> bool:
    return {"model_a", "model_b"} <= {*sheet.columns} and cells_are(
        sheet, TEXTS, lambda cell: _list_of(cell) is not None
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    has_votes = VOTES.keys() <= {*sheet.columns}
    uses = [each for each in PAIR if has_votes or each.role != ColumnRole.WINNER]
    if "id" in sheet.columns:
        uses.insert(0, ColumnUse("id", ColumnRole.KEY))
    plain = PlainTable(sheet, uses, {*TEXTS, *VOTES})
    for row, record in records(sheet):
        prompts, *replies = (_list_of(record[name]) or [] for name in TEXTS)
        if not prompts or any(len(each) != len(prompts) for each in replies):
            plain.leave_out("prompts and replies that are not lists of equal length")
            continue
        voted = [vote for name, vote in VOTES.items() if as_name(record.get(name)) in ("1", "True", "true")]
        plain.add(
            row,
            record
            | {
                "prompt": as_cell("user", prompts),
                "response_a": as_cell("assistant", replies[0]),
                "response_b": as_cell("assistant", replies[1]),
                "winner": voted[0] if len(voted) == 1 else "",
            },
        )
    return plain.finish()


TOOL = Tool("lmsys_pairs", "an LMSYS file of pairs", _tells, _read)

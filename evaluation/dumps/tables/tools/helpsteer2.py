"""Ratings of HelpSteer and HelpSteer2 (nvidia/HelpSteer2): a prompt, a response, and five ratings of it from 0 to 4."""

from collections import Counter

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_text
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, cells_are, records

RATINGS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
TEXTS = {"prompt", "response"}
USES = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    ColumnUse("system", ColumnRole.SYSTEM),
    ColumnUse("response", ColumnRole.RESPONSE),
    *(ColumnUse(each, ColumnRole.SCORE) for each in RATINGS),
    ColumnUse("rater", ColumnRole.RATER),
)


def _tells(sheet: Sheet) -> bool:
    return {*sheet.columns} >= TEXTS and cells_are(sheet, RATINGS, lambda cell: str(cell) in "01234")


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, ())
    plain.notice(
        "The file names neither systems nor annotators: responses are numbered, ratings are of one rater."
    )
    seen: set[tuple[str, str]] = set()
    numbers = Counter[str]()
    for row, record in records(sheet):
        prompt, response = as_text(record["prompt"]), as_text(record["response"])
        if (prompt, response) in seen:
            plain.leave_out("a second copy of a response")
            continue
        seen.add((prompt, response))
        numbers[prompt] += 1
        plain.add(row, record | {"system": f"response {numbers[prompt]}", "rater": "annotators"})
    return plain.finish(PER_RESPONSE)


TOOL = Tool("helpsteer2", "ratings of HelpSteer2", _tells, _read)

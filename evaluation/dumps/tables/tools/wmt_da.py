"""Direct assessments of WMT as they are passed on with metrics (lp, src, mt, ref, score): a row for each translation,
with the mean of its annotators' scores, from 0 to 100 in `raw`; in `score` they are standardised by annotator."""

from collections import Counter

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name, as_text, is_empty
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, cells_are, records

NEEDED = {"lp", "src", "mt", "ref", "annotators"}
SCORES = ("raw", "score")
USES = (
    ColumnUse("src", ColumnRole.PROMPT),
    ColumnUse("system", ColumnRole.SYSTEM),
    ColumnUse("mt", ColumnRole.RESPONSE),
    ColumnUse("ref", ColumnRole.REFERENCE),
    ColumnUse("assessment", ColumnRole.SCORE),
    ColumnUse("rater", ColumnRole.RATER),
    ColumnUse("lp", ColumnRole.CATEGORY),
    ColumnUse("domain", ColumnRole.SOURCE),
)


def _tells(sheet: Sheet) -> bool:
    numbers = [each for each in SCORES if each in sheet.columns]
    return (
        {*sheet.columns} >= NEEDED
        and bool(numbers)
        and cells_are(sheet, ["lp"], lambda cell: as_name(cell).count("-") == 1)
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, SCORES)
    score = next(each for each in SCORES if each in sheet.columns)
    plain.notice(
        f"A score is the mean of a translation's annotators, whom the file does not name ({score!r})."
    )
    seen: set[tuple[str, ...]] = set()
    numbers = Counter[tuple[str, str]]()
    for row, record in records(sheet):
        asked, system = (as_name(record["lp"]), as_text(record["src"])), as_name(record.get("system"))
        # Without its name, a translation by several systems stands there once for each.
        translation = (*asked, system or as_text(record["mt"]))
        if is_empty(record[score]):
            plain.leave_out("translations without a score")
            continue
        if translation in seen:
            plain.leave_out("a translation that stands there before")
            continue
        seen.add(translation)
        numbers[asked] += 1
        said = {"system": system or f"translation {numbers[asked]}", "assessment": record[score]}
        plain.add(row, record | said | {"rater": "annotators"})
    return plain.finish(PER_RESPONSE)


TOOL = Tool("wmt_da", "direct assessments of WMT", _tells, _read)

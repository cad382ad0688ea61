"""MQM ratings of WMT (google/wmt-mqm-human-evaluation): a row for each error that a rater marked in a translation.

A rater's score of a translation is minus the weights of its errors (Freitag et al. 2021, section 3): 25 for what is no
translation, 5 for a major error, 0.1 for a minor one of punctuation, 1 for any other minor one.
"""

import re
from dataclasses import dataclass, field

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Record, Tool, cells_are, records

NEEDED = {"system", "doc", "rater", "source", "target", "category", "severity"}
SEGMENTS = ("globalSegId", "seg_id")
SEVERITIES = {"major", "minor", "neutral", "no-error", "no error", "critical"}
# Around the error in the translation.
MARKS = re.compile(r"</?v>")
USES = (
    ColumnUse("segment", ColumnRole.KEY),
    ColumnUse("source", ColumnRole.PROMPT),
    ColumnUse("system", ColumnRole.SYSTEM),
    ColumnUse("translation", ColumnRole.RESPONSE),
    ColumnUse("score", ColumnRole.SCORE),
    ColumnUse("rater", ColumnRole.RATER),
    ColumnUse("reason", ColumnRole.REASON),
)


@dataclass
class _Rating:
    """A rater's errors in one translation, and the first of their rows."""

    row: SheetRow
    record: Record
    weight: float = 0.0
    errors: list[str] = field(default_factory=list)


def _tells(sheet: Sheet) -> bool:
    return (
        {*sheet.columns} >= NEEDED
        and any(each in sheet.columns for each in SEGMENTS)
        and cells_are(sheet, ["severity"], lambda cell: as_name(cell).casefold() in SEVERITIES)
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, NEEDED | {*SEGMENTS, "doc_id", "docSegId", "comment"})
    segment = next(each for each in SEGMENTS if each in sheet.columns)
    ratings: dict[tuple[str, ...], _Rating] = {}
    for row, record in records(sheet):
        about = [as_name(record[name]) for name in ("doc", segment, "system", "rater")]
        category, severity = (as_name(record[name]) for name in ("category", "severity"))
        if not all(about) or severity.casefold() not in SEVERITIES:
            plain.leave_out("without a document, segment, system, rater or known severity")
            continue
        rating = ratings.setdefault(tuple(about), _Rating(row, record))
        rating.weight += _weight(category.casefold(), severity.casefold())
        if severity.casefold() not in ("no-error", "no error"):
            rating.errors.append(f"{category} ({severity})")
    for (doc, number, system, rater), rating in ratings.items():
        plain.add(
            rating.row,
            {
                "segment": f"{doc} {number}",
                "source": rating.record["source"],
                "system": system,
                "translation": MARKS.sub("", as_text(rating.record["target"])),
                "score": -round(rating.weight, 1) or 0.0,
                "rater": rater,
                "reason": "\n".join(rating.errors),
            },
        )
    return plain.finish(PER_RESPONSE)


def _weight(category: str, severity: str) -> float:
    if category.startswith("non-translation"):
        return 25.0
    if severity in ("major", "critical"):
        return 5.0
    if severity == "minor":
        return 0.1 if category.startswith("fluency/punctuation") else 1.0
    return 0.0


TOOL = Tool("wmt_mqm", "MQM ratings of WMT", _tells, _read)

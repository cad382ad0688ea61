"""One row per answer, as a workbook whose keys and texts stay what they are."""

import os
from datetime import datetime
from typing import Any, BinaryIO

from evaluation.dumps.export_format import ExportFormat, rows_with_progress
from evaluation.dumps.exports.answer_table import COLUMNS, Row
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.spreadsheets import FORMULA_STARTS, escape
from evaluation.extension import Watch
from evaluation.refusals import Refused

# A sheet's last row, of which the header is the first, and the UTF-16 units that a cell holds. openpyxl cuts at them.
MAX_ROWS = 1_048_576
MAX_CELL = 32_767
INSTEAD = "Export as CSV or Parquet, which have no such limit."
# What would be read as an error and not as a text.
ERRORS = ("#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!")
ITEM, RATER, QUESTION = (list(COLUMNS).index(name) for name in ("item", "rater", "question"))


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    """Refused, rather than cut, where a text or the rows are more than a sheet holds."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Answers")
    sheet.freeze_panes = "A2"
    sheet.append(list(COLUMNS))
    try:
        written = 1
        for rows in rows_with_progress(stored, watch):
            written += len(rows)
            if written > MAX_ROWS:
                raise Refused(
                    f"The study has more answers than the {MAX_ROWS - 1:,} that fit in a sheet. {INSTEAD}"
                )
            for row in rows:
                sheet.append(_cells(sheet, row))
    except BaseException:
        # Its rows are in a file of their own, which goes when it is saved.
        with open(os.devnull, "wb") as nowhere:
            book.save(nowhere)
        raise
    book.save(out)


def _exceeds(value: Any) -> bool:
    return (
        isinstance(value, str) and 2 * len(value) > MAX_CELL and len(value.encode("utf-16-le")) > 2 * MAX_CELL
    )


def _too_long(row: Row, text: str) -> str:
    return (
        f"The answer of {row[RATER]} to {row[QUESTION]!r} of item {row[ITEM]!r} has {len(text):,} characters, and a "
        f"cell of a workbook holds {MAX_CELL:,}. {INSTEAD}"
    )


def _cells(sheet: Any, row: Row) -> list[Any]:
    if too_long := next((value for value in row if _exceeds(value)), None):
        raise Refused(_too_long(row, too_long))
    return [_cell(sheet, value) for value in row]


def _cell(sheet: Any, value: Any) -> Any:
    """A text is a text whatever it looks like; times are in UTC, of which a workbook knows nothing."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if not isinstance(value, str):
        return value
    text = escape(value)
    if not text.startswith(FORMULA_STARTS) and text not in ERRORS:
        return text
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, text)
    cell.data_type = "s"
    # As typed behind an apostrophe, so that it stays a text when somebody edits it.
    cell.quotePrefix = True
    return cell


FORMAT = ExportFormat(
    key="xlsx",
    label="XLSX",
    about="One row per answer, for Excel and other spreadsheets: keys and texts stay as they are.",
    content_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    write=write,
    place=15,
    streams=False,
)

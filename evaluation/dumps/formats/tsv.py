"""One row per answer and one line per row, as line tools read it."""

from collections.abc import Iterable
from typing import Any, BinaryIO

from evaluation.dumps.export_format import ExportFormat, rows_with_progress
from evaluation.dumps.exports.answer_table import COLUMNS
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.spreadsheets import FORMULA_STARTS
from evaluation.extension import Watch

# Texts have lines and tabs of their own, which would part rows and columns.
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    out.write(_line(COLUMNS))
    for rows in rows_with_progress(stored, watch):
        out.write(b"".join(_line(_cell(value) for value in row) for row in rows))


def _line(cells: Iterable[str]) -> bytes:
    return ("\t".join(cells) + "\n").encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    # Spreadsheets open these files too, and would run it.
    formula = "'" if value.startswith(FORMULA_STARTS) else ""
    return formula + value.translate(ESCAPES)


FORMAT = ExportFormat(
    key="tsv",
    label="TSV",
    about="One row per answer, each on a line of its own, for cut, awk and other line tools.",
    content_type="text/tab-separated-values; charset=utf-8",
    write=write,
    place=25,
)

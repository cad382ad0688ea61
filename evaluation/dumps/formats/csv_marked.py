"""The CSV with a byte order mark, by which a spreadsheet tells that it is UTF-8."""

from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat, rows_with_progress
from evaluation.dumps.exports.answer_table import write_csv
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.lines import BOM
from evaluation.extension import Watch


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    out.write(BOM)
    write_csv(out, rows_with_progress(stored, watch))


FORMAT = ExportFormat(
    key="csv-bom",
    label="CSV with a byte order mark",
    about="The CSV for Excel and others that can't tell UTF-8 without it; they still take the key 0012 for 12.",
    content_type="text/csv; charset=utf-8",
    write=write,
    place=22,
    ending="bom.csv",
)

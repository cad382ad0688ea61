"""One row per answer, as most programs read it."""

from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat, rows_with_progress
from evaluation.dumps.exports.answer_table import write_csv
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.extension import Watch


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    write_csv(out, rows_with_progress(stored, watch))


FORMAT = ExportFormat(
    key="csv",
    label="CSV",
    about="One row per answer, for R, pandas and other programs.",
    content_type="text/csv; charset=utf-8",
    write=write,
    place=20,
)

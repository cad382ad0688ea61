"""One row per answer, with types."""

from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat, Watch, rows_with_progress
from evaluation.dumps.exports.answer_table import write_parquet
from evaluation.dumps.exports.stored_study import StoredStudy


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    write_parquet(out, rows_with_progress(stored, watch))


FORMAT = ExportFormat(
    key="parquet",
    label="Parquet",
    about="One row per answer with types, for pandas, polars and DuckDB.",
    content_type="application/vnd.apache.parquet",
    write=write,
    place=30,
    streams=False,
)

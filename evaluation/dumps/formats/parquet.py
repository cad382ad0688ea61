"""One row per answer, with types."""

import json
from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat, rows_with_progress
from evaluation.dumps.exports.answer_table import write_parquet
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.extension import Watch
from evaluation.services.seals import sealed_state


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    study = stored.study
    facts = {"assay.sealed": json.dumps(sealed_state(study))} if study.study_hash and study.seal_key else {}
    write_parquet(out, rows_with_progress(stored, watch), facts)


FORMAT = ExportFormat(
    key="parquet",
    label="Parquet",
    about="One row per answer with types, for pandas, polars and DuckDB.",
    content_type="application/vnd.apache.parquet",
    write=write,
    place=30,
    streams=False,
)

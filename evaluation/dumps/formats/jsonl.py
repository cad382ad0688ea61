"""Assay's own format, which can be read in again."""

from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat
from evaluation.dumps.exports.jsonl import jsonl_lines
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.extension import Watch


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    for line, done in jsonl_lines(stored):
        out.write(line)
        watch("writing", done, len(stored.pks))


FORMAT = ExportFormat(
    key="jsonl",
    label="Assay's JSONL",
    about="Everything: spec, items, responses and judgments. Can be read in again.",
    content_type="application/jsonl",
    write=write,
    place=10,
)

"""The settled sets of a calibration, as the CondAmbigQA paper structures them."""

from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat
from evaluation.dumps.exports.settled_sets import settled_lines, settled_sets
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.extension import Watch
from evaluation.models import Study
from evaluation.protocols import Kind


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    found = settled_sets(stored.study)
    for done, line in enumerate(settled_lines(found), 1):
        out.write(line)
        watch("writing", done, len(found.sets))


def has_sets(study: Study) -> bool:
    """True for calibrations, which alone have settled sets."""
    return any(question.kind == Kind.ENTRIES for question in study.protocol_object.default_questions())


FORMAT = ExportFormat(
    key="settled",
    label="Settled sets",
    about="One JSON line per query that one set settles: its fragments and conditions with answers and citations.",
    content_type="application/jsonl",
    write=write,
    place=40,
    ending="settled.jsonl",
    suits=has_sets,
)

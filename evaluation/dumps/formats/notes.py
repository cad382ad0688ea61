"""Notes of members on items and judgments, as a table."""

import csv
import io
from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.spreadsheets import spreadsheet_cell
from evaluation.extension import Watch
from evaluation.models import Study
from evaluation.services.private_texts import private_words

HEAD = ("item", "rater", "replicate", "by", "day", "text")


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEAD)
        private = private_words(stored.study)
        notes = stored.study.notes.select_related("item", "judgment__rater", "by").order_by("pk")
        for done, note in enumerate(notes.defer("item__stimulus").iterator(), 1):
            judgment = note.judgment
            whose = ("", "") if judgment is None else (judgment.rater.pseudonym, str(judgment.replicate))
            row = (
                note.item.key,
                *whose,
                str(note.by or ""),
                f"{note.at:%Y-%m-%d}",
                private.blacked_out(note.text),
            )
            writer.writerow([spreadsheet_cell(each) for each in row])
            watch("writing", done, done)
        text.flush()
    finally:
        text.detach()  # the caller closes what it opened


def has_notes(study: Study) -> bool:
    return study.notes.exists()


FORMAT = ExportFormat(
    key="notes",
    label="Notes",
    about="One row per note that a member wrote on an item or a judgment (CSV).",
    content_type="text/csv; charset=utf-8",
    write=write,
    place=45,
    ending="notes.csv",
    suits=has_notes,
)

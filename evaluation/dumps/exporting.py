"""Writing a study to a file that appears only when it is complete."""

import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evaluation.dumps.jsonl import jsonl_lines
from evaluation.dumps.problems import ExportRefused
from evaluation.dumps.settled import settled_lines, settled_sets
from evaluation.dumps.stored import StoredStudy
from evaluation.dumps.tidy import Row, tidy_rows, write_csv, write_parquet
from evaluation.models import Study
from evaluation.protocols import Kind

Watch = Callable[[str, int, int], None]
Writer = Callable[[BinaryIO, StoredStudy, Watch], None]


def export_study(
    study: Study,
    *,
    format: str,
    out: BinaryIO,
    watch: Watch = lambda phase, done, total: None,
) -> None:
    """Streams the study; memory stays flat whatever its size."""
    if format not in FORMATS:
        raise ExportRefused(f"No format {format!r}; there are: {', '.join(FORMATS)}.")
    FORMATS[format](out, StoredStudy(study), watch)


def _write_jsonl(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    for line, done in jsonl_lines(stored):
        out.write(line)
        watch("writing", done, len(stored.pks))


def _write_csv(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    write_csv(out, _watched_rows(stored, watch))


def _write_parquet(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    write_parquet(out, _watched_rows(stored, watch))


def _watched_rows(stored: StoredStudy, watch: Watch) -> Iterator[list[Row]]:
    for rows, done in tidy_rows(stored):
        yield rows
        watch("writing", done, len(stored.pks))


def _write_settled(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    found = settled_sets(stored.study)
    for done, line in enumerate(settled_lines(found), 1):
        out.write(line)
        watch("writing", done, len(found.sets))


FORMATS: dict[str, Writer] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "parquet": _write_parquet,
    "settled": _write_settled,
}
# How the name of a file of the format ends, where it is not the format's own.
ENDINGS = {"settled": "settled.jsonl"}


def formats_of(study: Study) -> list[str]:
    """The formats that have something to say of such a study: settled sets are of calibrations alone."""
    has_sets = any(question.kind == Kind.ENTRIES for question in study.protocol_object.default_questions())
    return [name for name in FORMATS if name != "settled" or has_sets]


@contextmanager
def complete_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its name at the end; whatever goes wrong, no half file is left."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        handle = beside.open("xb")
    except OSError as error:
        raise ExportRefused(f"{path} can't be written: {error.strerror}.") from None
    try:
        with handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def export_to(
    study: Study, *, format: str, path: str, watch: Watch = lambda phase, done, total: None
) -> None:
    """Exports to the file, or to standard output for `-`."""
    if path != "-":
        with complete_file(Path(path)) as handle:
            export_study(study, format=format, out=handle, watch=watch)
        return
    if format == "parquet":
        raise ExportRefused("Parquet can't be written to standard output; give a path.")
    try:
        export_study(study, format=format, out=sys.stdout.buffer, watch=watch)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Python would complain again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ExportRefused("Whoever read the export from standard output left before its end.") from None

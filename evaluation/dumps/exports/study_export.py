"""Export of a study to a file that appears only when it is complete."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evaluation.dumps.export_format import ExportFormat
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.formats import FORMATS
from evaluation.extension import Watch
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.studies.rehearsals import NEVER_EXPORTED, refuse_in_rehearsal


def export_study(
    study: Study,
    *,
    format: str,
    out: BinaryIO,
    watch: Watch = lambda phase, done, total: None,
) -> None:
    """Stream the study; memory stays flat whatever its size."""
    if format not in FORMATS:
        raise Refused(f"No format {format!r}; there are: {', '.join(FORMATS)}.")
    refuse_in_rehearsal(study, NEVER_EXPORTED)
    FORMATS[format].write(out, StoredStudy(study), watch)


def formats_of(study: Study) -> list[ExportFormat]:
    """The formats that fit such a study."""
    return [each for each in FORMATS.values() if each.suits(study)]


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its name at the end; whatever goes wrong, no half file is left."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        handle = part.open("xb")
    except OSError as error:
        raise Refused(f"{path} can't be written: {error.strerror}.") from None
    try:
        with handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def export_to(
    study: Study, *, format: str, path: str, watch: Watch = lambda phase, done, total: None
) -> None:
    """Export to the file, or to standard output for `-`."""
    refuse_in_rehearsal(study, NEVER_EXPORTED)
    if path != "-":
        with atomic_file(Path(path)) as handle:
            export_study(study, format=format, out=handle, watch=watch)
        return
    if format in FORMATS and not FORMATS[format].streams:
        raise Refused(f"{FORMATS[format].label} can't be written to standard output; give a path.")
    try:
        export_study(study, format=format, out=sys.stdout.buffer, watch=watch)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Python would complain again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Refused("The reader of standard output closed it before the export's end.") from None

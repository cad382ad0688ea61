"""The parts of an export format; each is a module in `evaluation/dumps/formats/`, found by walking the folder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from evaluation.dumps.exports.answer_table import Row, tidy_rows
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.extension import Watch
from evaluation.models import Study


@dataclass(frozen=True, kw_only=True)
class ExportFormat:
    """A way to write a study. `place` orders the choices that a researcher is offered."""

    key: str
    label: str
    # A sentence on what the file holds and whom it suits.
    about: str
    content_type: str
    write: Callable[[BinaryIO, StoredStudy, Watch], None]
    place: int
    # The end of a file's name, where it is not the key.
    ending: str = ""
    # Formats that need a file of their own, with a beginning and an end, can't be written to standard output.
    streams: bool = True
    # Which studies it has something to say of.
    suits: Callable[[Study], bool] = lambda study: True

    @property
    def suffix(self) -> str:
        return self.ending or self.key


def rows_with_progress(stored: StoredStudy, watch: Watch) -> Iterator[list[Row]]:
    """One row per answer, chunk by chunk."""
    for rows, done in tidy_rows(stored):
        yield rows
        watch("writing", done, len(stored.pks))

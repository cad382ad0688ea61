"""Full disks: told apart from other errors, and left without half-written files."""

import contextlib
import errno

from django.core.files.uploadhandler import TemporaryFileUploadHandler

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# SQLite's words, and PostgreSQL's code.
SQLITE, POSTGRESQL = "disk is full", "53100"


def is_full_disk(error: BaseException | None) -> bool:
    """True if this error, or one that led to it, is a lack of room to write."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if SQLITE in str(error) or getattr(error, "sqlstate", "") == POSTGRESQL:
            return True
        error = error.__cause__ or error.__context__
    return False


class UploadHandler(TemporaryFileUploadHandler):
    """Django's, which leaves the file where it is when it can't be written to its end."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        try:
            super().receive_data_chunk(raw_data, start)
        except OSError:
            # What is still held back can't be written either; the file is closed and deleted all the same.
            with contextlib.suppress(OSError):
                self.file.close()
            raise

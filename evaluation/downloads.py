"""Files that are downloaded: streamed, and resumed where they broke off (RFC 9110, sections 13 and 14).

Each answer has a strong ETag and takes ranges of bytes. Who resumes names the ETag in If-Range, and gets the rest of
the same file, or all of the one that is there now. One range at a time; of several the whole file is sent.
"""

import hashlib
import io
import os
import re
from pathlib import Path
from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header

RANGE = re.compile(r"bytes\s*=\s*(\d*)\s*-\s*(\d*)", re.ASCII)


class FilePart:
    """So many bytes of a file from where it stands, to be read in blocks."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file = file
        self._left = length

    def read(self, size: int) -> bytes:
        block = self._file.read(min(size, self._left))
        self._left -= len(block)
        return block

    def close(self) -> None:
        self._file.close()


def download_response(
    request: HttpRequest, source: Path | bytes, *, name: str, content_type: str
) -> HttpResponseBase:
    """The file, or the range of it that is asked for; 304 or 412 as its ETag decides, 416 past its end.

    A file at a path is one that is written once, or replaced: its ETag is of its name, size and time.
    """
    if isinstance(source, bytes):
        response = _answer(request, io.BytesIO(source), len(source), _etag(source))
    else:
        file = source.open("rb")
        stat = os.fstat(file.fileno())
        etag = _etag(f"{source.name}:{stat.st_size}:{stat.st_mtime_ns}".encode())
        response = _answer(request, file, stat.st_size, etag)
    if response.status_code in (200, 206):
        response["Content-Type"] = content_type
        response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


def _answer(request: HttpRequest, file: IO[bytes], size: int, etag: str) -> HttpResponseBase:
    asked = _asked_range(request, etag)
    start, end = (0, size) if asked is None else _within(asked, size)
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None and asked is not None and start >= end:
        response = HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    if response is not None:
        file.close()
    else:
        file.seek(start)
        # As it is, the server may send a whole file by itself.
        response = FileResponse(file if asked is None else FilePart(file, end - start))
        response["Content-Length"] = str(end - start)
        if asked is not None:
            response.status_code = 206
            response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    response["ETag"] = etag
    response["Accept-Ranges"] = "bytes"
    return response


def _asked_range(request: HttpRequest, etag: str) -> tuple[str, str] | None:
    """The ends of the one range that is asked for, as written; None where the whole file is to be sent."""
    header = request.headers.get("Range", "")
    if request.method != "GET" or not header.startswith("bytes") or "," in header:
        return None
    if request.headers.get("If-Range", etag) != etag:
        return None
    found = RANGE.fullmatch(header.strip())
    return (found[1], found[2]) if found else ("", "")


def _within(asked: tuple[str, str], size: int) -> tuple[int, int]:
    """The range from its first byte to behind its last; empty where the file has none of it."""
    # More digits than a file has bytes are as many as it has, and take no time to read.
    first, last = (int(each[:20]) if each else None for each in asked)
    if first is None and last is None:
        return 0, 0
    if first is None:
        return max(0, size - (last or 0)), size
    return first, size if last is None else min(last + 1, size)


def _etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'

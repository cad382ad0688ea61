"""Large files: sent in parts, from where the server has them, in this process or in one after it."""

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from assay_client.problems import Problem

if TYPE_CHECKING:
    from assay_client.client import Client

# Files up to this size are sent at once.
AT_ONCE = 64 * 1024 * 1024
PART = 32 * 1024 * 1024


def send_in_parts(client: "Client", file: Path | bytes, name: str) -> int:
    """The id of the upload that has the file, once the server has all of it."""
    with file.open("rb") if isinstance(file, Path) else io.BytesIO(file) as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
        size = source.seek(0, io.SEEK_END)
        announced = {"name": name, "size": size, "sha256": digest}
        # Of the same file it is the same upload, however often it is announced.
        upload = client.ask("POST", "uploads/", once=True, json=announced)
        address = f"uploads/{upload['id']}/"
        while (start := upload["received"]) < size:
            source.seek(start)
            part = source.read(min(PART, upload["largest_part"]))
            headers = {
                "Content-Type": "application/octet-stream",
                "Content-Range": f"bytes {start}-{start + len(part) - 1}/{size}",
            }
            try:
                upload = client.ask("PUT", address, content=part, headers=headers)
            except Problem as problem:
                # It came in, and the answer was lost; or another process sent it.
                if problem.code != "wrong_state":
                    raise
                upload = client.get(address)
    return int(upload["id"])

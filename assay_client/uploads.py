"""Files that are sent: large ones in parts, from where the server has them, in this process or in one after it."""

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay_client.problems import Problem

if TYPE_CHECKING:
    from assay_client.client import Client

# Files up to this size are sent at once.
AT_ONCE = 64 * 1024 * 1024
PART = 32 * 1024 * 1024


def send_file(client: "Client", path: str, file: Path | bytes, name: str, wanted: Mapping[str, Any]) -> Any:
    """The answer to a file, with what is said of it as fields of the form."""
    name = name or (file.name if isinstance(file, Path) else "table.csv")
    size = file.stat().st_size if isinstance(file, Path) else len(file)
    # As in a form: what has no file's name is a field.
    fields: dict[str, Any] = {
        key: (None, value if isinstance(value, str) else json.dumps(value)) for key, value in wanted.items()
    }
    if size > AT_ONCE:
        fields["upload"] = (None, str(send_in_parts(client, file, name)))
    else:
        fields["file"] = (name, file.read_bytes() if isinstance(file, Path) else file)
    return client.ask("POST", path, once=True, files=fields)


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

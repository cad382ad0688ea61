"""Files: what broke off is resumed by its ETag, and what changed meanwhile is fetched whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from assay_client.problems import Problem, Unreachable

if TYPE_CHECKING:
    from assay_client.client import Client

ATTEMPTS = 6


def fetch_file(client: "Client", path: str, file: Path, parameters: Mapping[str, Any]) -> Path:
    """The file at its place once it is whole; until then it is beside it, as FILE.part with its FILE.etag."""
    part, tag = (file.with_name(f"{file.name}.{suffix}") for suffix in ("part", "etag"))
    for attempt in range(ATTEMPTS):
        try:
            _fetch(client, path, part, tag, parameters)
        except httpx2.TransportError as error:
            if attempt == ATTEMPTS - 1:
                raise Unreachable(f"{path} broke off: {error}") from error
            client.sleep(2.0**attempt)
        else:
            break
    part.replace(file)
    tag.unlink(missing_ok=True)
    return file


def _fetch(client: "Client", path: str, part: Path, tag: Path, parameters: Mapping[str, Any]) -> None:
    """The rest of the file, or all of it where nothing is there or the server has another one."""
    have = part.stat().st_size if part.exists() and tag.exists() else 0
    # As it is stored: ranges are of that.
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text()}
    with client.http.stream("GET", path, params=dict(parameters) or None, headers=headers) as response:
        if response.status_code == 416 and have:
            # Past the end of what is there: of this very file, all of it is here.
            if response.headers.get("ETag") == tag.read_text():
                return
            tag.unlink()
            raise httpx2.RemoteProtocolError("The file changed.")
        if not response.is_success:
            response.read()
            raise Problem.of(response)
        resumed = response.status_code == 206
        with part.open("ab" if resumed else "wb") as out:
            # Not before the file is empty: what is there of another one would go on under this tag.
            if not resumed:
                tag.write_text(response.headers.get("ETag", ""))
            for block in response.iter_bytes():
                out.write(block)

"""The Batch API of an endpoint, in OpenAI's form: a file of requests goes up, a file of answers comes down.

Nothing here is tried again. What was asked for and not answered can be looked for: a file by its name, a batch by the
file that it was made of.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import quote, urlencode

import httpx2
import orjson

from judging.backends.base import CallFailed, NoReply, RefusedByFilter, Reply, Request, StopRun, TryAgain
from judging.backends.chat import ChatBackend, body_of, held_back
from judging.backends.connection import MOST_BYTES, read_body

# The path that the requests of a batch are for, as batches name it.
PATH = "/v1/chat/completions"
WINDOW = "24h"
# A file takes longer than a call; and no file of answers is larger.
FILE_SECONDS = 900.0
MOST_FILE_BYTES = 1024**3
PAGE = 100
# An id in an address: nothing that leads elsewhere.
ID = re.compile(r"[\w.:-]{1,200}")
OVER = ("completed", "failed", "expired", "cancelled")
# A request's name stands at the beginning of its line, where servers write it at all.
NAME = re.compile(rb'"custom_id"\s*:\s*"([^"\\]{1,64})"')


@dataclass(frozen=True, kw_only=True)
class RemoteBatch:
    """A batch as its endpoint describes it."""

    id: str
    status: str
    # What was wrong with it, where it failed as a whole.
    reason: str = ""
    input_file: str = ""
    output_file: str = ""
    error_file: str = ""
    # Requests that are done.
    done: int = 0

    @property
    def is_over(self) -> bool:
        return self.status in OVER


class BatchBackend(ChatBackend):
    """Files and batches of one endpoint, beside its chat completions."""

    async def speaks_batches(self) -> bool:
        """True if the endpoint lists batches: what it makes could not be found again otherwise."""
        try:
            data = _read(await self.get("batches?limit=1"))
        except StopRun as stop:
            if stop.status != 404:
                raise
            return False
        except CallFailed:
            return False
        return isinstance(data, dict) and isinstance(data.get("data"), list)

    async def upload(self, name: str, content: IO[bytes]) -> str:
        """Upload a file of requests; its id."""
        headers = httpx2.Headers([each for each in self._headers.multi_items() if each[0] != "content-type"])
        sent = httpx2.Request(
            "POST",
            self._url("files"),
            headers=headers,
            data={"purpose": "batch"},
            files={"file": (name, content, "application/jsonl")},
        )
        with self._patience():
            _, answer = await self._send(sent, MOST_BYTES)
        return _id_of(_read(answer))

    async def find_file(self, name: str, size: int) -> str:
        """The id of the file of this name and size; '' where there is none, or the endpoint does not list them."""
        try:
            async for row in self._rows("files", {"purpose": "batch"}):
                if (row.get("filename"), row.get("bytes")) == (name, size):
                    return _id_of(row)
        except CallFailed:
            return ""
        except StopRun as stop:
            if stop.status != 404:
                raise
        return ""

    async def delete_file(self, file: str) -> None:
        await self._send(self._request("DELETE", f"files/{_checked(file)}"), MOST_BYTES)

    async def create(self, file: str, metadata: Mapping[str, str]) -> RemoteBatch:
        body = {
            "input_file_id": file,
            "endpoint": PATH,
            "completion_window": WINDOW,
            "metadata": dict(metadata),
        }
        _, content = await self.post("batches", body)
        return _state(_read(content))

    async def find(self, file: str) -> RemoteBatch | None:
        """The batch that was made of this file, if one was."""
        async for row in self._rows("batches", {}):
            if row.get("input_file_id") == file:
                return _state(row)
        return None

    async def retrieve(self, batch: str) -> RemoteBatch:
        return _state(_read(await self.get(f"batches/{_checked(batch)}")))

    async def cancel(self, batch: str) -> None:
        await self.post(f"batches/{_checked(batch)}/cancel", {})

    async def download(self, file: str, into: IO[bytes]) -> None:
        """Write a file's content; CallFailed where it is larger than any may be."""
        size = 0
        sent = self._request("GET", f"files/{_checked(file)}/content")
        with self._patience():
            async with contextlib.aclosing(self._pieces(sent)) as pieces:
                async for piece in pieces:
                    size += len(piece)
                    if size > MOST_FILE_BYTES:
                        raise CallFailed(f"The file is too large: more than {MOST_FILE_BYTES // 1024**2} MB.")
                    into.write(piece)

    def request_line(self, name: str, request: Request) -> bytes:
        """A request as a line of a batch's file."""
        return (
            orjson.dumps({"custom_id": name, "method": "POST", "url": PATH, "body": body_of(request)}) + b"\n"
        )

    def answer_lines(self, content: IO[bytes]) -> Iterator[bytes]:
        """The lines of a file of answers that are not blank; of one that is too long, as much as tells that."""
        while line := content.readline(MOST_BYTES + 1):
            whole = line.endswith(b"\n")
            while not whole and (rest := content.readline(MOST_BYTES)):
                whole = rest.endswith(b"\n")
            if line.strip():
                yield line

    def read_answer(self, raw: bytes) -> tuple[str, Reply | NoReply]:
        """The request's name in a line of an answers' file, and its reply or what `ask` would have raised.

        '' for a line that names none.
        """
        if len(raw) > MOST_BYTES:
            named = NAME.search(raw[:1000])
            return named[1].decode() if named else "", CallFailed("The reply is too large.")
        try:
            row = orjson.loads(raw)
            name = row["custom_id"]
            response, error = row.get("response"), row.get("error")
            if not isinstance(name, str):
                raise TypeError
            if response is None:
                said = str((error or {}).get("message") or (error or {}).get("code") or "no answer")
                return name, TryAgain(self._clean(said))
            status, body = int(response["status_code"]), orjson.dumps(response.get("body"))
            request_id = str(response.get("request_id") or "")
        except (ValueError, KeyError, TypeError, AttributeError):
            return "", TryAgain("A line of the answers can't be read.")
        if not 200 <= status < 300:
            refused = self._said(status, {}, body)
            return name, held_back(refused) if isinstance(refused, RefusedByFilter) else refused
        try:
            return name, self.read(body, request_id)
        except NoReply as odd:
            return name, odd

    def _request(self, method: str, path: str) -> httpx2.Request:
        return httpx2.Request(method, f"{self._base}{path}", headers=self._headers)

    @contextlib.contextmanager
    def _patience(self) -> Iterator[None]:
        """Files may take their time; one that stands still ends like any call."""
        before = self._timeout
        self._timeout = max(before, FILE_SECONDS)
        try:
            yield
        finally:
            self._timeout = before

    async def _pieces(self, sent: httpx2.Request) -> AsyncGenerator[bytes]:
        """An answer's content, which need not fit the memory."""
        assert self._http is not None, "enter the backend before asking it"
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.send(sent, stream=True)
                if not response.is_success:
                    raise self._said(
                        response.status_code, response.headers, await read_body(response, MOST_BYTES)
                    )
                async with contextlib.aclosing(response.aiter_bytes()) as pieces:
                    async for piece in pieces:
                        yield piece
        except NoReply:
            raise
        except Exception as error:
            raise TryAgain(self._broken(error)) from None

    async def _rows(self, path: str, query: Mapping[str, str]) -> AsyncIterator[Mapping[str, Any]]:
        """Rows of a list of the endpoint's, page by page, the newest first."""
        after: dict[str, str] = {}
        while True:
            page = _read(await self.get(f"{path}?{urlencode({**query, 'limit': PAGE, **after})}"))
            try:
                rows = [dict(row) for row in page["data"]]
                more = bool(page.get("has_more")) and bool(rows)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise TryAgain("The endpoint's answer is not a list.") from None
            for row in rows:
                yield row
            if not more:
                return
            last = _id_of(rows[-1])
            if after.get("after") == last:
                return
            after = {"after": last}


def _read(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except ValueError:
        raise TryAgain("The endpoint's answer is no JSON.") from None


def _checked(name: str) -> str:
    if not ID.fullmatch(name):
        raise CallFailed("The endpoint gave an id that can't be one.")
    return quote(name, safe=":")


def _id_of(data: Any) -> str:
    name = data.get("id") if isinstance(data, Mapping) else None
    if not isinstance(name, str) or not ID.fullmatch(name):
        raise TryAgain("The endpoint's answer has no id.")
    return name


def _state(data: Any) -> RemoteBatch:
    """TryAgain where the answer is no batch."""
    name = _id_of(data)
    try:
        errors = (data.get("errors") or {}).get("data") or []
        counts = data.get("request_counts") or {}
        return RemoteBatch(
            id=name,
            status=str(data["status"]),
            reason="; ".join(str(each.get("message") or each.get("code")) for each in errors[:3]),
            input_file=str(data.get("input_file_id") or ""),
            output_file=str(data.get("output_file_id") or ""),
            error_file=str(data.get("error_file_id") or ""),
            done=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise TryAgain("The endpoint's answer is not a batch.") from None

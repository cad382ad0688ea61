"""The connection to an endpoint: one request, one bounded answer, and errors that say whether retrying helps.

One attempt per call: when to try again is the run's business. The client says once where to and with which headers;
each call is a request of its HTTP client, over its aiohttp transport. What the client itself would do per call
(options, URL, headers, retries, models of the answer) takes half of a call's time, and fails on the merely unusual.
"""

import asyncio
import contextlib
import json
import math
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Self

import httpx2
import openai
import orjson

from judging.backends.base import CallFailed, NoReply, RefusedByFilter, StopRun, TryAgain
from judging.backends.keys import scrub

# Statuses and what they mean for the run; 5xx and whatever else is not here helps to try again.
STOPS = {
    401: "The endpoint refused the key",
    403: "The endpoint refused access",
    404: "The endpoint knows no such model or path",
}
# Codes that say so of what was sent (Azure's and OpenAI's).
FILTERS = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
FAILS = {400, 405, 409, 410, 411, 412, 413, 414, 415, 418, 422, 431, 451}
# No server may hold a call back for longer.
MAX_AFTER = 7 * 86_400.0
MAX_REASON = 300
# No reply is longer, after decompression: a thousand times what a verdict with its reasons takes.
MOST_BYTES = 4 * 1024 * 1024
# What the client would tell the server of this machine with every request: nobody asked.
UNTOLD = "x-stainless-"


class EndpointConnection:
    """One endpoint, one key, as many connections as calls in flight."""

    def __init__(self, base_url: str, *, key: str = "", timeout: float = 60.0, in_flight: int = 16) -> None:
        self._base_url = base_url
        self._key = key
        self._timeout = timeout
        self._in_flight = in_flight
        self._http: httpx2.AsyncClient | None = None
        self._base = ""
        self._headers = httpx2.Headers()
        self._urls: dict[str, httpx2.URL] = {}

    async def __aenter__(self) -> Self:
        # aiohttp's transport: at 256 calls in flight a call takes 0.6 ms of CPU less than with the HTTP client's own.
        # Its timeouts, per connection and per read, are left out: one timer around all of it bounds a call.
        limits = httpx2.Limits(max_connections=self._in_flight, max_keepalive_connections=self._in_flight)
        self._http = openai.DefaultAioHttpClient(limits=limits, follow_redirects=False, timeout=None)
        client = openai.AsyncOpenAI(
            base_url=self._base_url, api_key=self._key or "none", http_client=self._http
        )
        self._base = str(client.base_url)
        told = {
            name: value
            for name, value in client.default_headers.items()
            if isinstance(value, str) and not name.lower().startswith(UNTOLD)
        }
        self._headers = httpx2.Headers({**told, "Authorization": f"Bearer {client.api_key}"})
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def post(
        self, path: str, body: Mapping[str, Any], *, most: int = MOST_BYTES
    ) -> tuple[httpx2.Response, bytes]:
        """The server's answer to a JSON body and its content, of at most so many bytes after decompression;
        CallFailed, TryAgain or StopRun where it is none that helps."""
        sent = httpx2.Request("POST", self._url(path), headers=self._headers, content=orjson.dumps(body))
        return await self._send(sent, most)

    async def get(self, path: str) -> bytes:
        """The content of what a path answers; the exceptions are those of `post`."""
        _, content = await self._send(
            httpx2.Request("GET", self._url(path), headers=self._headers), MOST_BYTES
        )
        return content

    async def models(self) -> list[str]:
        """The names of the models that the server lists; the exceptions are those of `post`."""
        content = await self.get("models")
        try:
            return sorted(str(each["id"]) for each in orjson.loads(content)["data"])
        except (ValueError, KeyError, TypeError):
            raise CallFailed("The endpoint's answer is not a list of models.") from None

    def _url(self, path: str) -> httpx2.URL:
        """Read once per path: reading a URL takes longer than the rest of a request."""
        if path not in self._urls:
            self._urls[path] = httpx2.URL(f"{self._base}{path}")
        return self._urls[path]

    async def _send(self, sent: httpx2.Request, most: int) -> tuple[httpx2.Response, bytes]:
        assert self._http is not None, "enter the backend before asking it"
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.send(sent, stream=True)
                content = await read_body(response, most)
        except CallFailed:
            raise
        except Exception as error:  # the transport lets some of aiohttp's errors through
            raise TryAgain(self._broken(error)) from None
        if not response.is_success:
            raise self._said(response.status_code, response.headers, content)
        return response, content

    def _said(self, status: int, headers: Mapping[str, str], content: bytes) -> NoReply:
        """The exception for an answer that is an error or a redirect."""
        code, message = _error_of(content)
        said = f"{status}: {self._clean(message)}" if message else str(status)
        tokens = reported_tokens(content)
        if 300 <= status < 400:
            redirected = "The endpoint answers with a redirect, which is not followed; correct its URL."
            return StopRun(redirected, tokens=tokens)
        if code == "insufficient_quota" or status == 402:
            return StopRun("The endpoint's quota is used up.", tokens=tokens)
        if status == 400 and code in FILTERS:
            return RefusedByFilter(said, tokens=tokens)
        if status in STOPS:
            # What a server says to a key that it refuses often quotes the key.
            shown = said if status == 404 else status
            return StopRun(f"{STOPS[status]} ({shown}).", status=status, tokens=tokens)
        if status in FAILS:
            return CallFailed(said, tokens=tokens)
        return TryAgain(said, after=retry_after(headers), status=status, tokens=tokens)

    def _broken(self, error: BaseException) -> str:
        """Describe a connection that brought no answer: the transport calls every failure a timeout."""
        while error.__cause__ is not None and not isinstance(error, TimeoutError):
            error = error.__cause__
        if isinstance(error, TimeoutError):
            return f"No answer within {self._timeout:g} s."
        return f"The connection failed ({type(error).__name__})."

    def _clean(self, text: str) -> str:
        return scrub(" ".join(text.split()), self._key)[:MAX_REASON]


async def read_body(response: httpx2.Response, most: int) -> bytes:
    """The answer's body, decompressed piece by piece; CallFailed as soon as it is longer than any reply may be.

    Asking again would bring as much again, and be paid for again.
    """
    content = bytearray()
    # Closed by hand: leaving the loop early would leave the connection to the garbage collector.
    async with contextlib.aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            content += piece
            if len(content) > most:
                raise CallFailed(f"The reply is too large: more than {most // 1024**2} MB.")
    return bytes(content)


def token_count(value: Any) -> int:
    """A number of tokens as a server gives it; 0 for what is none."""
    return value if type(value) is int and 0 <= value < 2**31 else 0  # true is no count


def load_object(raw: bytes) -> dict[str, Any]:
    """The JSON object that an answer is; an empty one where it is none."""
    try:
        data = orjson.loads(raw)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def tokens_of(answer: Any) -> tuple[int, int]:
    """The tokens of the prompt and of the completion that an answer reports, whatever else is in it."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    known = usage if isinstance(usage, dict) else {}
    completion = token_count(known.get("completion_tokens"))
    in_all = token_count(known.get("total_tokens"))
    # Of embeddings some servers name the sum alone.
    return token_count(known.get("prompt_tokens")) or max(0, in_all - completion), completion


def reported_tokens(raw: bytes) -> tuple[int, int]:
    """The same of an answer's body, be it JSON or what Python writes in its place (NaN)."""
    try:
        return tokens_of(json.loads(raw))
    except (ValueError, RecursionError):
        return 0, 0


@contextlib.contextmanager
def as_paid(raw: bytes) -> Iterator[None]:
    """Around the reading of an answer: where no reply is in it, the exception names the tokens that it reports."""
    try:
        yield
    except NoReply as reason:
        reason.tokens = reported_tokens(raw)
        raise


def _error_of(raw: bytes) -> tuple[str, str]:
    """Code and message of an error's body, in the shapes that servers use; ('', '') for anything else."""
    try:
        error = orjson.loads(raw)
    except ValueError:
        return "", ""
    error = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(error, str):
        return "", error
    if not isinstance(error, dict):
        return "", ""
    code = error.get("code") or error.get("type") or ""
    return str(code), str(error.get("message") or error.get("detail") or "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds until the server wants to be asked again, within reason; None where it does not say."""
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        if 0 <= seconds < math.inf:
            return min(seconds, MAX_AFTER)
    return _until(headers.get("retry-after", ""))


def _until(date: str) -> float | None:
    """Seconds until a date as HTTP writes it."""
    try:
        seconds = parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_AFTER)

"""Chat completions over HTTP: OpenAI's API and everything that speaks it (vLLM, Ollama, gateways).

One attempt per call: when to try again is the run's business. The client says once where to and with which headers;
each call is a request of its HTTP client, over its aiohttp transport. What the client itself would do per call
(options, URL, headers, retries, models of the answer) takes half of a call's time, and fails on the merely unusual.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import openai
import orjson

from judging.backends.base import BLANKS, CallFailed, Reply, Request, StopRun, TryAgain
from judging.backends.keys import scrub

# Statuses and what they mean for the run; 5xx and whatever else is not here helps to try again.
STOPS = {
    401: "The endpoint refused the key",
    403: "The endpoint refused access",
    404: "The endpoint knows no such model or path",
}
FAILS = {400, 405, 409, 410, 411, 412, 413, 414, 415, 418, 422, 431, 451}
# No server may hold a call back for longer.
MAX_AFTER = 3_600.0
MAX_REASON = 300
# No reply is longer, after decompression: a thousand times what a verdict with its reasons takes.
MOST_BYTES = 4 * 1024 * 1024
# What the client would tell the server of this machine with every request: nobody asked.
UNTOLD = "x-stainless-"


class ChatBackend:
    """One endpoint, one key, as many connections as calls in flight."""

    def __init__(self, base_url: str, *, key: str = "", timeout: float = 60.0, in_flight: int = 16) -> None:
        self._base_url = base_url
        self._key = key
        self._timeout = timeout
        self._in_flight = in_flight
        self._http: httpx2.AsyncClient | None = None
        self._url = self._models_url = httpx2.URL()
        self._headers = httpx2.Headers()

    async def __aenter__(self) -> "ChatBackend":
        # aiohttp's transport: at 256 calls in flight a call takes 0.6 ms of CPU less than with the HTTP client's own.
        # Its timeouts, per connection and per read, are left out: one timer around all of it bounds a call.
        limits = httpx2.Limits(max_connections=self._in_flight, max_keepalive_connections=self._in_flight)
        self._http = openai.DefaultAioHttpClient(limits=limits, follow_redirects=False, timeout=None)
        client = openai.AsyncOpenAI(
            base_url=self._base_url, api_key=self._key or "none", http_client=self._http
        )
        self._url = httpx2.URL(f"{client.base_url}chat/completions")
        self._models_url = httpx2.URL(f"{client.base_url}models")
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

    async def ask(self, request: Request) -> Reply:
        assert self._http is not None, "enter the backend before asking it"
        sent = httpx2.Request(
            "POST", self._url, headers=self._headers, content=orjson.dumps(body_of(request))
        )
        response, content = await self._send(sent)
        return read_completion(content, response.headers.get("x-request-id", ""))

    async def models(self) -> list[str]:
        """The names of the models that the server lists; the exceptions are those of `ask`."""
        assert self._http is not None, "enter the backend before asking it"
        _, content = await self._send(httpx2.Request("GET", self._models_url, headers=self._headers))
        try:
            return sorted(str(each["id"]) for each in orjson.loads(content)["data"])
        except (ValueError, KeyError, TypeError):
            raise CallFailed("The endpoint's answer is not a list of models.") from None

    async def _send(self, sent: httpx2.Request) -> tuple[httpx2.Response, bytes]:
        """The server's answer and its body; CallFailed, TryAgain or StopRun where it is none that helps."""
        assert self._http is not None
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.send(sent, stream=True)
                content = await _read(response)
        except CallFailed:
            raise
        except Exception as error:  # the transport lets some of aiohttp's errors through
            raise TryAgain(self._broken(error)) from None
        if not response.is_success:
            raise self._said(response, content)
        return response, content

    def _said(self, response: httpx2.Response, content: bytes) -> Exception:
        """The exception for an answer that is an error or a redirect."""
        status = response.status_code
        code, message = _error_of(content)
        said = f"{status}: {self._clean(message)}" if message else str(status)
        if 300 <= status < 400:
            return StopRun("The endpoint answers with a redirect, which is not followed; correct its URL.")
        if code == "insufficient_quota" or status == 402:
            return StopRun("The endpoint's quota is used up.")
        if status in STOPS:
            # What a server says to a key that it refuses often quotes the key.
            return StopRun(f"{STOPS[status]} ({said if status == 404 else status}).")
        if status in FAILS:
            return CallFailed(said)
        return TryAgain(said, after=retry_after(response.headers), status=status)

    def _broken(self, error: BaseException) -> str:
        """Describe a connection that brought no answer: the transport calls every failure a timeout."""
        while error.__cause__ is not None and not isinstance(error, TimeoutError):
            error = error.__cause__
        if isinstance(error, TimeoutError):
            return f"No answer within {self._timeout:g} s."
        return f"The connection failed ({type(error).__name__})."

    def _clean(self, text: str) -> str:
        return scrub(" ".join(text.split()), self._key)[:MAX_REASON]


async def _read(response: httpx2.Response) -> bytes:
    """The answer's body, decompressed piece by piece; CallFailed as soon as it is longer than any reply may be.

    Asking again would bring as much again, and be paid for again.
    """
    content = bytearray()
    # Closed by hand: leaving the loop early would leave the connection to the garbage collector.
    async with contextlib.aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            content += piece
            if len(content) > MOST_BYTES:
                raise CallFailed(f"The reply is too large: more than {MOST_BYTES // 1024**2} MB.")
    return bytes(content)


def body_of(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        **request.parameters,
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
    }
    if request.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "judgment", "strict": True, "schema": dict(request.schema)},
        }
    return body


def read_completion(raw: bytes, request_id: str) -> Reply:
    """The reply in a chat completion's body; TryAgain where it is none, or only half of one."""
    try:
        data = orjson.loads(raw)
        choice = data["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content") or "", message.get("refusal") or ""
        if not isinstance(text, str) or not isinstance(refusal, str):
            raise TypeError
        usage = data.get("usage") or {}
        return Reply(
            text=text,
            finish_reason=str(choice.get("finish_reason") or ""),
            refusal=refusal,
            logprobs=_places(choice.get("logprobs"), text),
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
            request_id=request_id or str(data.get("id") or ""),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise TryAgain("The endpoint's answer is not a chat completion.") from None


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**31 else 0  # true is no count


def _places(logprobs: Any, text: str) -> Sequence[Mapping[str, float]]:
    """The alternatives at the text's first and at its last token that is not blank.

    Tokens that are not in the text are passed over: some servers list the one that ends a reply.
    """
    tokens = [each for each in (logprobs or {}).get("content") or [] if each["token"].strip(BLANKS)]
    text = text.strip(BLANKS)
    first = next((each for each in tokens if text.startswith(each["token"].strip(BLANKS))), None)
    last = next((each for each in reversed(tokens) if text.endswith(each["token"].strip(BLANKS))), None)
    if first is None or last is None:
        return ()
    return (_place(first),) if first is last else (_place(first), _place(last))


def _place(token: Mapping[str, Any]) -> dict[str, float]:
    """{token: log-probability}; the token that was drawn is there even where it is none of the likeliest.

    Of tokens that are written alike, which differ in bytes that are no text, the likelier stands.
    """
    options = [token, *(token.get("top_logprobs") or [])]
    chances: dict[str, float] = {}
    for each in options:
        name, value = str(each["token"]), float(each["logprob"])
        chances[name] = max(value, chances.get(name, value))
    return dict(sorted(chances.items(), key=lambda chance: -chance[1]))


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

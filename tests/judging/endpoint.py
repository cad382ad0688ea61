"""An endpoint for tests: a real HTTP server on 127.0.0.1 that speaks chat completions, and misbehaves when told to.

In a test: `with endpoint.serve() as served:` and then `served.url`, `served.log`, `served.counts`; as a process of its
own, for benchmarks and browser tests: `python -m tests.judging.endpoint --port 9009 --latency 0.2` (see `GET /log`).

What it does can be said in the model's name, `RULE[:BEHAVIOUR...]`, so that several tests share one server:

- RULE, how it prefers: longer, shorter, first, second, tie, or anything else: by a hash of the two texts.
- BEHAVIOUR, `NAME[=ARGUMENT][@SHARE]`: `500`, `429=2` (Retry-After 2), `slow=0.2@0.5` (half of the calls) ... see
  `BEHAVIOURS`; a SHARE is drawn by the seed, the prompt and how often it came, so that the next attempt may succeed.
  `no_NAME[=STATUS]` refuses a capability (json_schema, json_object, logprobs, seed, temperature, system,
  max_tokens, max_completion_tokens), `deaf_max_completion_tokens` ignores a limit.

`serve(behaviours="500@0.2")` says the same of every call, and `script=["500", "429=1"]` of the next ones, in turn.

It answers in whatever form is asked for: a JSON schema (in the request or as a line of the prompt), lines such as
`preference: <1, 2 or tie>`, or one label with log-probabilities. Where it is to choose between the first, the second
and perhaps a tie it says what it prefers, places among n are an order of them, and what else is to choose is drawn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

BEHAVIOURS = {
    "slow": "answers after so many seconds",
    "hang": "never answers",
    "trickle": "sends its answer byte by byte, so many seconds apart",
    "429": "429, Retry-After so many seconds (none without an argument)",
    "429ms": "429, retry-after-ms",
    "quota": "429 with the code insufficient_quota",
    "400": "any other number: an error of that status",
    "nothing": "closes the connection without an answer",
    "half": "closes the connection in the middle of its answer",
    "garbage": "200, and no JSON",
    "odd": "200, and JSON that is no chat completion",
    "babble": "a text that names both responses and is no verdict",
    "empty": "an empty text",
    "refusal": "a refusal in the message's own field",
    "filtered": "finish_reason content_filter",
    "truncated": "half of the text, finish_reason length",
    "redirect": "307 to the argument",
    "echo_key": "400 with the authorization header in its message",
    "no_usage": "says nothing of tokens",
    "large": "200, and a text of so many megabytes",
    "bomb": "the same, compressed to a thousandth",
    "top": "refuses more than so many top_logprobs (20 without it)",
}
FENCED = re.compile(
    r"^=== (?P<name>[^\n]*?) \[(?P<mark>\w+)\] ===\n(?P<text>.*?)^=== end of (?P=name) \[(?P=mark)\] ===$",
    re.DOTALL | re.MULTILINE,
)
SKELETON_LINE = re.compile(r"^(?:(?P<key>[^\s:<>]+): )?<(?P<choices>[^<>\n]+)>$", re.MULTILINE)
SENTENCE = "One of the two serves the person better."
CHATTER = " ".join(["word"] * 60)


@dataclass
class Seen:
    """One request as it came in."""

    path: str
    model: str
    authorization: str
    prompt: str
    behaviour: str
    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)


class Served:
    """What the server knows and was told; the test reads and changes it while it runs."""

    def __init__(
        self,
        *,
        latency: float = 0.0,
        behaviours: str = "",
        script: list[str] | None = None,
        seed: int = 0,
        keep: bool = True,
        require_key: str = "",
    ) -> None:
        self.latency = latency
        self.behaviours = behaviours
        self.script = list(script or [])
        self.seed = seed
        # Whether requests are kept whole; a benchmark would fill its memory with them.
        self.keep = keep
        self.require_key = require_key
        self.port = 0
        self.transports: set[Any] = set()
        self.reset()

    def reset(self) -> None:
        self.log: list[Seen] = []
        # Requests per prompt and per status, and the keys that were sent.
        self.counts: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.authorizations: set[str] = set()
        self.total = self.concurrent = self.max_concurrent = 0
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def summary(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "prompts": len(self.counts),
            "most_per_prompt": max(self.counts.values(), default=0),
            "statuses": {str(status): n for status, n in sorted(self.statuses.items())},
            "max_concurrent": self.max_concurrent,
            "connections": self.connections,
            "authorizations": sorted(self.authorizations),
        }


# --- what it answers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A status with headers and a body, sent after a delay; `cut` closes the connection after so many of its bytes,
    `pace` waits so many seconds between them."""

    status: int
    body: bytes
    delay: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()
    cut: int | None = None
    pace: float = 0.0


def respond(
    served: Served, body: dict[str, Any], prompt: str, authorization: str
) -> tuple[str, Answer | None]:
    """The behaviour's name and the answer; None: never answers."""
    rule, *named = str(body.get("model", "")).split(":")
    turn = [served.script.pop(0)] if served.script else []
    every = [each for each in served.behaviours.split(":") if each]
    delay, told = served.latency, {}
    for number, text in enumerate([*turn, *named, *every]):
        behaviour, share = text.partition("@")[::2]
        name, argument = behaviour.partition("=")[::2]
        if share and _unit(served.seed, prompt, served.counts[prompt], number) >= float(share):
            continue
        if name == "slow":
            delay += float(argument)
        else:
            told.setdefault(name, argument)
    wrong = served.require_key and authorization != f"Bearer {served.require_key}"
    if wrong:
        told = {"401": ""}
    refused = _refused(body, told)
    if refused:
        return refused[0], _error(refused[1], f"{refused[0]} is not supported", delay)
    for name, argument in told.items():
        if name == "hang":
            return name, None
        answer = _misbehave(name, argument, delay, authorization)
        if answer:
            return name, answer
    completion = complete(served.seed, rule, body, told)
    raw = json.dumps(completion).encode()
    name = next((name for name in told if name in BEHAVIOURS), "ok")
    cut = len(raw) // 2 if "half" in told else None
    return name, Answer(200, raw, delay, cut=cut, pace=float(told.get("trickle") or 0))


def _misbehave(name: str, argument: str, delay: float, authorization: str) -> Answer | None:
    if name in ("429", "429ms"):
        header = "retry-after" if name == "429" else "retry-after-ms"
        return _error(429, "too fast", delay, headers=((header, argument),) if argument else ())
    if name == "quota":
        return _error(429, "you have used up what you paid for", delay, code="insufficient_quota")
    if name.isdecimal():
        return _error(int(name), f"told to answer {name}", delay, code=argument)
    if name == "nothing":
        return Answer(200, b"", delay, cut=0)
    if name == "garbage":
        return Answer(200, b"<html>not what you asked for</html>", delay)
    if name == "odd":
        return Answer(200, b'{"object": "chat.completion", "choices": []}', delay)
    if name in ("large", "bomb"):
        body = _large(float(argument))
        if name == "large":
            return Answer(200, body, delay)
        return Answer(200, _compressed(body), delay, headers=(("content-encoding", "gzip"),))
    if name == "redirect":
        return Answer(307, b"", delay, headers=(("location", argument.replace("|", ":")),))
    if name == "echo_key":
        return _error(400, f"I was sent {authorization} and do not like it", delay)
    return None


@cache
def _large(megabytes: float) -> bytes:
    message = {"role": "assistant", "content": "w" * round(megabytes * 1024**2)}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()


@cache
def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, 6)


def _error(status: int, message: str, delay: float, *, code: str = "", headers: Any = ()) -> Answer:
    error = {"message": message, "type": "error", "param": None, "code": code or None}
    return Answer(status, json.dumps({"error": error}).encode(), delay, tuple(headers))


def _refused(body: dict[str, Any], told: dict[str, str]) -> tuple[str, int] | None:
    """The capability that this request asks for in vain, and the status that says so."""
    wanted = {name for name in ("seed", "temperature", "max_tokens", "max_completion_tokens") if name in body}
    wanted |= {str(body.get("response_format", {}).get("type", ""))}
    wanted |= {str(message["role"]) for message in body["messages"]}
    wanted |= {"logprobs"} if body.get("logprobs") else set()
    for name in sorted(wanted):
        if f"no_{name}" in told:
            return f"no_{name}", int(told[f"no_{name}"] or 400)
    if body.get("top_logprobs", 0) > int(told.get("top") or 20):
        return "top", 400
    return None


def complete(seed: int, rule: str, body: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
    """A chat completion in the form that the request asks for."""
    prompt = body["messages"][-1]["content"]
    texts = {match["name"]: match["text"].rstrip("\n") for match in FENCED.finditer(prompt)}
    verdict = prefer(seed, rule, texts.get("Response 1"), texts.get("Response 2"))
    content = _content(seed, verdict, body, FENCED.sub("", prompt))
    message: dict[str, Any] = {"role": "assistant", "content": content}
    finish = "stop"
    if "babble" in told:
        message["content"] = (
            "Response 1 has its merits, yet Response 2 might be better, unless Response 1 is."
        )
    if "empty" in told:
        message["content"] = ""
    if "refusal" in told:
        message |= {"content": None, "refusal": "I cannot help with judging this."}
    if "filtered" in told:
        message["content"], finish = "", "content_filter"
    tokens = re.findall(r"\n+| ?[^\s]+|\s", message["content"] or "")
    limit = _limit(body, told, 10**9 if "truncated" not in told else max(1, len(tokens) // 2))
    if len(tokens) > limit:
        tokens, finish = tokens[:limit], "length"
        message["content"] = "".join(tokens)
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
    if body.get("logprobs") and "deaf_logprobs" not in told:
        choice["logprobs"] = {"content": [_logprobs(token, body.get("top_logprobs", 0)) for token in tokens]}
    usage = {"prompt_tokens": sum(len(each["content"]) for each in body["messages"]) // 4,
             "completion_tokens": len(tokens)}  # fmt: skip
    usage["total_tokens"] = sum(usage.values())
    return {
        "id": f"chatcmpl-{_unit(seed, prompt)}"[:22],
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
    } | ({} if "no_usage" in told else {"usage": usage})


def _limit(body: dict[str, Any], told: dict[str, str], otherwise: int) -> int:
    names = [name for name in ("max_completion_tokens", "max_tokens") if f"deaf_{name}" not in told]
    return min([otherwise, *(body[name] for name in names if name in body)])


def prefer(seed: int, rule: str, first: str | None, second: str | None) -> str:
    """1, 2 or tie; by the texts alone, so that it does not depend on their order, except for first and second."""
    if first is None or second is None or rule in ("first", "second", "tie"):
        return {"second": "2", "tie": "tie"}.get(rule, "1")
    if rule in ("longer", "shorter"):
        if len(first) == len(second):
            return "tie"
        return "1" if (len(first) > len(second)) == (rule == "longer") else "2"
    draw = _unit(seed, rule, *sorted((first, second)))
    if draw < 0.1:
        return "tie"
    return "1" if (first < second) == (draw < 0.55) else "2"


def _content(seed: int, verdict: str, body: dict[str, Any], prompt: str) -> str:
    response_format = body.get("response_format", {})
    if response_format.get("type") == "json_schema":
        return json.dumps(_fill(seed, verdict, response_format["json_schema"]["schema"], prompt))
    if response_format.get("type") == "json_object":
        schema = re.search(r'^\{.*"type": ?"object".*\}$', prompt, re.MULTILINE)
        return json.dumps(_fill(seed, verdict, json.loads(schema.group()) if schema else {}, prompt))
    lines = [
        (match["key"], re.split(r", | or ", match["choices"])) for match in SKELETON_LINE.finditer(prompt)
    ]
    together: dict[str, dict[str, list[str]]] = {}
    for key, choices in lines:
        together.setdefault((key or "").rpartition(".")[0], {})[key] = choices
    places = {}
    for name, cells in together.items():
        if name and _are_places(cells):
            places |= _order(seed, cells, prompt, name)
    skeleton = [_line(seed, verdict, key, choices, prompt, places) for key, choices in lines]
    return "\n".join(skeleton) or CHATTER


def _line(
    seed: int, verdict: str, key: str | None, choices: list[str], prompt: str, places: dict[str, str]
) -> str:
    value = _choose(seed, verdict, choices, prompt, key) if _is_choice(choices) else SENTENCE
    return f"{key}: {places.get(key, value)}" if key else value


def _are_places(cells: dict[str, list[Any]]) -> bool:
    """Whether each of several is given one of so many numbers, as places in an order are."""
    numbers = [str(number) for number in range(1, len(cells) + 1)]
    return len(cells) > 1 and all(choices == numbers for choices in cells.values())


def _order(seed: int, cells: dict[str, list[Any]], *what: object) -> dict[str, str]:
    drawn = sorted(cells, key=lambda name: _unit(seed, *what, name))
    return {name: str(place) for place, name in enumerate(drawn, 1)}


def _is_choice(choices: list[str]) -> bool:
    return len(choices) > 1 and all(" " not in each for each in choices)


def _choose(seed: int, verdict: str, choices: list[Any], *what: object) -> Any:
    if choices[:2] == ["1", "2"] and choices[2:] in ([], ["tie"], ["T"]):
        return verdict if verdict in choices else choices[-1]
    return choices[int(_unit(seed, *what) * len(choices))]


def _fill(seed: int, verdict: str, schema: dict[str, Any], *path: object) -> Any:
    """Any value that fits a schema, and the verdict wherever it is asked for."""
    if "enum" in schema:
        return _choose(seed, verdict, schema["enum"], *path)
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties", {})
        cells = {name: each.get("enum", []) for name, each in properties.items()}
        if _are_places(cells):
            return _order(seed, cells, *path)
        return {name: _fill(seed, verdict, each, *path, name) for name, each in properties.items()}
    if kind == "array":
        return [_fill(seed, verdict, schema["items"], *path, n) for n in range(schema.get("minItems", 0))]
    if kind == "boolean":
        return _unit(seed, *path) < 0.5
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return low + int(_unit(seed, *path) * (high - low + 1))
    return SENTENCE


def _logprobs(token: str, top: int) -> dict[str, Any]:
    """The chosen token at 0.8; beside it the labels and words that a model might have said."""
    others = [other for other in ("1", "2", "T", " 1", "One") if other != token]
    chances = {token: 0.8, others[0]: 0.1, others[1]: 0.05, others[2]: 0.02, others[3]: 0.01}
    ranked = [{"token": each, "logprob": math.log(chance), "bytes": None} for each, chance in chances.items()]
    return {**ranked[0], "top_logprobs": ranked[:top]}


def _unit(*what: object) -> float:
    """A number in [0, 1) that depends on what it is for and on nothing else."""
    digest = hashlib.sha256("\x1f".join(map(str, what)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


# --- the server -----------------------------------------------------------------------------------------------------


class Connection(asyncio.Protocol):
    """HTTP/1.1 as far as a client of chat completions needs it: requests with a length, one after another."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.buffer = bytearray()
        self.busy = False
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.served.transports.add(transport)
        self.served.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.served.transports.discard(self.transport)
        if self.busy:
            self.served.concurrent -= 1
            self.busy = False

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.busy:
            self._next()

    def _next(self) -> None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        start, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = end + 4 + int(headers.get("content-length", 0))
        if len(self.buffer) < length:
            return
        body = bytes(self.buffer[end + 4 : length])
        del self.buffer[:length]
        self._handle(start.split(" ")[0], start.split(" ")[1], headers, body)

    def _handle(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        served = self.served
        if method == "GET" or not path.endswith("/chat/completions"):
            self._send(_other(served, method, path))
            return
        served.total += 1
        served.concurrent += 1
        served.max_concurrent = max(served.max_concurrent, served.concurrent)
        self.busy = True
        data = json.loads(body)
        prompt = hashlib.sha256(json.dumps([data["model"], data["messages"]]).encode()).hexdigest()[:16]
        authorization = headers.get("authorization", "")
        served.authorizations.add(authorization)
        behaviour, answer = respond(served, data, prompt, authorization)
        served.counts[prompt] += 1
        if served.keep:
            served.log.append(Seen(path, data["model"], authorization, prompt, behaviour, data))
        if answer is None:
            return
        served.statuses[answer.status if answer.cut is None else 0] += 1
        if answer.delay:
            asyncio.get_running_loop().call_later(answer.delay, self._finish, answer)
        else:
            self._finish(answer)

    def _finish(self, answer: Answer) -> None:
        if not self.busy:
            return
        self.busy = False
        self.served.concurrent -= 1
        self._send(answer)
        if self.buffer:
            self._next()

    def _send(self, answer: Answer) -> None:
        if self.transport.is_closing():
            return
        head = [f"HTTP/1.1 {answer.status} -", f"content-length: {len(answer.body)}"]
        head += ["content-type: application/json", "x-request-id: req-test"]
        head += [f"{name}: {value}" for name, value in answer.headers]
        raw = "\r\n".join(head).encode() + b"\r\n\r\n" + answer.body
        if answer.pace:
            self._trickle(raw, answer.pace)
            return
        if answer.cut is None:
            self.transport.write(raw)
            return
        self.transport.write(raw[: len(raw) - len(answer.body) + answer.cut] if answer.cut else b"")
        self.transport.close()

    def _trickle(self, raw: bytes, pace: float) -> None:
        if raw and not self.transport.is_closing():
            self.transport.write(raw[:1])
            asyncio.get_running_loop().call_later(pace, self._trickle, raw[1:], pace)


def _other(served: Served, method: str, path: str) -> Answer:
    """Everything that is no chat completion: what was seen, a fresh start, the list of models."""
    if path == "/reset" and method == "POST":
        served.reset()
        return Answer(200, b"{}")
    if path == "/log":
        return Answer(200, json.dumps(served.summary()).encode())
    if path.endswith("/models"):
        return Answer(200, b'{"object": "list", "data": [{"id": "longer", "object": "model"}]}')
    return _error(404, f"no {path} here", 0)


@contextlib.contextmanager
def serve(**options: Any) -> Iterator[Served]:
    """The server in a thread of this process, on a free port, for as long as the block runs."""
    served = Served(**options)
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stop = asyncio.Event()

    async def run() -> None:
        server = await loop.create_server(lambda: Connection(served), "127.0.0.1", 0, backlog=1024)
        served.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()
        for transport in list(served.transports):
            transport.abort()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("the tests' endpoint did not start")
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


async def forever(served: Served, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(served), host, port, backlog=1024)
    served.port = server.sockets[0].getsockname()[1]
    print(served.url, flush=True)  # noqa: T201 - whoever started this process reads the port from its first line
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--port", type=int, default=0, help="0: a free one; the first line printed is the URL"
    )
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--behaviours", default="", help="of every call, such as 500@0.2:slow=0.1@0.5")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--require-key", default="", help="answer 401 to any other key")
    given = vars(parser.parse_args())
    port = given.pop("port")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(forever(Served(keep=False, **given), "127.0.0.1", port))


if __name__ == "__main__":
    main()

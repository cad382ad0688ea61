"""Misbehaviours: what a request's model, the server's rule for all, or its script say of the next answer."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from dataclasses import replace
from functools import cache
from typing import Any, Protocol

from tests.judging.endpoint import chat, completions, embeddings
from tests.judging.endpoint.answers import Answer, Served, error, unit

BEHAVIOURS = {
    "slow": "answers after so many seconds",
    "hang": "never answers",
    "trickle": "sends its answer byte by byte, so many seconds apart",
    "429": "429, Retry-After so many seconds (none without an argument)",
    "429ms": "429, retry-after-ms",
    "rate": "429 for more than so many requests in so many seconds (40|2)",
    "tokens": "429 for more than so many tokens, of prompts and of limits of replies, in so many seconds",
    "quota": "429 with the code insufficient_quota",
    "400": "any other number: an error of that status",
    "nothing": "closes the connection without an answer",
    "half": "closes the connection in the middle of its answer",
    "garbage": "200, and no JSON",
    "odd": "200, and JSON that is nothing of what was asked for",
    "hollow": "200, no choices, and a count of 100 and 20 tokens",
    "held": "the same with a message of null, which the content filter held back",
    "error200": "200, choices of null, and an error with the code of the argument",
    "billed": "an answer that is none reports a count of 100 and 20 tokens beside",
    "babble": "a text that names both responses and is no verdict; embeddings: words for vectors",
    "empty": "an empty text; empty vectors",
    "refusal": "a refusal in the message's own field; embeddings: null for vectors",
    "filtered": "finish_reason content_filter",
    "truncated": "half of the text, finish_reason length; embeddings: half of the vectors",
    "redirect": "307 to the argument",
    "echo_key": "400 with the authorization header in its message",
    "yes": "says yes to whatever can be answered by yes or no",
    "full": "writes lists as long as they may be",
    "no_usage": "says nothing of tokens",
    "large": "200, and a text of so many megabytes; embeddings: a vector of so many",
    "bomb": "the same, compressed to a thousandth",
    "top": "refuses more than so many top_logprobs (20 without it)",
    "nan": "embeddings: no number among the numbers of each vector; completions: a null log-probability",
    "uneven": "embeddings: vectors of different lengths",
    "deaf_base64": "embeddings: numbers, although base64 is asked for",
    "bos": "completions: the tokens begin with one that the text does not hold, and the offsets count it",
    "vllm": "completions: lists the prompt's log-probabilities in vLLM's own form when asked to",
    "no_echo": "completions: without the prompt and its log-probabilities",
    "no_embeddings": "404 for embeddings",
    "no_completions": "404 for completions",
}


PAID = {"prompt_tokens": 100, "completion_tokens": 20}
HOLLOW: dict[str, list[dict[str, Any]]] = {
    "hollow": [],
    "held": [{"index": 0, "message": None, "finish_reason": "content_filter"}],
}


class Interface(Protocol):
    """One of the paths that a model answers at, which is a module."""

    # 200, and JSON of another shape.
    ODD: bytes

    def text_of(self, body: dict[str, Any]) -> Any:
        """What tells requests of the same prompt."""

    def refused(self, body: dict[str, Any], told: dict[str, str]) -> tuple[str, int] | None:
        """The capability that this request asks for in vain, and the status that says so."""

    def complete(self, seed: int, rule: str, body: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
        """The answer's JSON."""

    def large(self, megabytes: float) -> bytes:
        """An answer whose content is of that length."""


INTERFACES: dict[str, Interface] = {
    "/chat/completions": chat,
    "/embeddings": embeddings,
    "/completions": completions,
}


def interface_of(path: str) -> Interface | None:
    return next((each for end, each in INTERFACES.items() if path.endswith(end)), None)


def prompt_of(interface: Interface, body: dict[str, Any]) -> str:
    """The same for requests that put the same to the same model."""
    return hashlib.sha256(json.dumps([body["model"], interface.text_of(body)]).encode()).hexdigest()[:16]


def respond(
    served: Served, interface: Interface, body: dict[str, Any], prompt: str, authorization: str
) -> tuple[str, Answer | None]:
    """The behaviour's name and the answer; None: never answers."""
    rule, *named = str(body.get("model", "")).split(":")
    turn = served.script.pop(0).split(":") if served.script else []
    every = [each for each in served.behaviours.split(":") if each]
    delay, told = served.latency, {}
    for number, text in enumerate([*turn, *named, *every]):
        behaviour, share = text.partition("@")[::2]
        name, argument = behaviour.partition("=")[::2]
        if share and unit(served.seed, prompt, served.counts[prompt], number) >= float(share):
            continue
        if name == "slow":
            delay += float(argument)
        else:
            told.setdefault(name, argument)
    if not served.knows(authorization):
        told = {"401": ""}
    for name in {"rate", "tokens"} & told.keys():
        if exceeds(served, name, body, told.pop(name)):
            return name, error(429, f"too many {name}", delay)
    refused = interface.refused(body, told)
    if refused:
        return refused[0], error(refused[1], f"{refused[0]} is not supported", delay)
    for name, argument in told.items():
        if name == "hang":
            return name, None
        answer = misbehave(interface, name, argument, delay, authorization)
        if answer:
            return name, billed(answer) if "billed" in told else answer
    completion = interface.complete(served.seed, rule, body, told)
    raw = json.dumps(completion).encode()
    name = next((name for name in told if name in BEHAVIOURS), "ok")
    cut = len(raw) // 2 if "half" in told else None
    return name, Answer(200, raw, delay, cut=cut, pace=float(told.get("trickle") or 0))


def exceeds(served: Served, name: str, body: dict[str, Any], argument: str) -> bool:
    """True if a request is too much, counted with those that came in the seconds before; if not it counts, too."""
    most, seconds = (float(part) for part in argument.split("|"))
    limit = next((body[key] for key in ("max_completion_tokens", "max_tokens") if key in body), 0)
    prompt = sum(len(each["content"]) for each in body["messages"]) // 4
    now, taken = time.monotonic(), 1 if name == "rate" else prompt + limit
    arrived = served.arrived[name]
    while arrived and arrived[0][0] <= now - seconds:
        arrived.popleft()
    if sum(each for _, each in arrived) + taken > most:
        return True
    arrived.append((now, taken))
    return False


def misbehave(
    interface: Interface, name: str, argument: str, delay: float, authorization: str
) -> Answer | None:
    if name in ("429", "429ms"):
        header = "retry-after" if name == "429" else "retry-after-ms"
        return error(429, "too fast", delay, headers=((header, argument),) if argument else ())
    if name == "quota":
        return error(429, "you have used up what you paid for", delay, code="insufficient_quota")
    if name.isdecimal():
        return error(int(name), f"told to answer {name}", delay, code=argument)
    if name == "nothing":
        return Answer(200, b"", delay, cut=0)
    if name == "garbage":
        return Answer(200, b"<html>not what you asked for</html>", delay)
    if name in HOLLOW:
        return Answer(200, json.dumps({"choices": HOLLOW[name], "usage": PAID}).encode(), delay)
    if name == "error200":
        code = int(argument) if argument.isdecimal() else argument
        said = {"message": "Provider returned error", "code": code}
        return Answer(200, json.dumps({"choices": None, "error": said}).encode(), delay)
    if name == "odd":
        return Answer(200, interface.ODD, delay)
    if name in ("large", "bomb"):
        body = interface.large(float(argument))
        if name == "large":
            return Answer(200, body, delay)
        return Answer(200, _compressed(body), delay, headers=(("content-encoding", "gzip"),))
    if name == "redirect":
        return Answer(307, b"", delay, headers=(("location", argument.replace("|", ":")),))
    if name == "echo_key":
        return error(400, f"I was sent {authorization} and do not like it", delay)
    return None


def billed(answer: Answer) -> Answer:
    return replace(answer, body=json.dumps({"usage": PAID, **json.loads(answer.body or b"{}")}).encode())


@cache
def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, 6)

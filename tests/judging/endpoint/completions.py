"""Completions in OpenAI's older form, which give the log-probabilities of the prompt's tokens when asked to echo it.

A token that occurred before is likely (about -0.5), a new one is not (about -4): a text that repeats the prompt's words
has a lower perplexity than one that does not.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import accumulate
from typing import Any

from tests.judging.endpoint.answers import unit

NEXT = " and"
BEGIN = "<s>"
ODD = b'{"object": "text_completion", "choices": []}'


def text_of(body: dict[str, Any]) -> Any:
    return body["prompt"]


def refused(body: dict[str, Any], told: dict[str, str]) -> tuple[str, int] | None:
    return ("no_completions", int(told["no_completions"] or 404)) if "no_completions" in told else None


def complete(seed: int, rule: str, body: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
    prompt, most = body["prompt"], body.get("max_tokens", 16)
    echo = bool(body.get("echo")) and "no_echo" not in told
    prompted = tokens_of(prompt)
    tokens = (prompted if echo else []) + [NEXT] * most
    values: list[float | None] = []
    for place, token in enumerate(tokens):
        values.append(logprob(seed, tokens[:place], token) if place or not echo else None)
    if "nan" in told:
        values = [None for _ in values]
    if "bos" in told and echo:
        tokens, values = [BEGIN, *tokens], [None, -1.0, *values[1:]]
    choice: dict[str, Any] = {
        "index": 0,
        "text": (prompt if echo else "") + NEXT * most,
        "finish_reason": "length",
        "logprobs": None,
    }
    if body.get("logprobs") is not None and "deaf_logprobs" not in told:
        choice["logprobs"] = {
            "tokens": tokens,
            "token_logprobs": values,
            "top_logprobs": None,
            "text_offset": list(accumulate(map(len, tokens), initial=0 if echo else len(prompt)))[:-1],
        }
    if "prompt_logprobs" in body and "vllm" in told:
        # Nothing is said of the first token, which is the text's own or one before it.
        listed = prompted if "bos" in told else prompted[1:]
        rows = [logprob(seed, prompted[:place], token) for place, token in enumerate(prompted)][
            -len(listed) :
        ]
        choice["prompt_logprobs"] = [
            None,
            *(
                {"1": {"logprob": value, "rank": 1, "decoded_token": token}}
                for token, value in zip(listed, rows, strict=True)
            ),
        ]
    usage = {"prompt_tokens": len(prompted), "completion_tokens": most, "total_tokens": len(prompted) + most}
    return {"id": "cmpl-test", "object": "text_completion", "created": 0, "model": body["model"]} | {
        "choices": [choice]
    } | ({} if "no_usage" in told else {"usage": usage})  # fmt: skip


def tokens_of(text: str) -> list[str]:
    """Words with the blank before them, in pieces of at most six characters."""
    return re.findall(r"\n+| ?[^\s]{1,6}|\s", text)


def logprob(seed: int, before: list[str], token: str) -> float:
    return -(0.25 if token in before else 3.5) - 0.5 * unit(seed, *before[-1:], token)


@cache
def large(megabytes: float) -> bytes:
    choice = {"index": 0, "text": "w" * round(megabytes * 1024**2), "logprobs": None}
    return json.dumps({"choices": [choice]}).encode()

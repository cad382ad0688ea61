"""Log-probabilities of a text that a model did not write, by completions in one of two forms.

`echo`, OpenAI's older form: vLLM's and llama-cpp-python's servers give them. `prompt_logprobs`, vLLM's own, which some
gateways before it let through where they refuse an echo. Most hosted chat models have neither.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import orjson

from judging.backends.base import CallFailed, Reply, Request, TryAgain
from judging.backends.connection import EndpointConnection, as_paid, tokens_of
from judging.backends.perplexity.measure import FORMS, perplexity_of, scoring_parameters

NOT_ECHOED = "The endpoint does not give back the prompt with its log-probabilities (completions with echo)."
NOT_LISTED = "The endpoint gives no log-probabilities of the prompt (prompt_logprobs)."
NOT_PLACED = (
    "The offsets of the endpoint's tokens don't fit the text: the continuation can't be told from the prompt."
)
# How tokenisers write blanks in their tokens.
WRITTEN_BLANKS = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})
# A token that is no plain text is at most so many characters of it.
MOST_UNKNOWN = 16
# Of the tokens that are plain text, at least so many must stand where their offset says.
FITTING = 0.9


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """The log-probability of a continuation given its prompt: `logprob` (natural) is the sum over `tokens` tokens."""

    logprob: float
    tokens: int
    prompt_tokens: int = 0
    completion_tokens: int = 0
    request_id: str = ""

    @property
    def perplexity(self) -> float:
        return perplexity_of(self.logprob, self.tokens)


class CompletionBackend(EndpointConnection):
    """Completions of one endpoint, for the log-probabilities of what they are given."""

    async def ask(self, request: Request) -> Reply:
        """The log-probability of the request's continuation given its prompt, and the number of its tokens."""
        texts = {message["role"]: message["content"] for message in request.messages}
        form = next(form for form, adds in FORMS.items() if adds.keys() <= request.parameters.keys())
        found = await self.score(
            request.model, texts["prompt"], texts["continuation"], form=form, parameters=request.parameters
        )
        said = {"logprob": found.logprob, "tokens": found.tokens}
        return Reply(
            text=orjson.dumps(said).decode(),
            prompt_tokens=found.prompt_tokens,
            completion_tokens=found.completion_tokens,
            request_id=found.request_id,
        )

    async def score(
        self,
        model: str,
        prompt: str,
        continuation: str,
        *,
        form: str = "echo",
        parameters: Mapping[str, Any] = MappingProxyType({}),
    ) -> Continuation:
        """The log-probability of a continuation given the prompt; raises CallFailed, TryAgain or StopRun.

        The prompt is sent as it is, without a chat template. A token that straddles the boundary counts to the
        continuation: tokenisers join a blank at the prompt's end with the word after it. With an empty prompt the
        first token, which is given nothing to follow from, is left out.
        """
        if not continuation:
            raise CallFailed("An empty text has no perplexity.")
        body = {**parameters, **scoring_parameters(form), "model": model, "prompt": prompt + continuation}
        response, content = await self.post("completions", body)
        read = read_continuation if form == "echo" else read_prompt_logprobs
        with as_paid(content):
            return read(content, prompt, continuation, response.headers.get("x-request-id", ""))


def read_continuation(raw: bytes, prompt: str, continuation: str, request_id: str = "") -> Continuation:
    """The continuation's log-probability in an answer's body; TryAgain where that is no JSON, CallFailed where it does
    not hold the prompt's tokens, their log-probabilities and offsets."""
    try:
        data = orjson.loads(raw)
    except ValueError:
        raise TryAgain("The endpoint's answer is not a completion.") from None
    try:
        choice = data["choices"][0]
        text, given = choice["text"], choice["logprobs"]
        tokens, values, offsets = given["tokens"], given["token_logprobs"], given["text_offset"]
        tokens, values, offsets = list(map(str, tokens)), list(values), list(map(int, offsets))
        echoed = isinstance(text, str) and text.startswith(prompt + continuation)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise CallFailed(NOT_ECHOED) from None
    if not echoed or not tokens or not len(tokens) == len(values) == len(offsets):
        raise CallFailed(NOT_ECHOED)
    offsets = _in_text(text, tokens, offsets)
    picked = _values_of_continuation(values, offsets, len(prompt), len(prompt) + len(continuation))
    return _continuation(picked, tokens_of(data), request_id)


def read_prompt_logprobs(raw: bytes, prompt: str, continuation: str, request_id: str = "") -> Continuation:
    """The same of an answer in vLLM's own form, which lists the prompt's tokens without their places."""
    try:
        data = orjson.loads(raw)
    except ValueError:
        raise TryAgain("The endpoint's answer is not a completion.") from None
    try:
        rows = [_listed(row) for row in data["choices"][0]["prompt_logprobs"]]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise CallFailed(NOT_LISTED) from None
    if not rows:
        raise CallFailed(NOT_LISTED)
    text = prompt + continuation
    # A prompt's first token follows from nothing and is listed without a number: nothing is said of its text.
    offsets, values = _placed(text, [token for token, _ in rows]), [value for _, value in rows]
    picked = _values_of_continuation(values, offsets, len(prompt), len(text))
    return _continuation(picked, tokens_of(data), request_id)


def _listed(row: Any) -> tuple[str, Any]:
    """A token of the prompt and its log-probability; ('', None) for the first, of which nothing is listed."""
    if row is None:
        return "", None
    [entry] = row.values()
    return str(entry["decoded_token"]), entry["logprob"]


def _placed(text: str, tokens: Sequence[str]) -> list[int]:
    """The place of each token in the text. A part of a character stands where the token before it ends."""
    offsets, at, unknown = [], 0, 0
    for token in tokens:
        plain = token.translate(WRITTEN_BLANKS)
        if not plain or "\ufffd" in plain:
            offsets.append(at)
            unknown += 1
            continue
        # Tokens that are parts of characters, and the first, may have taken some of what is in between.
        found = text.find(plain, at, at + MOST_UNKNOWN * unknown + len(plain))
        if found < 0:
            raise CallFailed(NOT_PLACED)
        offsets.append(found)
        at, unknown = found + len(plain), 0
    if at < len(text) and not unknown:
        raise CallFailed(NOT_PLACED)  # the server has cut the prompt off
    return offsets


def _continuation(picked: Sequence[float], spent: tuple[int, int], request_id: str) -> Continuation:
    return Continuation(
        logprob=math.fsum(picked),
        tokens=len(picked),
        prompt_tokens=spent[0],
        completion_tokens=spent[1],
        request_id=request_id,
    )


def _in_text(text: str, tokens: Sequence[str], offsets: Sequence[int]) -> list[int]:
    """The offsets as places in the text: some servers count a token that begins every text and is not in it."""
    for shift in (0, len(tokens[0])):
        moved = [max(0, offset - shift) for offset in offsets]
        if all(one <= other for one, other in pairwise(moved)) and _fits(text, tokens, moved):
            return moved
    raise CallFailed(NOT_PLACED)


def _fits(text: str, tokens: Sequence[str], offsets: Sequence[int]) -> bool:
    """True if nearly all tokens stand at their offsets; those that are parts of characters, or of no width at all, are
    not looked at."""
    plain = [
        text.startswith(token.translate(WRITTEN_BLANKS), offset)
        for token, offset, stop in zip(tokens, offsets, [*offsets[1:], len(text)], strict=True)
        if stop > offset and "\ufffd" not in token and not token.startswith("bytes:")
    ]
    return sum(plain) >= FITTING * len(plain)


def _values_of_continuation(
    values: Sequence[Any], offsets: Sequence[int], begin: int, end: int
) -> list[float]:
    """The log-probabilities of the tokens that reach over `begin` and start before `end`."""
    picked = []
    for place, (value, offset) in enumerate(zip(values, offsets, strict=True)):
        stop = offsets[place + 1] if place + 1 < len(offsets) else end
        if offset >= end or (offset < begin and stop <= begin):
            continue
        if value is None and offset == 0:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool) or not value < 1e-6:
            raise CallFailed("A token of the continuation has no log-probability.")
        picked.append(float(value))
    if not picked:
        raise CallFailed("The text is too short: none of its tokens follows from another.")
    return picked

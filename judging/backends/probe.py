"""The capabilities of a model at an endpoint, probed with a handful of small requests.

Asked once per endpoint and model; the answer is kept in the endpoint's `capabilities` by model. Nothing is taken from
a server's name: what is not seen to work is not used. json_schema falls back to json_object, that to lines of text.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from judging.backends.base import Askable, CallFailed, Probe, Reply, Request, StopRun, TryAgain

PROMPT = "Count from one to fifty in words, separated by blanks, and write nothing else."
JSON_PROMPT = 'Reply with the JSON object {"verdict": "1"} and with nothing else.'
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["1", "2"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
# Enough for a reasoning model to come to a short answer, little enough to cost nothing.
ROOM = 512
FEW = 16
LIMITS = ("max_completion_tokens", "max_tokens")
TOP = (20, 5)
# Statuses that say of a request what they seem to say of all: some servers answer with them where an option is not to
# be had for a model.
DENIES = (401, 403, 404)
# Statuses of servers that break on what they do not know instead of refusing it.
BREAKS = (500, 501)


async def probe(backend: Askable, model: str) -> dict[str, Any]:
    """The capabilities of a model: json_schema, json_object, logprobs, top_logprobs, seed, temperature, system_role,
    token_limit.

    Takes a backend that is entered. StopRun where no call can succeed (key, model, quota); TryAgain where the endpoint
    is busy or out of order, which says nothing of what it can do.
    """
    limit = await _token_limit(backend, model)
    asking = _Asking(backend, model, limit)
    top = 0
    for wanted in TOP:
        if not top and await asking.works(
            {limit: FEW, "logprobs": True, "top_logprobs": wanted}, _has_logprobs
        ):
            top = wanted
    return {
        "json_schema": await asking.works({limit: ROOM}, _fits, prompt=JSON_PROMPT, schema=SCHEMA),
        "json_object": await asking.works(
            {limit: ROOM, "response_format": {"type": "json_object"}}, _is_object, prompt=JSON_PROMPT
        ),
        "logprobs": top > 0,
        "top_logprobs": top,
        "seed": await asking.works({limit: FEW, "seed": 7}, _any),
        "temperature": await asking.works({limit: FEW, "temperature": 0}, _any),
        "system_role": await asking.works({limit: FEW}, _any, system="Be brief."),
        "token_limit": limit,
        "probed_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


class _Asking:
    def __init__(self, backend: Askable, model: str, limit: str) -> None:
        self.backend, self.model = backend, model
        self.plain = replace(_counting(model), parameters={limit: FEW})

    async def works(
        self,
        parameters: Mapping[str, Any],
        check: Callable[[Reply], bool],
        *,
        prompt: str = PROMPT,
        system: str = "",
        schema: Mapping[str, Any] | None = None,
    ) -> bool:
        """True if such a request is answered as it should be. A server error counts as not able: some servers
        break on what they do not know instead of refusing it."""
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        request = Request(model=self.model, messages=messages, parameters=parameters, schema=schema)
        reply = await _ask(self.backend, request, self.plain)
        return reply is not None and check(reply)


async def _ask(backend: Askable, request: Request, plain: Request) -> Reply | None:
    """The reply; None where the request was refused or broke the server.

    Denied with an option twice, while the plain request between was answered, it is the option that is not to be had;
    StopRun where the plain one is denied, too.
    """
    try:
        return await backend.ask(request)
    except CallFailed:
        return None
    except TryAgain as error:
        if error.status in BREAKS:
            return None
        raise
    except StopRun as denied:
        if denied.status not in DENIES:
            raise
    await _ask_plainly(backend, plain)
    try:
        return await backend.ask(request)
    except (CallFailed, StopRun):
        return None


async def _token_limit(backend: Askable, model: str) -> str:
    """The name under which the server takes a limit: one that it refuses or overlooks is not it.

    A reply that is cut off short shows that it is taken. One that ends by itself shows nothing, nor does one that is
    cut off where the model's window ends; then it is the older name, unless that is refused: what overlooks one
    overlooks the newer.
    """
    plain = _counting(model)
    answered = ""
    for name in LIMITS:
        reply = await _ask(backend, replace(plain, parameters={name: FEW}), plain)
        if reply is not None and reply.finish_reason == "length" and reply.completion_tokens <= 2 * FEW:
            return name
        answered = name if reply is not None else answered
    if not answered:
        # Neither is taken: the plainest request tells whether the server is out of order.
        await _ask_plainly(backend, plain)
    return answered or LIMITS[-1]


async def _ask_plainly(backend: Askable, plain: Request) -> None:
    """Ask what has no option that could be refused; StopRun where even that is."""
    try:
        await backend.ask(plain)
    except CallFailed as refused:
        raise StopRun(f"The endpoint refuses requests without any option, too ({refused}).") from None


def _counting(model: str) -> Request:
    return Request(model=model, messages=[{"role": "user", "content": PROMPT}])


def _any(reply: Reply) -> bool:
    return True


def _has_logprobs(reply: Reply) -> bool:
    return any(len(place) > 1 for place in reply.logprobs)


def _is_object(reply: Reply) -> bool:
    try:
        return isinstance(json.loads(reply.text), dict)
    except ValueError:
        return False


def _fits(reply: Reply) -> bool:
    try:
        return json.loads(reply.text) in ({"verdict": "1"}, {"verdict": "2"})
    except ValueError:
        return False


CHAT_PROBE = Probe("token_limit", probe)

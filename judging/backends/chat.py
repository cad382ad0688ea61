"""Chat completions over HTTP: OpenAI's API and everything that speaks it (vLLM, Ollama, gateways)."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from judging.backends.base import BLANKS, Reply, Request, TryAgain
from judging.backends.connection import EndpointConnection, token_count


class ChatBackend(EndpointConnection):
    """Chat completions of one endpoint."""

    async def ask(self, request: Request) -> Reply:
        response, content = await self.post("chat/completions", body_of(request))
        return read_completion(content, response.headers.get("x-request-id", ""))


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
            prompt_tokens=token_count(usage.get("prompt_tokens")),
            completion_tokens=token_count(usage.get("completion_tokens")),
            request_id=request_id or str(data.get("id") or ""),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise TryAgain("The endpoint's answer is not a chat completion.") from None


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

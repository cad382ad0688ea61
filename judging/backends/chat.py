"""Chat completions over HTTP: OpenAI's API and everything that speaks it (vLLM, Ollama, gateways)."""

from collections.abc import Mapping, Sequence
from typing import Any

from judging.backends.base import BLANKS, RefusedByFilter, Reply, Request, TryAgain
from judging.backends.connection import FILTERS, EndpointConnection, as_paid, load_object, tokens_of


class ChatBackend(EndpointConnection):
    """Chat completions of one endpoint."""

    async def ask(self, request: Request) -> Reply:
        try:
            response, content = await self.post("chat/completions", body_of(request))
        except RefusedByFilter as refused:
            return held_back(refused)
        return self.read(content, response.headers.get("x-request-id", ""))

    def read(self, content: bytes, request_id: str) -> Reply:
        """The reply in an answer with status 200; an error that stands there is that error."""
        if status := _failed_status(content):
            said = self._said(status, {}, content)
            if isinstance(said, RefusedByFilter):
                return held_back(said)
            raise said
        with as_paid(content):
            return read_completion(content, request_id)


def held_back(refused: RefusedByFilter) -> Reply:
    """Of what a filter refused before the model saw it, the reply as of what it held back."""
    prompt, completion = refused.tokens
    return Reply(text="", finish_reason="content_filter", prompt_tokens=prompt, completion_tokens=completion)


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
    data = load_object(raw)
    prompt, completion = tokens_of(data)
    try:
        choice = data["choices"][0]
        finish_reason = str(choice.get("finish_reason") or "")
        # Where a filter held the reply back, the reason stands alone.
        message = choice["message"]
        if message is None and finish_reason:
            message = {}
        text, refusal = _text(message.get("content")), message.get("refusal") or ""
        if not isinstance(refusal, str):
            raise TypeError
        return Reply(
            text=text,
            finish_reason=finish_reason,
            refusal=refusal,
            logprobs=_places(choice.get("logprobs"), text),
            prompt_tokens=prompt,
            completion_tokens=completion,
            request_id=request_id or str(data.get("id") or ""),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise TryAgain("The endpoint's answer is not a chat completion.") from None


def _failed_status(raw: bytes) -> int:
    """The status of an error that stands in place of a completion; 0 where there is none."""
    data = load_object(raw)
    error = data.get("error")
    if not error or data.get("choices"):
        return 0
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code in FILTERS:
        return 400
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _text(content: Any) -> str:
    """The text of a message, which may come as a list of parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") in ("text", "output_text"))
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


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

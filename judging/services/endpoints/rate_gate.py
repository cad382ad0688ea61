"""Requests held back until the rate limits of their endpoint let them pass."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable

from judging.backends.base import Reply, Request, StopRun
from judging.backends.probe import LIMITS
from judging.models import Endpoint
from judging.prompting.expected_reply import CHARACTERS_PER_TOKEN
from judging.services.calls.costs import TOKENS_PER_MESSAGE
from judging.services.rate_limits import RateLimit, rate_limits

# So often a request that waits looks whether it is still wanted.
LOOK_SECONDS = 0.2


def rate_limit_of(endpoint: Endpoint) -> RateLimit:
    return RateLimit(endpoint.requests_per_minute, endpoint.tokens_per_minute)


def prompt_tokens(request: Request) -> float:
    """An estimate of a prompt's tokens. By bytes: of scripts that take several per character, tokenizers make more."""
    texts = [message["content"] for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    return sum(len(text.encode()) / CHARACTERS_PER_TOKEN + TOKENS_PER_MESSAGE for text in texts)


def reply_limit(request: Request) -> int:
    """The most tokens that its reply may have; 0 where the request names no limit."""
    return next((int(request.parameters[name]) for name in LIMITS if name in request.parameters), 0)


def tokens_taken(request: Request) -> float:
    """The tokens that a request takes of the limit, its reply at the longest."""
    return prompt_tokens(request) + reply_limit(request)


def oversize_refusal(endpoint: Endpoint, requests: Iterable[Request]) -> str:
    """Why the endpoint's limit of tokens per minute keeps the largest of these requests away for ever; '' if not."""
    limit = endpoint.tokens_per_minute
    most = max((tokens_taken(each) for each in requests), default=0)
    if limit is None or most <= limit:
        return ""
    return (
        f"A request may take {most:,.0f} tokens, more than the {limit:,} that the endpoint {endpoint} takes per "
        "minute. Lower the judge's limit of a reply, or raise the endpoint's."
    )


class RateGate:
    """A gate for the requests of one worker to an endpoint, on one event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.limit = rate_limit_of(endpoint)
        # How many times as many tokens as estimated the endpoint has counted in a prompt.
        self._underestimated = 1.0
        # The waits that requests were told since it was asked whether it holds them back, and the last one's end.
        self._waits = self._waits_until = 0.0
        self._asked_at = time.monotonic()

    def follow(self) -> None:
        """Read the limits again, which can change while a run is under way. For the thread that has the database."""
        limits = Endpoint.objects.filter(pk=self.endpoint.pk)
        [(requests, tokens)] = limits.values_list("requests_per_minute", "tokens_per_minute")
        self.endpoint.requests_per_minute, self.endpoint.tokens_per_minute = requests, tokens
        self.limit = rate_limit_of(self.endpoint)

    def require_fit(self, requests: Iterable[Request]) -> None:
        """StopRun where one of these has more tokens than any minute."""
        refused = oversize_refusal(self.endpoint, requests)
        if refused:
            raise StopRun(refused)

    async def take(self, request: Request) -> float:
        """0 where the request may be sent now, which counts it as sent; otherwise the seconds to wait before asking
        again."""
        if not self.limit:
            return 0.0
        tokens = prompt_tokens(request) * self._underestimated + reply_limit(request)
        wait = await asyncio.to_thread(rate_limits().take, self.endpoint.pk, self.limit, round(tokens))
        if wait:
            self._waits += wait
            self._waits_until = time.monotonic() + wait
        return wait

    def holds_back(self) -> bool:
        """True if requests waited here for most of the time since this was asked before."""
        now = time.monotonic()
        held = self._waits > (now - self._asked_at) / 2
        self._waits, self._asked_at = max(0.0, self._waits_until - now), now
        return held

    async def wait(self, request: Request, give_up: Callable[[], bool] = lambda: False) -> bool:
        """Wait until the request may be sent; False if it is given up meanwhile."""
        while wait := await self.take(request):
            ends = time.monotonic() + wait
            while (left := ends - time.monotonic()) > 0:
                if give_up():
                    return False
                await asyncio.sleep(min(left, LOOK_SECONDS))
        return True

    def answered(self, request: Request, reply: Reply) -> None:
        """Learn from the tokens that the endpoint has counted."""
        self._underestimated = max(self._underestimated, reply.prompt_tokens / prompt_tokens(request))

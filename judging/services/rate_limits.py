"""Limits of requests and tokens per minute at an endpoint, kept by all workers together through Redis.

Whoever wants to send a request asks whether it may now; what may counts as sent, and what may not is told when to ask
again. So nothing is lost with a worker that goes while it waits. Requests are spaced evenly, so that no minute has more
requests, nor more tokens, than the limits. Without Redis each process keeps the limits by itself.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

from django.conf import settings

from evaluation.operations.redis_error import redis_error

if TYPE_CHECKING:
    import redis

logger = logging.getLogger(__name__)
# A second more than a minute: what is sent evenly does not arrive as evenly.
MINUTE = 61.0
# So late a request may be sent without the next one being later, too: waking up and asking takes time.
CATCH_UP = 0.05
# In one step, by the server's clock: workers' clocks differ. The same as `_take` in Python.
TAKE = """
local at = redis.call('TIME')
local now = tonumber(at[1]) + tonumber(at[2]) / 1000000
local requests, limit, tokens = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local minute, catch_up = tonumber(ARGV[4]), tonumber(ARGV[5])
local kept = redis.call('HMGET', KEYS[1], 'requests', 'tokens', 'largest', 'before', 'since')
for place = 1, 5 do kept[place] = tonumber(kept[place] or '0') end
local next_request, next_tokens, largest, before, since = unpack(kept)
if now < since then
  next_request, next_tokens = math.min(next_request, now + minute), math.min(next_tokens, now + minute)
  since = now
end
if now - since >= minute then
  before, largest, since = (now - since < 2 * minute) and largest or 0, 0, now
end
local most = math.max(largest, before)
if limit > 0 and tokens > most then
  next_tokens = next_tokens + (limit > most and math.min(minute, minute * (tokens - most) / (limit - most)) or minute)
  most = tokens
end
largest = math.max(largest, tokens)
local base = function(due) return now - due <= catch_up and due or now end
local wait = 0
if requests > 0 then wait = math.max(wait, next_request - now) end
if limit > 0 then wait = math.max(wait, next_tokens - now) end
if wait == 0 then
  if requests > 0 then next_request = base(next_request) + minute / requests end
  if limit > 0 then
    local taken = limit > most and math.min(minute, minute * tokens / (limit - most)) or minute
    next_tokens = base(next_tokens) + taken
  end
end
local format = function(value) return string.format('%.6f', value) end
redis.call('HSET', KEYS[1], 'requests', format(next_request), 'tokens', format(next_tokens),
  'largest', format(largest), 'before', format(before), 'since', format(since))
redis.call('EXPIRE', KEYS[1], math.ceil(math.max(next_request, next_tokens, now) - now + 2 * minute))
return format(wait)
"""


@dataclass(frozen=True)
class RateLimit:
    """The most requests and tokens per minute at an endpoint; None: no limit."""

    requests: float | None = None
    tokens: float | None = None

    def __post_init__(self) -> None:
        if any(limit is not None and limit <= 0 for limit in (self.requests, self.tokens)):
            raise ValueError("A limit per minute is above 0.")

    def __bool__(self) -> bool:
        return self.requests is not None or self.tokens is not None

    def __str__(self) -> str:
        """The limits in words, such as "60 requests and 10,000 tokens per minute"."""
        named = ((self.requests, "requests"), (self.tokens, "tokens"))
        return (
            " and ".join(f"{limit:,.15g} {what}" for limit, what in named if limit is not None)
            + " per minute"
        )

    def seconds(self, requests: float, tokens: float, largest: float) -> float:
        """The time that so many requests with so many tokens together take at least, the largest with so many."""
        of_requests = requests * MINUTE / self.requests if self.requests else 0.0
        if not self.tokens:
            return of_requests
        room = self.tokens - largest
        one_by_one = requests * MINUTE
        return max(of_requests, min(one_by_one, tokens * MINUTE / room) if room > 0 else one_by_one)


class RateLimits(Protocol):
    """The limits of endpoints, each named by its key."""

    def take(self, endpoint: int, limit: RateLimit, tokens: int) -> float:
        """0 where a request of so many tokens may be sent now: it counts as sent. Otherwise in how many seconds to ask
        again."""
        ...


@dataclass
class _Kept:
    """The record of an endpoint: the times from which each limit lets a request be sent, and the most tokens that a
    request had, in the minute that began at `since` and in the one before."""

    next_request: float = 0.0
    next_tokens: float = 0.0
    largest: float = 0.0
    before: float = 0.0
    since: float = 0.0


class ProcessRateLimits:
    """The limits of this process alone, by a clock in seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[int, _Kept] = {}

    def take(self, endpoint: int, limit: RateLimit, tokens: int) -> float:
        if not limit:
            return 0.0
        with self._lock:
            return _take(self._kept.setdefault(endpoint, _Kept()), limit, tokens, self._clock())


def _take(kept: _Kept, limit: RateLimit, tokens: int, now: float) -> float:
    """A request of t tokens keeps the next one away for t / (limit - most) minutes, `most` being the tokens of the
    largest one lately: those of any minute but for its last one then come to no more than the limit less the largest.

    Where a request is larger than any before, the ones before have kept too little away, which it waits for itself.
    """
    if now < kept.since:  # the clock was set back
        kept.next_request = min(kept.next_request, now + MINUTE)
        kept.next_tokens = min(kept.next_tokens, now + MINUTE)
        kept.since = now
    if now - kept.since >= MINUTE:
        kept.before = kept.largest if now - kept.since < 2 * MINUTE else 0.0
        kept.largest, kept.since = 0.0, now
    most = max(kept.largest, kept.before)
    if limit.tokens and tokens > most:
        kept.next_tokens += _share(tokens - most, limit.tokens - most)
        most = tokens
    kept.largest = max(kept.largest, tokens)
    wait = max(
        0.0,
        kept.next_request - now if limit.requests else 0.0,
        kept.next_tokens - now if limit.tokens else 0.0,
    )
    if wait:
        return wait
    if limit.requests:
        kept.next_request = _base(kept.next_request, now) + MINUTE / limit.requests
    if limit.tokens:
        kept.next_tokens = _base(kept.next_tokens, now) + _share(tokens, limit.tokens - most)
    return 0.0


def _base(due: float, now: float) -> float:
    return due if now - due <= CATCH_UP else now


def _share(tokens: float, room: float) -> float:
    """The time of a share of a minute's tokens; a minute at most, as what came before is none of its business then."""
    return min(MINUTE, MINUTE * tokens / room) if room > 0 else MINUTE


class SharedRateLimits:
    """The limits of all processes that share a Redis; where it can't be reached, each keeps them by itself."""

    def __init__(self, client: "redis.Redis", prefix: str) -> None:
        self._prefix = prefix
        self._script = client.register_script(TAKE)
        self._alone = ProcessRateLimits()

    def take(self, endpoint: int, limit: RateLimit, tokens: int) -> float:
        if not limit:
            return 0.0
        asked = (limit.requests or 0, limit.tokens or 0, tokens, MINUTE, CATCH_UP)
        try:
            return float(self._script(keys=[f"{self._prefix}rate:{endpoint}"], args=asked))
        except redis_error() as error:
            logger.warning("The rate limits of endpoint %s can't be shared: %s", endpoint, error)
            return self._alone.take(endpoint, limit, tokens)


@cache
def rate_limits() -> RateLimits:
    """Those of this installation. Taking asks Redis and blocks for as long: in an event loop, from a thread."""
    if not settings.REDIS_URL:
        return ProcessRateLimits()
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    patience = settings.ASSAY_REDIS_SECONDS
    # Once more at once, for a connection that idled and is gone; the client's own retries wait for seconds.
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=patience,
        socket_timeout=patience,
        retry=Retry(NoBackoff(), 1),
    )
    return SharedRateLimits(client, settings.REDIS_KEY_PREFIX)

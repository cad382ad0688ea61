"""Rate limits: in one process by a given clock, in several by Redis."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.services.rate_limits import (
    MINUTE,
    ProcessRateLimits,
    RateLimit,
    SharedRateLimits,
    rate_limits,
)

ROOT = Path(__file__).resolve().parents[3]
# Requests at moments of a clock: seconds since the one before, and their tokens.
ARRIVALS = st.lists(st.tuples(st.floats(0, 20), st.integers(0, 400)), min_size=1, max_size=60)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def sent_at(limits, clock, limit, tokens=0):
    """The moment at which a request is sent that waits for as long as it is told."""
    while wait := limits.take(1, limit, tokens):
        clock.now += wait
    return clock.now


def test_requests_are_spaced_evenly(clock):
    limits, limit, began = ProcessRateLimits(clock), RateLimit(requests=MINUTE / 2), clock.now
    sent = [sent_at(limits, clock, limit) - began for _ in range(4)]
    assert sent == pytest.approx([0, 2, 4, 6])
    clock.now = began + 7.02
    assert limits.take(1, limit, 0) == pytest.approx(0.98), "asking takes nothing"
    assert limits.take(1, limit, 0) == pytest.approx(0.98)
    # Waking up a little late is made up for; time in which nothing was wanted is not.
    clock.now = began + 8.03
    assert sent_at(limits, clock, limit) - began == pytest.approx(8.03)
    assert sent_at(limits, clock, limit) - began == pytest.approx(10)
    clock.now += 60
    late = [sent_at(limits, clock, limit) - began for _ in range(3)]
    assert late == pytest.approx([70, 72, 74])


def test_tokens_and_requests_are_both_kept_to(clock):
    limits, limit, began = (
        ProcessRateLimits(clock),
        RateLimit(requests=MINUTE, tokens=10 * MINUTE + 50),
        clock.now,
    )
    sent = [sent_at(limits, clock, limit, tokens) - began for tokens in (50, 1, 1, 20, 0, 1)]
    # 50 tokens take 5 s; after that a second of the requests' limit is the longer one; 20 take 2 s.
    assert sent == pytest.approx([0, 5, 6, 7, 9, 10])


def test_a_request_larger_than_those_before_waits_for_what_they_kept_too_little_away(clock):
    limits, limit, began = ProcessRateLimits(clock), RateLimit(tokens=600), clock.now
    small = [sent_at(limits, clock, limit, 1) - began for _ in range(400)]
    large = sent_at(limits, clock, limit, 300) - began
    assert sum(1 for at in small if at > large - 60) + 300 <= 600
    assert sent_at(limits, clock, limit, 300) - large > 60


def test_a_clock_that_is_set_back_keeps_nobody_waiting_for_as_long(clock):
    limits, limit = ProcessRateLimits(clock), RateLimit(requests=MINUTE / 2, tokens=6_000)
    sent_at(limits, clock, limit, 100)
    clock.now -= 3600
    began = clock.now
    first = sent_at(limits, clock, limit, 100) - began
    assert first <= MINUTE
    assert sent_at(limits, clock, limit, 100) - began == pytest.approx(first + 2)


def test_endpoints_do_not_wait_for_each_other(clock):
    limits, limit = ProcessRateLimits(clock), RateLimit(requests=1)
    assert [limits.take(endpoint, limit, 0) for endpoint in (1, 2, 1)] == [0, 0, pytest.approx(MINUTE)]


def test_without_a_limit_nothing_waits(clock):
    limits = ProcessRateLimits(clock)
    assert {limits.take(1, RateLimit(), 10**9) for _ in range(5)} == {0}


@given(ARRIVALS, st.integers(1, 40), st.integers(400, 2000))
def test_no_minute_has_more_than_the_limits(arrivals, most_requests, most_tokens):
    clock = Clock()
    limits, limit = ProcessRateLimits(clock), RateLimit(requests=most_requests, tokens=most_tokens)
    sent = []
    for seconds, tokens in arrivals:
        clock.now += seconds
        sent.append((sent_at(limits, clock, limit, tokens), tokens))
    for start, _ in sent:
        minute = [tokens for at, tokens in sent if start <= at < start + 60]
        assert len(minute) <= most_requests
        assert sum(minute) <= most_tokens


def test_it_says_how_long_many_requests_take(clock):
    limits, limit, began = ProcessRateLimits(clock), RateLimit(requests=600, tokens=6_000), clock.now
    for _ in range(100):
        ended = sent_at(limits, clock, limit, 200)
    assert limit.seconds(100, 20_000, 200) == pytest.approx(ended - began, rel=0.02)
    assert RateLimit(requests=600).seconds(100, 20_000, 200) == pytest.approx(MINUTE / 6)
    assert RateLimit(tokens=100).seconds(3, 300, 100) == 3 * MINUTE, "one a minute at the worst"
    assert RateLimit().seconds(9, 9, 9) == 0


@pytest.mark.parametrize("limit", [{"requests": 0}, {"tokens": -1}])
def test_a_limit_is_above_0(limit):
    with pytest.raises(ValueError, match="above 0"):
        RateLimit(**limit)


def test_limits_read_as_a_sentence_part():
    assert str(RateLimit(requests=60, tokens=10_000)) == "60 requests and 10,000 tokens per minute"
    assert str(RateLimit(tokens=5)) == "5 tokens per minute"


# --- Redis ----------------------------------------------------------------------------------------------------------

TAKE_MANY = """
import json, sys, time, django, redis
django.setup()
from judging.services.rate_limits import RateLimit, SharedRateLimits
url, prefix, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
limits = SharedRateLimits(redis.Redis.from_url(url), prefix)
limit = RateLimit(requests=1200, tokens=240_000)
sent = []
for tokens in [1000, 2000, 4000] * count:
    while wait := limits.take(7, limit, tokens):
        time.sleep(wait)
    sent.append((time.time(), tokens))
print(json.dumps(sent))
"""


@pytest.fixture
def shared():
    url = os.environ.get("REDIS_URL")
    if not url:
        if os.environ.get("ASSAY_REQUIRE_ALL"):
            pytest.fail("REDIS_URL is not set")
        pytest.skip("REDIS_URL is not set")
    import redis

    prefix = f"assay-test-{uuid.uuid4().hex}:"
    with redis.Redis.from_url(url) as client:
        yield url, prefix, client
        for key in client.scan_iter(f"{prefix}*"):
            client.delete(key)


@pytest.mark.redis
def test_processes_keep_to_the_limits_together(shared):
    """Three processes of 12 requests each: 20 a second, and 4,000 tokens a second less the share of the largest."""
    url, prefix, _ = shared
    command = [sys.executable, "-c", TAKE_MANY, url, prefix, "4"]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
    started = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    sent = sorted(
        map(tuple, (each for one in started for each in json.loads(one.communicate(timeout=60)[0])))
    )
    assert [each.returncode for each in started] == [0] * 3
    assert len(sent) == 36
    seconds = sent[-1][0] - sent[0][0]
    taken = sum(tokens for _, tokens in sent[:-1])
    # Leeway is for a process that is held up between Redis's answer and its own look at the clock.
    assert taken * MINUTE / 240_000 - 0.5 <= seconds <= taken * MINUTE / 236_000 + 3
    for start, _ in sent:
        assert sum(tokens for at, tokens in sent if start <= at < start + 2) <= 2 * 4_000 + 4_000 + 2_000


@pytest.mark.redis
def test_redis_gives_the_waits_of_one_process(shared):
    _, prefix, client = shared
    limits, alone = SharedRateLimits(client, prefix), ProcessRateLimits()
    limit = RateLimit(requests=6, tokens=600)
    for tokens in (0, 500, 1, 0, 590, 3000):
        assert limits.take(1, limit, tokens) == pytest.approx(alone.take(1, limit, tokens), abs=1)
    assert limits.take(2, limit, 0) == 0
    assert limits.take(1, RateLimit(), 0) == 0
    quick = RateLimit(requests=100_000, tokens=10**9)
    for tokens in (1, 2000, 5, 30_000, 30_000):
        assert limits.take(3, quick, tokens) == pytest.approx(alone.take(3, quick, tokens), abs=0.05)
    # The server's clock was an hour ahead, and was set right.
    ahead = dict.fromkeys(("requests", "tokens", "since"), time.time() + 3600)
    client.hset(f"{prefix}rate:4", mapping=ahead | {"largest": 0, "before": 0})
    assert 0 < limits.take(4, limit, 1) < 2 * MINUTE
    # What is kept goes by itself once it says nothing any more.
    assert MINUTE < client.ttl(f"{prefix}rate:1") < 7 * MINUTE


@pytest.fixture
def limits_of_redis(settings):
    """The installation's limits, where its Redis is said to be."""

    def at(url):
        settings.REDIS_URL = url
        rate_limits.cache_clear()
        return rate_limits()

    yield at
    rate_limits.cache_clear()


def test_without_redis_a_process_keeps_the_limits_by_itself(caplog, limits_of_redis):
    limits, limit = limits_of_redis("redis://127.0.0.1:9/0"), RateLimit(requests=1)
    assert limits.take(1, limit, 0) == 0
    assert limits.take(1, limit, 0) == pytest.approx(MINUTE, abs=5)
    assert "can't be shared" in caplog.text


@pytest.mark.parametrize(
    ("url", "kind"), [("", ProcessRateLimits), ("redis://127.0.0.1:9/0", SharedRateLimits)]
)
def test_they_are_shared_where_there_is_redis(limits_of_redis, url, kind):
    limits = limits_of_redis(url)
    assert type(limits) is kind
    assert rate_limits() is limits

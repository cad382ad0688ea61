"""Chat completions against a real server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import time
import traceback
import urllib.request
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from judging.backends import BACKENDS, open_backend
from judging.backends.base import CallFailed, Reply, Request, StopRun, TryAgain
from judging.backends.chat import ChatBackend, read_completion
from judging.backends.connection import retry_after
from judging.models import Endpoint, Judge
from judging.prompting.item_call import ItemCall
from judging.prompting.request import build_request
from judging.prompting.settings import Settings
from tests.judging.endpoint import serve
from tests.judging.sample import ABLE, PAIRWISE, WITHOUT_CONTEXT, make_spec, make_stimulus

KEY = "sk-test-4f9a8b7c6d5e4f3a2b1c"
LINES = [{"role": "user", "content": "preference: <1, 2 or tie>"}]


@pytest.fixture(scope="module")
def server():
    with serve() as served:
        yield served


def ask(server, model="longer", *, key=KEY, timeout=5.0, **request):
    async def go():
        async with ChatBackend(server.url, key=key, timeout=timeout, in_flight=4) as backend:
            return await backend.ask(Request(**({"model": model, "messages": LINES} | request)))

    return asyncio.run(go())


def refused(server, behaviour, error, **options):
    """The exception for a misbehaviour, which must not hold the key in any text that a log could show."""
    with pytest.raises(error) as caught:
        ask(server, f"longer:{behaviour}", **options)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not any(KEY[start : start + 8] in shown for start in range(len(KEY) - 7))
    return caught.value


# --- a reply --------------------------------------------------------------------------------------------------------


def test_a_reply_comes_with_its_tokens(server):
    reply = ask(server)
    assert reply == Reply(
        text="preference: 1",
        finish_reason="stop",
        prompt_tokens=6,
        completion_tokens=2,
        request_id="req-test",
    )


def test_what_is_sent_is_what_was_asked_for(server):
    server.reset()
    ask(
        server,
        parameters={"temperature": 0.5, "top_p": 0.9, "seed": 3},
        schema={"type": "object", "properties": {}},
    )
    [seen] = server.log
    assert seen.path == "/v1/chat/completions"
    assert seen.authorization == f"Bearer {KEY}"
    assert seen.body == {
        "model": "longer",
        "messages": LINES,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "judgment",
                "strict": True,
                "schema": {"type": "object", "properties": {}},
            },
        },
    }


def test_parameters_can_t_replace_model_or_messages(server):
    server.reset()
    ask(server, parameters={"model": "other", "messages": []})
    assert server.log[0].model == "longer"


def test_a_server_without_keys_is_sent_a_dummy(server):
    server.reset()
    ask(server, key="")
    assert server.authorizations == {"Bearer none"}


@pytest.mark.parametrize(("rationale", "places"), [("none", 1), ("before", 2), ("after", 2)])
def test_log_probabilities_of_the_first_and_the_last_token(server, rationale, places):
    settings = Settings(model="longer", verdict="logprobs", rationale=rationale)
    request = build_request(
        ItemCall(
            PAIRWISE, make_spec(), make_stimulus(WITHOUT_CONTEXT), settings, order="r1,r2", capabilities=ABLE
        )
    )
    reply = ask(server, messages=request.messages, parameters=request.parameters)
    assert len(reply.logprobs) == places
    verdict = reply.logprobs[-1 if rationale == "before" else 0]
    assert next(iter(verdict.items())) == ("2", math.log(0.8))


def places(text, *tokens):
    """The places that are kept of a reply in these tokens, each by its likeliest token."""
    content = [{"token": token, "logprob": -0.1, "top_logprobs": []} for token in tokens]
    raw = completion(message={"content": text}, logprobs={"content": content})
    return [next(iter(place)) for place in read_completion(raw, "").logprobs]


def test_the_places_are_the_text_s_own_ends():
    assert places("1", "1") == ["1"]
    assert places("\n 1", "\n", "\u01201") == ["\u01201"]
    assert places("Worse.\n2", "W", "orse", ".", "\n", "2") == ["W", "2"]
    assert places("1\nBetter", "1", "\n", "Better", "<|end|>") == ["1", "Better"]
    assert places("Better\n1", "<|start|>", "Better", "\n", "1", "<|end|>", "") == ["Better", "1"]
    assert places("", "<|end|>") == []
    assert places("1", "2") == []


def test_a_drawn_token_that_is_none_of_the_likeliest_is_kept():
    token = {"token": "T", "logprob": -9.0, "top_logprobs": [{"token": "1", "logprob": -0.1}]}
    raw = completion(
        message={"content": "\nT"}, logprobs={"content": [{"token": "\n", "logprob": 0.0}, token]}
    )
    assert read_completion(raw, "").logprobs == ({"1": -0.1, "T": -9.0},)


def test_a_refusal_an_empty_reply_and_a_cut_one_are_replies(server):
    assert ask(server, "longer:refusal").refusal == "I cannot help with judging this."
    assert ask(server, "longer:empty") == Reply(
        text="", finish_reason="stop", prompt_tokens=6, request_id="req-test"
    )
    assert ask(server, "longer:truncated").finish_reason == "length"
    assert ask(server, "longer:filtered").finish_reason == "content_filter"
    assert ask(server, "longer:no_usage").completion_tokens == 0


def completion(**choice):
    message = {"message": {"content": "x"}, "finish_reason": "stop"} | choice
    return json.dumps(
        {"id": "c1", "choices": [message], "usage": {"prompt_tokens": -5, "completion_tokens": "7"}}
    ).encode()


def test_odd_values_beside_a_reply_do_no_harm():
    assert read_completion(completion(finish_reason=None), "") == Reply(text="x", request_id="c1")
    assert read_completion(completion(message={"content": None}), "").text == ""
    counted = json.loads(completion()) | {"usage": {"prompt_tokens": True, "completion_tokens": 2**31}}
    reply = read_completion(json.dumps(counted).encode(), "")
    assert (reply.prompt_tokens, reply.completion_tokens) == (0, 0)


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b'{"choices": {}}', b'{"choices": [7]}', b"\xff",
        completion(message=None, finish_reason=None), completion(message={"content": 7}),
        completion(message={"content": [7]}),
        completion(logprobs={"content": [{"token": 5}]}), completion(logprobs={"content": [{"token": "x"}]}),
    ],
)  # fmt: skip
def test_what_is_no_completion_may_be_tried_again(raw):
    with pytest.raises(TryAgain, match="not a chat completion"):
        read_completion(raw, "")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ('{"prompt_tokens": 100, "completion_tokens": 20}', (100, 20)),
        ('{"total_tokens": 120, "completion_tokens": 20}', (100, 20)),
        ('{"prompt_tokens": 100, "completion_tokens": NaN}', (100, 0)),
        ('{"prompt_tokens": "100", "completion_tokens": -2}', (0, 0)),
        ("[120]", (0, 0)),
    ],
)
def test_tokens_of_what_is_no_completion_were_paid(usage, tokens):
    raw = f'{{"choices": [], "usage": {usage}}}'.encode()
    with pytest.raises(TryAgain) as odd:
        ChatBackend("http://127.0.0.1:9/v1").read(raw, "")
    assert odd.value.tokens == tokens


@pytest.mark.parametrize("finish_reason", ["content_filter", "length"])
def test_a_message_that_was_held_back_is_a_reply_that_says_why(finish_reason):
    reply = read_completion(completion(message=None, finish_reason=finish_reason), "")
    assert (reply.text, reply.finish_reason) == ("", finish_reason)


def test_parts_of_text_are_one_text():
    parts = [{"type": "text", "text": "It is "}, {"type": "image_url"}, {"type": "output_text", "text": "1."}]
    assert read_completion(completion(message={"content": parts}), "").text == "It is 1."


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        ({"message": "Provider returned error", "code": 429}, TryAgain, "429: Provider returned error"),
        ({"message": "No such model", "code": 404}, StopRun, "404: No such model"),
        ({"message": "Too long", "code": 413}, CallFailed, "413: Too long"),
        ({"message": "Broken"}, TryAgain, "502: Broken"),
        ("out of memory", TryAgain, "502: out of memory"),
    ],
)
def test_an_error_in_an_answer_that_says_ok_is_that_error(error, kind, says):
    raw = json.dumps({"id": None, "choices": None, "usage": None, "error": error}).encode()
    with pytest.raises(kind, match=says):
        ChatBackend("http://127.0.0.1:9/v1").read(raw, "")


# --- misbehaviour ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "error", "says"),
    [
        ("429", TryAgain, "429: too fast"),
        ("500", TryAgain, "500: told to answer 500"),
        ("502", TryAgain, "502"),
        ("503", TryAgain, "503"),
        ("408", TryAgain, "408"),
        ("nothing", TryAgain, "connection failed"),
        ("half", TryAgain, "connection failed"),
        ("garbage", TryAgain, "not a chat completion"),
        ("odd", TryAgain, "not a chat completion"),
        ("400", CallFailed, "400: told to answer 400"),
        ("413", CallFailed, "413"),
        ("422", CallFailed, "422"),
        ("401", StopRun, "refused the key"),
        ("403", StopRun, "refused access"),
        ("404", StopRun, "no such model"),
        ("quota", StopRun, "quota is used up"),
        ("402", StopRun, "quota is used up"),
        ("redirect=http://127.0.0.1|1/v1", StopRun, "redirect"),
        ("echo_key", CallFailed, "I was sent Bearer *** and do not like it"),
    ],
)
def test_each_misbehaviour_says_whether_trying_again_helps(server, behaviour, error, says):
    assert says in str(refused(server, behaviour, error))


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_what_a_filter_refuses_is_a_reply_that_it_held_back(server, code):
    reply = ask(server, f"longer:400={code}")
    assert (reply.text, reply.finish_reason) == ("", "content_filter")


@pytest.mark.parametrize("behaviour", ["429", "500", "nothing", "half", "garbage"])
def test_one_attempt_is_one_request(server, behaviour):
    server.reset()
    refused(server, behaviour, TryAgain)
    assert server.total == 1


def test_the_status_says_what_kind_of_trouble_it_was(server):
    assert refused(server, "429", TryAgain).status == 429
    assert refused(server, "500", TryAgain).status == 500
    assert refused(server, "nothing", TryAgain).status is None


@pytest.mark.parametrize(
    ("behaviour", "after"), [("429=2", 2.0), ("429ms=250", 0.25), ("429", None), ("429=soon", None)]
)
def test_the_server_says_how_long_to_wait(server, behaviour, after):
    assert refused(server, behaviour, TryAgain).after == after


def test_a_wait_may_be_a_date_and_has_its_limits():
    in_a_minute = datetime.now(UTC) + timedelta(seconds=60)
    assert 50 < retry_after({"retry-after": format_datetime(in_a_minute, usegmt=True)}) <= 60
    assert retry_after({"retry-after": format_datetime(in_a_minute - timedelta(days=1), usegmt=True)}) == 0
    assert retry_after({"retry-after": "86400"}) == 86400
    assert retry_after({"retry-after": "8640000"}) == 7 * 86400, (
        "no server is waited for for longer than a week"
    )
    for odd in ("-5", "nan", "inf", ""):
        assert retry_after({"retry-after": odd}) is None
    assert retry_after({"retry-after": "7", "retry-after-ms": "1500"}) == 1.5


def test_a_redirect_is_not_followed_and_the_key_stays(server):
    with serve() as elsewhere:
        refused(server, f"redirect=http|//127.0.0.1|{elsewhere.port}/v1/chat/completions", StopRun)
        assert elsewhere.connections == 0


@pytest.mark.parametrize("behaviour", ["large=5", "bomb=5", "large=50", "bomb=50"])
def test_a_reply_is_read_up_to_a_limit(server, behaviour):
    assert str(refused(server, behaviour, CallFailed)) == "The reply is too large: more than 4 MB."


@pytest.mark.parametrize("behaviour", ["large=3.9", "bomb=3.9"])
def test_a_long_reply_within_the_limit_is_read(server, behaviour):
    assert len(ask(server, f"longer:{behaviour}").text) > 4_000_000


ASK_MANY = """
import asyncio, resource, sys
from judging.backends.base import CallFailed, Request
from judging.backends.chat import ChatBackend

async def ask(backend, behaviour):
    request = Request(model=f"longer:{behaviour}", messages=[{"role": "user", "content": "x"}])
    try:
        return (await backend.ask(request)).text
    except CallFailed as failed:
        return str(failed)

async def main():
    async with ChatBackend(sys.argv[1], timeout=60, in_flight=4) as backend:
        await ask(backend, "")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(3):
            found = await asyncio.gather(*[ask(backend, each) for each in sys.argv[2:]])
            assert all("too large" in each for each in found), found
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

asyncio.run(main())
"""


def test_a_worker_s_memory_stays_flat_under_large_replies(server):
    """Twelve answers of 50 MB, four at a time: what they may take is four times the limit and its copies."""
    command = [sys.executable, "-c", ASK_MANY, server.url, "large=50", "bomb=50", "large=50", "bomb=50"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert int(done.stdout) < 48 * 1024, f"{done.stdout} KB more than before"


@pytest.mark.parametrize("behaviour", ["hang", "slow=30", "trickle=0.05"])
def test_no_call_lasts_longer_than_the_timeout(server, behaviour):
    assert str(refused(server, behaviour, TryAgain, timeout=0.3)) == "No answer within 0.3 s."


def test_nobody_there():
    with serve() as served:
        pass
    assert "connection failed" in str(refused(served, "", TryAgain))


def test_a_backend_is_closed_behind_its_calls(server):
    server.reset()
    ask(server)
    deadline = time.monotonic() + 5
    while server.transports and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not server.transports


def test_as_many_calls_at_once_as_there_is_room_for(server):
    server.reset()

    async def go():
        async with ChatBackend(server.url, timeout=10, in_flight=8) as backend:
            requests = [Request(model="longer:slow=0.05", messages=LINES) for _ in range(24)]
            return await asyncio.gather(*[backend.ask(request) for request in requests])

    assert len(asyncio.run(go())) == 24
    assert server.max_concurrent == 8
    assert server.connections == 8


def test_another_call_s_failure_leaves_its_neighbours_alone(server):
    async def go():
        async with ChatBackend(server.url, in_flight=4) as backend:
            models = ["longer", "longer:nothing", "longer:500", "longer"]
            requests = [backend.ask(Request(model=model, messages=LINES)) for model in models]
            return await asyncio.gather(*requests, return_exceptions=True)

    kinds = [type(each) for each in asyncio.run(go())]
    assert kinds == [Reply, TryAgain, TryAgain, Reply]


def test_the_tests_endpoint_runs_as_a_process_of_its_own():
    """As benchmarks and browser tests use it."""
    command = [
        sys.executable,
        "-m",
        "tests.judging.endpoint",
        "--require-key",
        KEY,
        "--behaviours",
        "slow=0.01",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip()

            async def go():
                async with ChatBackend(url, key=KEY) as backend:
                    return await backend.ask(Request(model="second", messages=LINES))

            assert asyncio.run(go()).text == "preference: 2"
            with urllib.request.urlopen(url.replace("/v1", "/log"), timeout=10) as answer:
                seen = json.load(answer)
            assert (seen["total"], seen["statuses"], seen["authorizations"]) == (
                1,
                {"200": 1},
                [f"Bearer {KEY}"],
            )
        finally:
            process.terminate()


# --- the registry ---------------------------------------------------------------------------------------------------


def test_every_backend_can_be_chosen_for_a_judge():
    assert [key for key, _ in Judge._meta.get_field("backend").choices] == list(BACKENDS)


def test_a_backend_is_opened_with_the_endpoint_s_own_settings(server, monkeypatch):
    monkeypatch.setenv("ASSAY_KEY_TEST", KEY)
    endpoint = Endpoint(base_url=server.url, key_name="ASSAY_KEY_TEST", timeout_seconds=0.3)
    server.reset()

    async def go():
        async with open_backend("chat", endpoint, in_flight=2) as backend:
            await backend.ask(Request(model="longer:hang", messages=LINES))

    with pytest.raises(TryAgain, match=r"within 0\.3 s"):
        asyncio.run(go())
    assert server.authorizations == {f"Bearer {KEY}"}


def test_a_missing_key_is_named_before_anything_is_sent(server):
    endpoint = Endpoint(base_url=server.url, key_name="ASSAY_KEY_ABSENT")
    with pytest.raises(StopRun, match="ASSAY_KEY_ABSENT"):
        open_backend("chat", endpoint, in_flight=1)

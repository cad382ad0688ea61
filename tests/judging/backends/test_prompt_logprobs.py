"""Log-probabilities of a given text, against a real server that may not give them."""

from __future__ import annotations

import asyncio
import math
from itertools import accumulate

import orjson
import pytest

from judging.backends.base import CallFailed, StopRun, TryAgain
from judging.backends.perplexity.completions import (
    CompletionBackend,
    read_continuation,
    read_prompt_logprobs,
)
from judging.backends.perplexity.judge import probe_prompt_logprobs
from tests.judging.endpoint import serve
from tests.judging.endpoint.completions import logprob, tokens_of

PROMPT, CONTINUATION = "Name the colours of the flag.", " The colours of the flag are red and white."


@pytest.fixture(scope="module")
def server():
    with serve() as served:
        yield served


def run(server, act, *, timeout=5.0):
    async def go():
        async with CompletionBackend(server.url, key="sk-test-1234", timeout=timeout, in_flight=4) as backend:
            return await act(backend)

    return asyncio.run(go())


def score(server, behaviour="", prompt=PROMPT, continuation=CONTINUATION, **options):
    form = options.pop("form", "echo")
    return run(
        server, lambda backend: backend.score(f"m:{behaviour}", prompt, continuation, form=form), **options
    )


def expected(prompt, continuation):
    tokens = tokens_of(prompt + continuation)
    return [logprob(0, tokens[:n], tokens[n]) for n in range(len(tokens_of(prompt)), len(tokens))]


@pytest.mark.parametrize("behaviour", ["", "bos", "no_usage"])
def test_the_continuation_s_tokens_are_told_from_the_prompt_s(server, behaviour):
    found = score(server, behaviour)
    values = expected(PROMPT, CONTINUATION)
    assert found.tokens == len(values) == 10
    assert found.logprob == pytest.approx(sum(values))
    assert found.perplexity == pytest.approx(math.exp(-sum(values) / len(values)))
    assert found.prompt_tokens == (0 if behaviour == "no_usage" else len(tokens_of(PROMPT + CONTINUATION)))


def test_a_text_that_repeats_the_prompt_is_less_perplexing(server):
    other = score(server, continuation=" Seven quiet otters juggle parsnips beside my kettle.")
    assert score(server).perplexity < other.perplexity


def test_one_token_is_generated_and_left_out(server):
    server.reset()
    score(server)
    [seen] = server.log
    assert seen.path == "/v1/completions"
    assert seen.body["prompt"] == PROMPT + CONTINUATION
    assert (seen.body["max_tokens"], seen.body["echo"], seen.body["logprobs"]) == (1, True, 1)


def test_a_token_that_straddles_the_boundary_counts_to_the_continuation(server):
    # "the" and "orem" are one token of the tests' tokeniser.
    found = score(server, prompt="Proof of the", continuation="ory by him")
    tokens = tokens_of("Proof of theory by him")
    assert tokens == ["Proof", " of", " theory", " by", " him"]
    assert found.tokens == 3
    assert found.logprob == pytest.approx(sum(logprob(0, tokens[:n], tokens[n]) for n in (2, 3, 4)))


def test_without_a_prompt_the_first_token_follows_from_nothing(server):
    assert score(server, prompt="", continuation="one two three").tokens == 2
    assert score(server, "bos", prompt="", continuation="one two three").tokens == 3
    with pytest.raises(CallFailed, match="too short"):
        score(server, prompt="", continuation="one")
    with pytest.raises(CallFailed, match="empty text"):
        score(server, continuation="")


@pytest.mark.parametrize(
    ("behaviour", "error", "sentence"),
    [
        ("no_echo", CallFailed, "does not give back the prompt"),
        ("deaf_logprobs", CallFailed, "does not give back the prompt"),
        ("odd", CallFailed, "does not give back the prompt"),
        ("no_completions", StopRun, "404"),
        ("nan", CallFailed, "no log-probability"),
        ("garbage", TryAgain, "not a completion"),
        ("half", TryAgain, "connection failed"),
        ("429=3", TryAgain, "too fast"),
        ("hang", TryAgain, "No answer within"),
        ("large=50", CallFailed, "too large"),
        ("redirect=http|//127.0.0.1|9/v1", StopRun, "redirect"),
    ],
)
def test_a_misbehaviour_becomes_an_error(server, behaviour, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        score(server, behaviour, timeout=0.3 if behaviour == "hang" else 5.0)
    assert type(caught.value) is error


# --- answers of other servers ---------------------------------------------------------------------------------------


def answer(tokens, values, *, text=None, offsets=None):
    offsets = list(accumulate(map(len, tokens), initial=0))[:-1] if offsets is None else offsets
    given = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets}
    text = "".join(tokens) if text is None else text
    return orjson.dumps({"choices": [{"text": text, "logprobs": given}]})


def test_blanks_may_be_written_in_the_tokeniser_s_own_way():
    raw = answer(["a", "\u2581bc", "\u2581d"], [None, -1, -2], text="a bc d")
    found = read_continuation(raw, "a", " bc d")
    assert (found.logprob, found.tokens) == (-3, 2)


def test_a_first_token_without_width_is_no_part_of_the_text():
    raw = answer(["<s>", "a", " b"], [None, -1, -2], text="a b", offsets=[0, 0, 1])
    assert read_continuation(raw, "a", " b").logprob == -2


def test_tokens_that_are_parts_of_a_character_count():
    raw = answer(["a", " ", "\ufffd", "\ufffd"], [None, -1, -2, -4], text="a é", offsets=[0, 1, 2, 2])
    assert read_continuation(raw, "a ", "é").logprob == -6


def test_offsets_that_do_not_fit_are_refused():
    for offsets in ([0, 7, 9], [2, 1, 0], [0, 0, 0]):
        with pytest.raises(CallFailed, match="don't fit the text"):
            read_continuation(answer(["a", " b", " c"], [None, -1, -2], offsets=offsets), "a", " b c")


def test_a_probability_above_1_is_none():
    with pytest.raises(CallFailed, match="no log-probability"):
        read_continuation(answer(["a", " b"], [None, 0.7]), "a", " b")


def test_a_perplexity_beyond_numbers_is_infinite():
    assert read_continuation(answer(["a", " b"], [None, -9999.0]), "a", " b").perplexity == math.inf


# --- the probe ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("", ""),
        ("bos", ""),
        ("no_completions", "The endpoint has no completions of this model, only chat."),
        (
            "no_echo",
            "The endpoint does not give back the prompt with its log-probabilities (completions with echo).",
        ),
        ("400", "400: told to answer 400"),
        ("500", "The endpoint breaks on completions with echo (500: told to answer 500)."),
    ],
)
def test_an_endpoint_that_cannot_is_told_apart_with_the_reason(server, behaviour, problem):
    found = run(server, lambda backend: probe_prompt_logprobs(backend, f"m:{behaviour}"))
    assert found == {"prompt_logprobs": "" if problem else "echo", "prompt_logprobs_problem": problem}


@pytest.mark.parametrize("behaviour", ["vllm:no_echo", "vllm:no_echo:bos"])
def test_the_other_form_is_found_where_there_is_no_echo(server, behaviour):
    found = run(server, lambda backend: probe_prompt_logprobs(backend, f"m:{behaviour}"))
    assert found == {"prompt_logprobs": "prompt_logprobs", "prompt_logprobs_problem": ""}
    assert score(server, behaviour, form="prompt_logprobs").logprob == pytest.approx(score(server).logprob)
    assert score(server, behaviour, form="prompt_logprobs").tokens == score(server).tokens


def listed(*rows):
    """An answer in vLLM's form, of tokens and log-probabilities; None for the first."""
    rows = [row and {"7": {"decoded_token": row[0], "logprob": row[1], "rank": 1}} for row in rows]
    return orjson.dumps({"choices": [{"text": "", "prompt_logprobs": rows}]})


def test_tokens_without_places_are_found_in_the_text():
    raw = listed(None, ("\u2581bc", -1), (" \ufffd", -2), ("\ufffd", -4), (" d", -8))
    found = read_prompt_logprobs(raw, "a bc", " é d")
    assert (found.logprob, found.tokens) == (-14, 3)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ((None, ("x", -1)), "don't fit the text"),
        ((None, (" b", -1)), "don't fit the text"),  # the server cut the rest off
        ((None, (" b", -1), (" c", None)), "no log-probability"),
        ((), "no log-probabilities of the prompt"),
    ],
)
def test_lists_that_do_not_fit_are_refused(rows, sentence):
    with pytest.raises(CallFailed, match=sentence):
        read_prompt_logprobs(listed(*rows), "a b", " c")


@pytest.mark.parametrize(("behaviour", "error"), [("401", StopRun), ("429", TryAgain), ("503", TryAgain)])
def test_an_endpoint_that_is_busy_or_closed_says_nothing_of_what_it_can(server, behaviour, error):
    with pytest.raises(error):
        run(server, lambda backend: probe_prompt_logprobs(backend, f"m:{behaviour}"))

"""The Batch API of an endpoint against a real server, which loses answers and says odd things."""

from __future__ import annotations

import asyncio
import io
import tempfile

import orjson
import pytest

from judging.backends import batches
from judging.backends.base import CallFailed, Reply, Request, StopRun, TryAgain
from judging.backends.batches import BatchBackend
from tests.judging.endpoint import serve

KEY = "sk-test-4f9a8b7c6d5e4f3a2b1c"


@pytest.fixture
def server():
    with serve(require_key=KEY) as served:
        yield served


def at(server, work, *, key=KEY, timeout=5.0):
    """What comes of some work with an entered backend."""

    async def go():
        async with BatchBackend(server.url, key=key, timeout=timeout) as backend:
            return await work(backend)

    return asyncio.run(go())


def request(text, model="longer"):
    messages = [{"role": "user", "content": f"{text} preference: <1, 2 or tie>\npreference: <1, 2 or tie>"}]
    return Request(model=model, messages=messages, parameters={"max_tokens": 20})


def lines(backend, *requests):
    return b"".join(backend.request_line(f"call-{n}", each) for n, each in enumerate(requests))


async def made(backend, *requests):
    file = await backend.upload("mine.jsonl", io.BytesIO(lines(backend, *requests)))
    return await backend.create(file, {"assay": "a test"})


def test_a_batch_goes_up_and_its_answers_come_down(server):
    async def work(backend):
        state = await made(backend, request("one"), request("two", "longer:400"), request("three"))
        while not state.is_over:
            state = await backend.retrieve(state.id)
        with tempfile.TemporaryFile() as content:
            for file in (state.output_file, state.error_file):
                await backend.download(file, content)
                content.write(b"\n")
            content.seek(0)
            answers = dict(map(backend.read_answer, backend.answer_lines(content)))
        for file in (state.input_file, state.output_file, state.error_file):
            await backend.delete_file(file)
        return state, answers, await backend.ask(request("one"))

    state, answers, directly = at(server, work)
    assert (state.status, state.done) == ("completed", 3)
    assert (answers["call-0"].text, answers["call-0"].prompt_tokens) == (
        directly.text,
        directly.prompt_tokens,
    )
    assert isinstance(answers["call-1"], CallFailed)
    assert isinstance(answers["call-2"], Reply)
    assert server.files == {}
    assert server.authorizations == {f"Bearer {KEY}"}


def test_what_was_made_and_not_answered_is_found_again(server):
    server.lost = ["POST files", "POST batches"]

    async def work(backend):
        content = lines(backend, request("one"))
        with pytest.raises(TryAgain, match="connection failed"):
            await backend.upload("mine.jsonl", io.BytesIO(content))
        file = await backend.find_file("mine.jsonl", len(content))
        for n in range(120):  # more than a page
            await backend.upload(f"other-{n}.jsonl", io.BytesIO(content))
        assert await backend.find_file("mine.jsonl", len(content)) == file
        with pytest.raises(TryAgain):
            await backend.create(file, {})
        return file, await backend.find(file), await backend.find("file-9"), await backend.find_file("x", 1)

    file, found, none, no_file = at(server, work)
    assert file == "file-1"
    assert (found.id, found.input_file) == ("batch-1", "file-1")
    assert (none, no_file) == (None, "")


def test_an_endpoint_without_batches_is_told_apart(server):
    async def speaks(backend):
        return await backend.speaks_batches()

    assert at(server, speaks) is True
    server.behaviours = "no_batches"
    assert at(server, speaks) is False
    server.behaviours = ""
    with pytest.raises(StopRun, match="refused the key"):
        at(server, speaks, key="sk-wrong-000000000000")


def test_a_file_of_answers_is_read_up_to_a_limit(server, monkeypatch):
    monkeypatch.setattr(batches, "MOST_FILE_BYTES", 1_000)

    async def work(backend):
        file = await backend.upload("mine.jsonl", io.BytesIO(b"x" * 2_000))
        await backend.download(file, io.BytesIO())

    with pytest.raises(CallFailed, match="too large"):
        at(server, work)


def test_a_line_that_is_too_long_fails_its_own_call(server, monkeypatch):
    monkeypatch.setattr(batches, "MOST_BYTES", 500)
    backend = BatchBackend(server.url, key=KEY)
    long = orjson.dumps({"id": "x", "custom_id": "call-7", "response": {"body": "y" * 2_000}})
    short = orjson.dumps({"custom_id": "call-8", "response": None, "error": {"message": "expired"}})
    found = dict(map(backend.read_answer, backend.answer_lines(io.BytesIO(long + b"\n" + short))))
    assert str(found["call-7"]) == "The reply is too large."
    assert (type(found["call-8"]), str(found["call-8"])) == (TryAgain, "expired")


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        (b"no json", "", TryAgain),
        (b"[1]", "", TryAgain),
        (b'{"custom_id": 3}', "", TryAgain),
        (b'{"custom_id": "a", "response": {"status_code": 200, "body": {}}}', "a", TryAgain),
        (b'{"custom_id": "a", "response": {"status_code": 429, "body": {}}}', "a", TryAgain),
        (b'{"custom_id": "a", "response": {"status_code": 422, "body": {}}}', "a", CallFailed),
        (b'{"custom_id": "a", "response": {"status_code": 401, "body": {}}}', "a", StopRun),
        (b'{"custom_id": "a", "response": null, "error": null}', "a", TryAgain),
    ],
)
def test_what_no_reply_is_read_as(line, name, kind):
    found, answer = BatchBackend("http://127.0.0.1:1/v1", key=KEY).read_answer(line)
    assert (found, type(answer)) == (name, kind)


def test_a_key_that_a_line_quotes_is_not_kept():
    line = orjson.dumps({"custom_id": "a", "error": {"message": f"bad key {KEY}"}})
    _, answer = BatchBackend("http://127.0.0.1:1/v1", key=KEY).read_answer(line)
    assert str(answer) == "bad key ***"


@pytest.mark.parametrize("name", ["../models", "a/b", "", "a?b"])
def test_an_id_leads_nowhere_else(server, name):
    async def work(backend):
        await backend.retrieve(name)

    with pytest.raises(CallFailed, match="id"):
        at(server, work)
    assert server.steps == []

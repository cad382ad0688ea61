"""The tests' endpoint speaks the Batch API as OpenAI's client does."""

from __future__ import annotations

import json

import openai
import pytest

from tests.judging.endpoint import serve


@pytest.fixture(scope="module")
def server():
    with serve(require_key="k") as served:
        yield served


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as made:
        yield made


def request(name, model="longer", url="/v1/chat/completions"):
    messages = [{"role": "user", "content": f"{name} preference: <1, 2 or tie>\npreference: <1, 2 or tie>"}]
    return {"custom_id": name, "method": "POST", "url": url, "body": {"model": model, "messages": messages}}


def create(client, requests, behaviours=""):
    content = "\n".join(json.dumps(each) for each in requests).encode()
    file = client.files.create(file=("batch.jsonl", content), purpose="batch")
    assert client.files.content(file.id).read() == content
    return client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"behaviours": behaviours},
    )


def poll(client, batch, most=10):
    """The statuses until the last, and the batch at the end."""
    statuses = [batch.status]
    while batch.status not in ("completed", "failed", "expired", "cancelled") and len(statuses) < most:
        batch = client.batches.retrieve(batch.id)
        statuses.append(batch.status)
    return statuses, batch


def rows(client, file_id):
    if file_id is None:
        return {}
    lines = client.files.content(file_id).text.splitlines()
    return {row["custom_id"]: row for row in map(json.loads, lines)}


def test_a_batch_is_answered_as_its_requests_would_be_one_by_one(client):
    requests = [request(f"q{n}") for n in range(4)]
    statuses, batch = poll(client, create(client, requests, "polls=4"))
    assert statuses == ["validating", "in_progress", "in_progress", "finalizing", "completed"]
    assert (batch.request_counts.completed, batch.request_counts.failed) == (4, 0)
    assert batch.error_file_id is None
    answers = rows(client, batch.output_file_id)
    one = client.chat.completions.create(model="longer", messages=requests[2]["body"]["messages"])
    body = answers["q2"]["response"]["body"]
    assert body["choices"][0]["message"]["content"] == one.choices[0].message.content == "preference: 1"
    assert body["usage"]["total_tokens"] == one.usage.total_tokens


def test_what_a_request_is_refused_with_stands_in_the_error_file(client):
    requests = [request("good"), request("bad", "longer:400"), request("lost", "longer:hang")]
    _, batch = poll(client, create(client, requests))
    assert batch.status == "completed"
    assert set(rows(client, batch.output_file_id)) == {"good"}
    errors = rows(client, batch.error_file_id)
    assert {name: row["response"]["status_code"] for name, row in errors.items()} == {"bad": 400, "lost": 500}


def test_a_batch_that_expires_has_half_of_its_answers(client):
    _, batch = poll(client, create(client, [request(f"q{n}") for n in range(5)], "expire"))
    assert batch.status == "expired"
    assert set(rows(client, batch.output_file_id)) == {"q0", "q1"}
    errors = rows(client, batch.error_file_id)
    assert {row["error"]["code"] for row in errors.values()} == {"batch_expired"}
    assert set(errors) == {"q2", "q3", "q4"}


def test_a_cancelled_batch_keeps_what_was_answered(client):
    batch = create(client, [request(f"q{n}") for n in range(4)], "polls=4")
    client.batches.retrieve(batch.id)
    assert client.batches.cancel(batch.id).status == "cancelling"
    statuses, batch = poll(client, client.batches.retrieve(batch.id))
    assert statuses == ["cancelled"]
    assert set(rows(client, batch.output_file_id)) == {"q0"}
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)


@pytest.mark.parametrize(
    ("requests", "behaviours", "code"),
    [
        ([request("q1")], "fail", "token_limit_exceeded"),
        ([request("q1"), request("q1")], "", "duplicate_custom_id"),
        ([request("q1", url="/v1/embeddings")], "", "mismatched_url"),
        (["no request"], "", "invalid_json_line"),
        ([], "", "empty_file"),
    ],
)
def test_a_batch_fails_with_a_reason(client, requests, behaviours, code):
    statuses, batch = poll(client, create(client, requests, behaviours))
    assert statuses == ["validating", "failed"]
    assert batch.errors.data[0].code == code
    assert batch.output_file_id is None


def test_another_key_is_refused(server):
    wrong = openai.OpenAI(base_url=server.url, api_key="wrong", max_retries=0)
    with wrong, pytest.raises(openai.AuthenticationError):
        wrong.batches.retrieve("batch-1")

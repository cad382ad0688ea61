"""Embeddings against a real server that misbehaves."""

from __future__ import annotations

import asyncio
import base64
import math
import traceback

import numpy as np
import orjson
import pytest

from judging.backends.base import CallFailed, StopRun, TryAgain
from judging.backends.embedding.endpoint import EmbeddingBackend, read_embeddings
from judging.backends.embedding.similarity import cosine
from tests.judging.endpoint import serve
from tests.judging.endpoint.embeddings import DIMENSIONS
from tests.judging.endpoint.embeddings import embed as expected

KEY = "sk-test-4f9a8b7c6d5e4f3a2b1c"
TEXTS = ["The red fox runs.", "A red fox ran away.", "Taxes rise in winter."]


@pytest.fixture(scope="module")
def server():
    with serve() as served:
        yield served


def embed(server, behaviour="", texts=TEXTS, *, timeout=5.0):
    async def go():
        async with EmbeddingBackend(server.url, key=KEY, timeout=timeout, in_flight=4) as backend:
            return await backend.embed(f"bag:{behaviour}", texts)

    return asyncio.run(go())


def test_several_texts_are_one_request(server):
    server.reset()
    found = embed(server)
    [seen] = server.log
    assert seen.path == "/v1/embeddings"
    assert seen.authorization == f"Bearer {KEY}"
    assert seen.body == {"model": "bag:", "input": TEXTS, "encoding_format": "float"}
    assert found.vectors.shape == (3, DIMENSIONS)
    assert found.vectors == pytest.approx(np.array([expected(text) for text in TEXTS]))
    assert (found.prompt_tokens, found.request_id) == (13, "req-test")
    near, far = cosine(*found.vectors[:2]), cosine(found.vectors[0], found.vectors[2])
    assert near > far + 0.2


def test_an_endpoint_need_not_tell_its_tokens(server):
    assert embed(server, "no_usage").prompt_tokens == 0


def row(index, vector):
    return {"index": index, "embedding": vector}


def test_vectors_come_in_the_order_of_the_texts():
    raw = orjson.dumps({"data": [row(1, [0.0, 1.0]), row(0, [1.0, 0.0])]})
    assert read_embeddings(raw, 2).vectors.tolist() == [[1, 0], [0, 1]]


def test_base64_is_read_as_numbers_are():
    vector = np.array([0.25, -3.5, 1e-3], dtype="<f4")
    raw = orjson.dumps({"data": [row(0, base64.b64encode(vector.tobytes()).decode())]})
    assert read_embeddings(raw, 1).vectors[0] == pytest.approx(vector.astype(float))


# Each misbehaviour, what it does to a request for embeddings, and the sentence.
MISBEHAVIOURS = [
    ("500", TryAgain, "500: told to answer 500"),
    ("429=2", TryAgain, "429: too fast"),
    ("quota", StopRun, "The endpoint's quota is used up."),
    ("400", CallFailed, "400: told to answer 400"),
    ("401", StopRun, "The endpoint refused the key (401)."),
    (
        "no_embeddings",
        StopRun,
        "The endpoint knows no such model or path (404: no_embeddings is not supported).",
    ),
    ("nothing", TryAgain, "The connection failed"),
    ("half", TryAgain, "The connection failed"),
    ("hang", TryAgain, "No answer within 0.3 s."),
    ("slow=30", TryAgain, "No answer within 0.3 s."),
    ("trickle=0.05", TryAgain, "No answer within 0.3 s."),
    ("garbage", TryAgain, "The endpoint's answer is not a list of embeddings."),
    ("odd", CallFailed, "The endpoint gave 0 embeddings for 3 texts."),
    ("babble", CallFailed, "An embedding is not a list of numbers."),
    ("refusal", CallFailed, "An embedding is not a list of numbers."),
    ("empty", CallFailed, "An embedding is empty."),
    ("truncated", CallFailed, "The endpoint gave 1 embeddings for 3 texts."),
    ("uneven", CallFailed, "The embeddings differ in their dimension: 62 and 64."),
    ("nan", CallFailed, "An embedding holds something that is not a number."),
    ("large=50", CallFailed, "The reply is too large: more than 4 MB."),
    ("bomb=50", CallFailed, "The reply is too large: more than 4 MB."),
    ("redirect=http|//127.0.0.1|9/v1/embeddings", StopRun, "The endpoint answers with a redirect"),
    ("echo_key", CallFailed, "400: I was sent Bearer ***"),
]


@pytest.mark.parametrize(
    ("behaviour", "error", "sentence"), MISBEHAVIOURS, ids=[each[0][:9] for each in MISBEHAVIOURS]
)
def test_a_misbehaviour_becomes_an_error_that_says_whether_retrying_helps(server, behaviour, error, sentence):
    timeout = 0.3 if behaviour.split("=")[0] in ("hang", "slow", "trickle") else 5.0
    with pytest.raises(error) as caught:
        embed(server, behaviour, timeout=timeout)
    assert type(caught.value) is error
    assert str(caught.value).startswith(sentence)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not any(KEY[start : start + 8] in shown for start in range(len(KEY) - 7))


def test_a_busy_endpoint_says_for_how_long(server):
    with pytest.raises(TryAgain) as caught:
        embed(server, "429ms=1500")
    assert (caught.value.after, caught.value.status) == (1.5, 429)


def test_a_key_is_not_sent_on_to_another_server(server):
    with serve() as elsewhere:
        with pytest.raises(StopRun):
            embed(server, f"redirect=http|//127.0.0.1|{elsewhere.port}/v1/embeddings")
        assert elsewhere.connections == 0


def test_many_texts_may_bring_a_longer_answer(server):
    assert embed(server, texts=["word"] * 2048).vectors.shape == (2048, DIMENSIONS)
    with pytest.raises(CallFailed, match="gave 1 embeddings for 64 texts"):
        embed(server, "large=7.9", texts=["word"] * 64)
    with pytest.raises(CallFailed, match="more than 8 MB"):
        embed(server, "large=8.1", texts=["word"] * 64)


@pytest.mark.parametrize("texts", [[""], ["a word", " \n"]])
def test_a_blank_text_is_not_sent(server, texts):
    server.reset()
    with pytest.raises(CallFailed, match=r"^An empty text has no embedding\.$"):
        embed(server, texts=texts)
    assert server.total == 0


@pytest.mark.parametrize(
    ("vectors", "sentence"),
    [
        ([[1.0, None]], "not a number"),
        ([[1.0, "Infinity"]], "not a number"),
        ([[0.0, 0.0]], "all zeros"),
        ([[[1.0]]], "not a list of numbers"),
        ([{"a": 1}], "not a list of numbers"),
        ([["word"]], "not a list of numbers"),
        (["AAA"], "not a list of numbers"),
        ([""], "is empty"),
    ],
)
def test_what_is_no_vector_is_said_so(vectors, sentence):
    raw = orjson.dumps({"data": [row(place, vector) for place, vector in enumerate(vectors)]})
    with pytest.raises(CallFailed, match=sentence):
        read_embeddings(raw, len(vectors))


@pytest.mark.parametrize(
    "data", [[], "text", None, {"data": None}, {"data": [1]}, {"data": [{"index": "a"}]}]
)
def test_other_json_is_no_list_of_embeddings(data):
    with pytest.raises(CallFailed, match="not a list of embeddings"):
        read_embeddings(orjson.dumps(data), 1)


@pytest.mark.parametrize("places", [[0, 0], [0, 2], [1, 2], [0, 1, 2]])
def test_each_text_has_one_vector(places):
    raw = orjson.dumps({"data": [row(place, [1.0]) for place in places]})
    with pytest.raises(CallFailed, match=f"gave {len(places)} embeddings for 2 texts"):
        read_embeddings(raw, 2)


def test_infinity_is_no_number():
    with pytest.raises(CallFailed, match="not a number"):
        read_embeddings(b'{"data": [{"index": 0, "embedding": [1, -Infinity]}]}', 1)
    assert math.isfinite(read_embeddings(b'{"data": [{"index": 0, "embedding": [1e300]}]}', 1).vectors[0, 0])

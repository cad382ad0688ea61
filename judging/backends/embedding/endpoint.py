"""Embeddings over HTTP: OpenAI's API and everything that speaks it (vLLM, Ollama, text-embeddings-inference)."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import orjson

from judging.backends.base import CallFailed, Reply, Request, TryAgain
from judging.backends.connection import MOST_BYTES, EndpointConnection, as_paid, tokens_of
from judging.backends.embedding.similarity import Vectors, checked_vectors, cosines

# No vector is longer, as numbers or as base64: 6,000 dimensions of 20 digits each.
BYTES_PER_VECTOR = 128 * 1024
# OpenAI takes no more in one request.
MOST_TEXTS = 2048


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Vectors (texts, dimensions) in the order of the texts, finite and none of length 0; `prompt_tokens` is 0 where
    the endpoint does not say."""

    vectors: Vectors
    prompt_tokens: int = 0
    request_id: str = ""


class EmbeddingBackend(EndpointConnection):
    """Embeddings of one endpoint."""

    async def ask(self, request: Request) -> Reply:
        """The cosines of the request's texts with each other, in their order.

        The vectors themselves, thousands of numbers per text, are not kept.
        """
        texts = [message["content"] for message in request.messages]
        found = await self.embed(request.model, texts, request.parameters)
        said = {"dimensions": found.vectors.shape[1], "cosines": cosines(found.vectors)}
        return Reply(
            text=orjson.dumps(said).decode(), prompt_tokens=found.prompt_tokens, request_id=found.request_id
        )

    async def embed(
        self, model: str, texts: Sequence[str], parameters: Mapping[str, Any] = MappingProxyType({})
    ) -> Embeddings:
        """The vectors of several texts, by one request; raises CallFailed, TryAgain or StopRun.

        CallFailed where a text is blank, since endpoints refuse a whole request for one, and where what comes back is
        not one vector for each text, of one dimension and of finite numbers.
        """
        if not 0 < len(texts) <= MOST_TEXTS:
            raise ValueError(f"One request embeds 1 to {MOST_TEXTS} texts.")
        if not all(text.strip() for text in texts):
            raise CallFailed("An empty text has no embedding.")
        # Numbers are asked for, not base64: every server knows them. What comes back is read either way.
        body = {**parameters, "model": model, "input": list(texts), "encoding_format": "float"}
        most = max(MOST_BYTES, len(texts) * BYTES_PER_VECTOR)
        response, content = await self.post("embeddings", body, most=most)
        with as_paid(content):
            return read_embeddings(content, len(texts), response.headers.get("x-request-id", ""))


def read_embeddings(raw: bytes, wanted: int, request_id: str = "") -> Embeddings:
    """The vectors in an answer's body; TryAgain where it is no JSON, CallFailed where it holds anything else."""
    data = _read_json(raw)
    try:
        rows = sorted(data["data"], key=lambda row: row["index"])
        places = [row["index"] for row in rows]
        written = [row["embedding"] for row in rows]
    except (KeyError, TypeError, AttributeError):
        raise CallFailed("The endpoint's answer is not a list of embeddings.") from None
    if places != list(range(wanted)):
        raise CallFailed(f"The endpoint gave {len(places)} embeddings for {wanted} texts.")
    vectors = checked_vectors([_vector(each) for each in written])
    return Embeddings(vectors, tokens_of(data)[0], request_id)


def _read_json(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except ValueError:
        pass
    try:
        # Some servers write NaN, which is no JSON: asking again would bring it again.
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise TryAgain("The endpoint's answer is not a list of embeddings.") from None


def _vector(written: Any) -> Vectors:
    """A vector given as a list of numbers or as base64 of little-endian 32-bit floats."""
    try:
        if isinstance(written, str):
            return np.frombuffer(base64.b64decode(written, validate=True), dtype="<f4").astype(np.float64)
        if isinstance(written, list):
            # None, as some servers write what is not a number, becomes NaN.
            array = np.array(written, dtype=np.float64)
            if array.ndim == 1:
                return array
    except (ValueError, TypeError, OverflowError, binascii.Error):
        pass
    raise CallFailed("An embedding is not a list of numbers.")

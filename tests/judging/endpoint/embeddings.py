"""Embeddings: hashed bags of words, so that texts with the same words are near each other."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct
from functools import cache
from typing import Any

DIMENSIONS = 64
ODD = b'{"object": "list", "data": []}'


def text_of(body: dict[str, Any]) -> Any:
    return body["input"]


def refused(body: dict[str, Any], told: dict[str, str]) -> tuple[str, int] | None:
    return ("no_embeddings", int(told["no_embeddings"] or 404)) if "no_embeddings" in told else None


def complete(seed: int, rule: str, body: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
    """A list of embeddings, in the order of the texts: base64 of little-endian floats, or numbers."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    size = body.get("dimensions", DIMENSIONS)
    vectors: list[list[float]] = [embed(text, size) for text in texts]
    if "truncated" in told:
        vectors = vectors[: len(vectors) // 2]
    if "uneven" in told:
        vectors = [vector[: size - place] for place, vector in enumerate(vectors)]
    if "nan" in told:
        vectors = [[math.nan, *vector[1:]] for vector in vectors]
    if "empty" in told:
        vectors = [[] for _ in vectors]
    form = "float" if "deaf_base64" in told else body.get("encoding_format", "float")
    data = [
        {"object": "embedding", "index": place, "embedding": _written(vector, form, told)}
        for place, vector in enumerate(vectors)
    ]
    tokens = sum(len(text.split()) for text in texts)
    usage = {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    return {"object": "list", "data": data, "model": body["model"]} | ({} if "no_usage" in told else usage)


def _written(vector: list[float], form: str, told: dict[str, str]) -> Any:
    if "refusal" in told:
        return None
    if "babble" in told:
        return "Response 1 has its merits, yet Response 2 might be better."
    if form == "base64":
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    return vector


def embed(text: str, size: int = DIMENSIONS) -> list[float]:
    """A vector of length 1, whose place of each word is drawn by the word alone; a text without words is all noise."""
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.lower()) or ["\x00"]:
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % size] += 1
    length = math.hypot(*vector)
    return [value / length for value in vector]


@cache
def large(megabytes: float) -> bytes:
    vector = base64.b64encode(bytes(round(megabytes * 1024**2 * 0.75) // 4 * 4)).decode()
    return json.dumps({"object": "list", "data": [{"index": 0, "embedding": vector}]}).encode()

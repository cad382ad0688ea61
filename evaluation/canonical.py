"""One spelling per value, and its hash: what freezing rests on."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any


def canonical_json(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys, no spaces and no escapes beyond JSON's own; NaN is refused."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def canonical_hash(value: Any) -> str:
    """sha256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def study_hash(spec_hashes: Iterable[str], items: Iterable[tuple[str, str]]) -> str:
    """The hash over the specs of all revisions and the (key, stimulus hash) of all items, sorted by key.

    One canonical JSON line each, so that a study of any size is hashed with flat memory.
    """
    digest = hashlib.sha256()
    for spec_hash in spec_hashes:
        digest.update(canonical_json(["spec", spec_hash]) + b"\n")
    for key, stimulus_hash in items:
        digest.update(canonical_json(["item", key, stimulus_hash]) + b"\n")
    return digest.hexdigest()

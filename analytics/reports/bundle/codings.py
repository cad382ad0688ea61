"""Codes of queries and texts in a bundle: the models that gave them are asked in no study that is opened from it."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from jsonschema import Draft202012Validator

from evaluation.canonical import canonical_hash
from evaluation.extension import CodedText, Coding
from evaluation.private_words import PrivateWords
from evaluation.refusals import Refused

CODES = "codes.json"
TEXTS = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["key", "title", "by", "lists", "rows"],
        "additionalProperties": False,
        "properties": {
            "key": {"type": "string"},
            "title": {"type": "string"},
            "by": {"type": "string"},
            "lists": {"type": "object", "minProperties": 1, "additionalProperties": {**TEXTS, "minItems": 1}},
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["query", "system", "codes"],
                    "additionalProperties": False,
                    "properties": {
                        "query": {"type": "string"},
                        "system": {"type": "string"},
                        "codes": {"type": "object", "additionalProperties": TEXTS},
                    },
                },
            },
        },
    },
}


def write_codings(codings: Iterable[Coding], private: PrivateWords) -> Iterator[bytes]:
    record = [
        {
            "key": coding.key,
            "title": coding.title,
            "by": coding.by,
            "lists": {name: list(codes) for name, codes in coding.lists.items()},
            "rows": [
                {
                    "query": row.query,
                    "system": row.system,
                    "codes": {k: list(v) for k, v in row.codes.items()},
                }
                for row in coding.rows()
            ],
        }
        for coding in codings
    ]
    yield orjson.dumps(
        private.blacked_out_json(record), option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_INDENT_2
    )


def read_codings(record: Any) -> list[Coding]:
    """Refused with the first problem and its place."""
    problem = next(iter(Draft202012Validator(SCHEMA).iter_errors(record)), None)
    if problem is not None:
        raise Refused(f"{CODES}: {problem.json_path}: {problem.message}.")
    return [
        Coding(
            key=each["key"],
            title=each["title"],
            by=each["by"],
            lists=each["lists"],
            stamp=canonical_hash(each),
            rows=lambda rows=each["rows"]: [CodedText(**row) for row in rows],  # type: ignore[misc]
        )
        for each in record
    ]

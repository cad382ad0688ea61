"""The dump format's JSON Schemas: data beside this module, published with the docs and checked here."""

import json
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

FOLDER = Path(__file__).resolve().parent / "schema"
# More faults than this in one line help nobody to mend it.
MAX_PER_LINE = 20


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema of that name: `study` (line 1) or `item` (every further line)."""
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return schema


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = load_schema(name)
    return Draft202012Validator(_inlined(schema, schema["$defs"]))


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """The schema without references, which are looked up anew for every value: a third of the time."""
    if isinstance(schema, list):
        return [_inlined(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    return {key: _inlined(value, definitions) for key, value in schema.items() if key != "$defs"}


def schema_problems(name: str, value: Any) -> list[str]:
    """Where the value departs from the schema, a sentence each."""
    return [_sentence(error) for error in islice(_validator(name).iter_errors(value), MAX_PER_LINE)]


def _sentence(error: ValidationError) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return f"{path.lstrip('.')}: {error.message}" if path else error.message

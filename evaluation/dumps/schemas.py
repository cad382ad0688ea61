"""The dump format's JSON Schemas: data beside this module, published with the docs and checked here."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from evaluation.protocols.kinds import KINDS

FOLDER = Path(__file__).resolve().parent / "schema"
# More faults than this in one line help nobody to mend it.
MAX_PER_LINE = 20


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema of that name: `study` (line 1), `item` (every further line) or `revision` (parts of line 1)."""
    if name == "revision":
        return _revision_schema()
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return schema


def _revision_schema() -> dict[str, Any]:
    """The study's line without what it must hold: a spec of which only what changes is there."""
    schema = deepcopy(load_schema("study"))
    definitions, properties = schema["$defs"], schema["properties"]
    del definitions["spec"]["required"]
    definitions["question"]["required"] = ["key"]
    parts = {name: properties[name] for name in ("assay", "spec")}
    return schema | {"required": ["spec"], "properties": parts, "title": "A revision of a running study"}


@cache
def _validator(name: str, kinds: tuple[str, ...]) -> Any:
    """The schema's validator, with the kinds of question that are registered, which the file lists for its readers."""
    schema = deepcopy(load_schema(name))
    if "question" in schema["$defs"]:
        schema["$defs"]["question"]["properties"]["kind"]["enum"] = list(kinds)
    return DumpValidator(_inlined(schema, schema["$defs"]))


# Types whose values are judged by a few comparisons; bool is no number here, as in JSON.
PLAIN: dict[str, type] = {"string": str, "integer": int, "boolean": bool, "object": dict}
PLAIN_KEYWORDS = {"type", "minLength", "maxLength", "minimum", "maximum"}


def _plainly_valid(schema: Any, value: Any) -> bool:
    """True if the value fits beyond doubt; False says nothing, the validator decides.

    Most values are short texts and numbers, and each descent of the validator costs more than these comparisons.
    """
    if "enum" in schema:
        return len(schema) == 1 and type(value) is str and value in schema["enum"]
    kind = schema.get("type")
    if not isinstance(kind, str) or type(value) is not PLAIN.get(kind):
        return False
    if not schema.keys() <= PLAIN_KEYWORDS:
        return False
    if isinstance(value, str):
        return bool(schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)))
    if isinstance(value, int):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    return True


def _properties(
    validator: Any, properties: dict[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for name, value in instance.items():
        if name in properties and not _plainly_valid(properties[name], value):
            yield from validator.descend(value, properties[name], path=name, schema_path=name)


def _items(validator: Any, items: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, list):
        return
    for index, value in enumerate(instance):
        if not _plainly_valid(items, value):
            yield from validator.descend(value, items, path=index)


# The draft's own validator, with these two keywords sparing it the plain values.
DumpValidator: Any = validators.extend(  # type: ignore[no-untyped-call]  # the stubs leave it open
    Draft202012Validator, {"properties": _properties, "items": _items}
)


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
    """A sentence for each place where the value departs from the schema."""
    return [
        _sentence(error) for error in islice(_validator(name, tuple(KINDS)).iter_errors(value), MAX_PER_LINE)
    ]


def _sentence(error: ValidationError) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    message, unwanted = error.message, cast("dict[str, list[str]]", error.validator_value)
    if error.validator == "not" and set(unwanted) == {"required"}:
        # Its own message quotes all of the value.
        message = f"{' and '.join(map(repr, unwanted['required']))} can't stand beside the others"
    return f"{path.lstrip('.')}: {message}" if path else message

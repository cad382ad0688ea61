"""JSON schemas made from types: of a figure's record, the dataclass that it is, and of documents, typed dicts."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np

from analytics.figures.families import TestedRecord
from analytics.statistics.core.estimates import Estimate, LeftOut
from analytics.statistics.core.randomization import Tested

Schema = dict[str, Any]
# What every document has a definition of; that of a test has its correction, too.
SHARED: Mapping[Any, str] = {Estimate: "estimate", LeftOut: "left_out", Tested: "test", TestedRecord: "test"}
SIMPLE: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def record_schema(record: type) -> Schema:
    """The schema of a dataclass as `plain` writes it, or of a typed dict.

    A `|` with None is a null, a tuple of one type and any other sequence a list, a mapping an object with any keys. Of
    what is Annotated, words are its description and a mapping is more of its schema. A field with a default may be left
    out of nothing: `plain` writes all of them; of a typed dict those that are NotRequired may. TypeError for what has
    no JSON.
    """
    about = " ".join((record.__doc__ or "").partition("\n\n")[0].split())
    hints = get_type_hints(record, include_extras=True)
    names = [field.name for field in fields(record)] if is_dataclass(record) else list(hints)
    optional = getattr(record, "__optional_keys__", ())
    return {
        "type": "object",
        "description": "" if about.startswith(f"{record.__name__}(") else about,
        "required": [name for name in names if name not in optional],
        "additionalProperties": False,
        "properties": {name: _schema_of(hints[name]) for name in names},
    }


def _schema_of(kind: Any) -> Schema:
    return _schema_of_class(kind) if isinstance(kind, type) else _schema_of_form(kind)


def _schema_of_class(kind: type) -> Schema:
    if kind in SHARED:
        return {"$ref": f"#/$defs/{SHARED[kind]}"}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if is_dataclass(kind) or is_typeddict(kind):
        return record_schema(kind)
    raise TypeError(f"A record has no JSON for {kind}.")


def _schema_of_form(kind: Any) -> Schema:
    """Of a type with others inside."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotated(inside[0], inside[1:])
    if origin is NotRequired:
        return _schema_of(inside[0])
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(each) for each in inside]}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is np.ndarray:
        return {"type": "array"}
    if origin is tuple and (len(inside) != 2 or inside[1] is not ...):
        return {"type": "array", "prefixItems": [_schema_of(each) for each in inside], "items": False}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema_of(inside[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema_of(inside[0])}
    raise TypeError(f"A record has no JSON for {kind}.")


def _annotated(kind: Any, notes: Sequence[Any]) -> Schema:
    # What `plain` writes is described by its dataclass.
    schema = _schema_of(notes[0] if isinstance(notes[0], type) else kind)
    for note in notes:
        if not isinstance(note, type):
            schema |= {"description": note} if isinstance(note, str) else note
    return schema

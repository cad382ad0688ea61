"""The shapes of products' contents, as JSON Schemas: what a form of fields may ask for each value.

A step declares those that a value alone does not tell (`PipelineStep.shapes`): what is kept as it is, which choices
there are, what an empty list would hold. All others are read off the values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Shape = Mapping[str, Any]

# Stays as it was made: the model that a product is of, or what its prompt was about.
KEPT: Shape = {"readOnly": True}
SHORT_TEXT: Shape = {"type": "string"}
LONG_TEXT: Shape = {"type": "string", "format": "textarea"}
WHOLE_NUMBER: Shape = {"type": "integer"}
NUMBER: Shape = {"type": "number"}
FLAG: Shape = {"type": "boolean"}
TEXTS: Shape = {"type": "array", "items": SHORT_TEXT}
WHOLE_NUMBERS: Shape = {"type": "array", "items": WHOLE_NUMBER}
# No other shape fits: JSON it is.
UNFORESEEN: Shape = {}


def choice_of(values: Sequence[str]) -> Shape:
    return {"enum": list(values)}


def choices_of(values: Sequence[str]) -> Shape:
    """Several of these."""
    return {"type": "array", "uniqueItems": True, "items": choice_of(values)}


def rows_of(properties: Mapping[str, Shape]) -> Shape:
    """A list of objects with these values."""
    return {"type": "array", "items": {"type": "object", "properties": dict(properties)}}


def content_shape(content: Mapping[str, Any], declared: Mapping[str, Shape]) -> Shape:
    """The shape of a whole content, which has what it has and what the step declares."""
    names = [*content, *(name for name, shape in declared.items() if name not in content and shape != KEPT)]
    return {"type": "object", "properties": {name: _of(name, content, declared) for name in names}}


def _of(name: str, content: Mapping[str, Any], declared: Mapping[str, Shape]) -> Shape:
    shape = declared.get(name)
    if shape is None:
        return shape_of(content[name])
    return shape if name not in content or fits(content[name], shape) else UNFORESEEN


def shape_of(value: Any) -> Shape:
    """The shape that can be read off a value."""
    match value:
        case bool():
            return FLAG
        case int():
            return WHOLE_NUMBER
        case float():
            return NUMBER
        case str():
            return SHORT_TEXT
        case dict() if value and not any("." in name for name in value):
            return {"type": "object", "properties": {name: shape_of(each) for name, each in value.items()}}
        case list() if value:
            shapes = [shape_of(each) for each in value]
            if all(each == shapes[0] for each in shapes) and shapes[0] != UNFORESEEN:
                return {"type": "array", "items": shapes[0]} if _can_be_listed(shapes[0]) else UNFORESEEN
    return UNFORESEEN


def _can_be_listed(shape: Shape) -> bool:
    return shape in (SHORT_TEXT, WHOLE_NUMBER) or (
        shape.get("type") == "object" and all(_is_simple(each) for each in shape["properties"].values())
    )


def _is_simple(shape: Shape) -> bool:
    return shape in (FLAG, WHOLE_NUMBER, NUMBER, SHORT_TEXT, TEXTS, WHOLE_NUMBERS)


def fits(value: Any, shape: Shape) -> bool:
    """True if fields of this shape can show the value without losing any of it."""
    if shape.get("readOnly") or shape == UNFORESEEN:
        return True
    if "enum" in shape:
        return isinstance(value, str)
    match shape["type"]:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list) and all(fits(each, shape["items"]) for each in value)
    known: Mapping[str, Shape] = shape["properties"]
    return isinstance(value, dict) and all(
        name in known and fits(each, known[name]) for name, each in value.items()
    )


def is_blank(value: Any) -> bool:
    """True for what a row that nobody filled in comes to."""
    if isinstance(value, dict):
        return all(is_blank(each) for each in value.values())
    return value is None or value is False or value == [] or (isinstance(value, str) and not value.strip())

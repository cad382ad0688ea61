"""The form in which a reply is asked for."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.protocols import QuestionSpec
from judging.prompting.cells import AnswerCell, cells_of
from judging.prompting.questions import wants_labels
from judging.prompting.settings import Settings
from judging.prompting.view import View
from judging.prompting.wording import ORIGINS_FIELD, listed

REASONS = "two or three sentences"


def capabilities_of(capabilities: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The capabilities of one model: an endpoint's are kept by model."""
    own = capabilities.get(model)
    return own if isinstance(own, Mapping) else capabilities


def form_of(questions: Sequence[QuestionSpec], settings: Settings, capabilities: Mapping[str, Any]) -> str:
    """The form that a reply is asked in: label, json_schema, json_object or lines."""
    if wants_labels(questions, settings):
        return "label"
    return next((name for name in ("json_schema", "json_object") if capabilities.get(name)), "lines")


def reply_schema(questions: Sequence[QuestionSpec], view: View, settings: Settings) -> dict[str, Any]:
    """The JSON schema of a reply: {"rationale": text, "answers": {question: value}}; the rationale where wanted."""
    answers: dict[str, Any] = {}
    for question in questions:
        for cell in cells_of(question, view):
            _put(answers, (question.key, *cell.path), _value_schema(cell))
    properties = {"answers": _object(answers)}
    reasons = {"rationale": {"type": "string"}}
    if settings.rationale == "before":
        properties = reasons | properties
    elif settings.rationale == "after":
        properties |= reasons
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _value_schema(cell: AnswerCell) -> dict[str, Any]:
    if cell.entries:
        return {
            "type": "array",
            "minItems": 1,
            "items": _object({name: ENTRY_FIELDS[name] for name in cell.entries}),
        }
    if cell.choices is None:
        return {"type": "string"}
    return {"type": "string", "enum": list(cell.choices)}


TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
QUOTED = {
    "type": "object",
    "properties": {"title": TEXT, "text": TEXT},
    "required": ["title", "text"],
    "additionalProperties": False,
}
ENTRY_FIELDS: dict[str, dict[str, Any]] = {
    "condition": TEXT,
    "answers": TEXTS,
    "citations": {"type": "array", "items": {"anyOf": [{"type": "integer"}, QUOTED]}},
    "reason": TEXT,
    ORIGINS_FIELD: TEXTS,
}


def _put(tree: dict[str, Any], path: tuple[str, ...], leaf: dict[str, Any]) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = leaf


def _object(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose properties are the tree's; a leaf is a schema already, with its type as a string."""
    if isinstance(tree.get("type"), str):
        return dict(tree)
    return {
        "type": "object",
        "properties": {name: _object(each) for name, each in tree.items()},
        "required": list(tree),
        "additionalProperties": False,
    }


def line_name(question: QuestionSpec, cell: AnswerCell) -> str:
    """The name at the start of a value's line, before the colon."""
    return ".".join((question.key, *cell.path))


def _form_lines(questions: Sequence[QuestionSpec], view: View) -> Iterator[str]:
    for question in questions:
        for cell in cells_of(question, view):
            yield f"{line_name(question, cell)}: <{_wanted(cell)}>"


def _wanted(cell: AnswerCell) -> str:
    """The placeholder after a line's name."""
    if cell.entries:
        return f"one line with a JSON list of objects, each with {', '.join(cell.entries)}"
    return "one line of text" if cell.choices is None else listed(cell.choices)


def reply_form(form: str, questions: Sequence[QuestionSpec], view: View, settings: Settings) -> str:
    if form == "label":
        return _label_form(questions[0], view, settings)
    if form == "lines":
        return _lines_form(questions, view, settings)
    schema = json.dumps(reply_schema(questions, view, settings))
    reasons = f" Your reasons go into rationale: {REASONS}." if settings.rationale != "none" else ""
    return (
        f"Reply with one JSON object of the following JSON schema and with nothing else.{reasons}\n\n{schema}"
    )


def _lines_form(questions: Sequence[QuestionSpec], view: View, settings: Settings) -> str:
    lines = "\n".join(_form_lines(questions, view))
    fill = "with what stands in <> replaced by one of the choices or by what it names"
    reasons = f"Rationale: <{REASONS}>"
    if settings.rationale == "before":
        how = f"Give your reasons first, then end with these lines, {fill}, and with nothing after them:"
        return f"{how}\n\n{reasons}\n{lines}"
    if settings.rationale == "after":
        return f"Begin with these lines, {fill}, then give your reasons:\n\n{lines}\n{reasons}"
    return f"Reply with these lines, {fill}, and with nothing else:\n\n{lines}"


def _label_form(question: QuestionSpec, view: View, settings: Settings) -> str:
    names = list(cells_of(question, view, as_labels=True)[0].choices or {})
    label = f"<{listed(names)}>"
    tie = f" ({names[-1]} stands for a tie)" if question.ties else ""
    what = f"one of the labels {listed(names)} alone{tie}"
    reasons = f"<{REASONS}>"
    if settings.rationale == "before":
        how = f"Give your reasons first, then end with a line that is {what}, and with nothing after it:"
        return f"{how}\n\n{reasons}\n{label}"
    if settings.rationale == "after":
        return f"Begin with a line that is {what}, then give your reasons:\n\n{label}\n{reasons}"
    return f"Reply with {what}: no other word, no punctuation.\n\n{label}"

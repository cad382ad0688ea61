"""The form in which a reply is asked for."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols import QuestionSpec
from judging.prompting.cells import AnswerCell, cells_of, line_name, named_cells
from judging.prompting.questions import wants_labels
from judging.prompting.settings import Settings
from judging.prompting.view import View
from judging.prompting.wording import ORIGINS_FIELD, label_meaning, listed

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


def reply_schema(cells: Sequence[AnswerCell], settings: Settings) -> dict[str, Any]:
    """The JSON schema of a reply: {"rationale": text, "answers": {question: value}}; the rationale where wanted."""
    answers: dict[str, Any] = {}
    for cell in cells:
        _put(answers, cell.path, _value_schema(cell))
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


def _wanted(cell: AnswerCell) -> str:
    """The placeholder after a line's name."""
    if cell.entries:
        return f"one line with a JSON list of objects, each with {', '.join(cell.entries)}"
    return "one line of text" if cell.choices is None else listed(cell.choices)


def reply_form(form: str, questions: Sequence[QuestionSpec], view: View, settings: Settings) -> str:
    if form == "label":
        names = list(cells_of(questions[0], view, as_labels=True)[0].choices or {})
        return label_form(names, settings, label_meaning(questions[0]))
    return values_form(form, named_cells(questions, view), settings)


def values_form(form: str, cells: Sequence[AnswerCell], settings: Settings) -> str:
    """The form of a reply that has the values of these cells: json_schema, json_object or lines."""
    if form == "lines":
        return _lines_form(cells, settings)
    schema = json.dumps(reply_schema(cells, settings))
    reasons = f" Your reasons go into rationale: {REASONS}." if settings.rationale != "none" else ""
    return (
        f"Reply with one JSON object of the following JSON schema and with nothing else.{reasons}\n\n{schema}"
    )


def _lines_form(cells: Sequence[AnswerCell], settings: Settings) -> str:
    lines = "\n".join(f"{line_name(cell)}: <{_wanted(cell)}>" for cell in cells)
    fill = "with what stands in <> replaced by one of the choices or by what it names"
    reasons = f"Rationale: <{REASONS}>"
    if settings.rationale == "before":
        how = f"Give your reasons first, then end with these lines, {fill}, and with nothing after them:"
        return f"{how}\n\n{reasons}\n{lines}"
    if settings.rationale == "after":
        return f"Begin with these lines, {fill}, then give your reasons:\n\n{lines}\n{reasons}"
    return f"Reply with these lines, {fill}, and with nothing else:\n\n{lines}"


def label_form(names: Sequence[str], settings: Settings, meaning: str = "") -> str:
    """The form of a reply that is one of these labels, with a clause on what some of them mean."""
    label = f"<{listed(names)}>"
    what = f"one of the labels {listed(names)} alone{f' ({meaning})' if meaning else ''}"
    reasons = f"<{REASONS}>"
    if settings.rationale == "before":
        how = f"Give your reasons first, then end with a line that is {what}, and with nothing after it:"
        return f"{how}\n\n{reasons}\n{label}"
    if settings.rationale == "after":
        return f"Begin with a line that is {what}, then give your reasons:\n\n{label}\n{reasons}"
    return f"Reply with {what}: no other word, no punctuation.\n\n{label}"


# --- replies written out ----------------------------------------------------------------------------------------------

# Cells, their paths beginning with the question, and what a reply says of them.
Said = Sequence[tuple[AnswerCell, Any]]


def written_reply(form: str, said: Said, settings: Settings, reasons: str) -> str:
    """A reply in that form that says these values, with these reasons where some are wanted."""
    if form == "label":
        return written_label(str(said[0][1]), settings, reasons)
    return _lines(said, settings, reasons) if form == "lines" else _json(said, settings, reasons)


def written_label(label: str, settings: Settings, reasons: str) -> str:
    return _with_reasons(label, settings, reasons) if settings.rationale != "none" else label


def _json(said: Said, settings: Settings, reasons: str) -> str:
    answers: dict[str, Any] = {}
    for cell, value in said:
        inside = answers
        for name in cell.path[:-1]:
            inside = inside.setdefault(name, {})
        inside[cell.path[-1]] = value
    reply = {
        "before": {"rationale": reasons, "answers": answers},
        "after": {"answers": answers, "rationale": reasons},
    }.get(settings.rationale, {"answers": answers})
    return json.dumps(reply, ensure_ascii=False)


def _lines(said: Said, settings: Settings, reasons: str) -> str:
    lines = "\n".join(
        f"{line_name(cell)}: {json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value}"
        for cell, value in said
    )
    return _with_reasons(lines, settings, f"Rationale: {reasons}") if settings.rationale != "none" else lines


def _with_reasons(verdict: str, settings: Settings, reasons: str) -> str:
    return f"{reasons}\n{verdict}" if settings.rationale == "before" else f"{verdict}\n{reasons}"

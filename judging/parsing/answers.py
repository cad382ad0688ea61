"""Answers in words: the value of every cell, whether the reply is JSON or lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols import QuestionSpec
from evaluation.storable import storable
from judging.backends.base import Reply
from judging.parsing.entries import read_entries
from judging.parsing.json_values import Values, values_from_json
from judging.parsing.line_values import values_from_lines
from judging.parsing.rejection import reject, require_complete
from judging.prompting import AnswerCell, Settings, View, cells_of


def read_answers(
    questions: Sequence[QuestionSpec], view: View, settings: Settings, reply: Reply
) -> tuple[dict[str, Any], str]:
    """Read data and rationale.

    A reply that was cut short is truncated even if a verdict stands in it: what is missing might have taken it back,
    and lines that come first would always survive.
    """
    require_complete(reply)
    text = storable(reply.text).strip()
    if not text:
        reject("The reply is empty.")
    cells = {
        (question.key, *cell.path): (question, cell)
        for question in questions
        for cell in cells_of(question, view)
    }
    if text.startswith(("{", "```")):
        lists = {path for path, (_, cell) in cells.items() if cell.entries}
        values, rationale = values_from_json(text, settings, lists)
    else:
        values, rationale = values_from_lines(text, questions, view, settings)
    if values.keys() != cells.keys():
        reject(_difference(values, cells))
    return _canonical_data(values, cells, view), rationale


def _difference(values: Values, cells: Mapping[tuple[str, ...], Any]) -> str:
    missing = [".".join(path) for path in cells if path not in values]
    unknown = [".".join(path) for path in values if path not in cells]
    parts = [("missing", missing), ("not asked for", unknown)]
    return "; ".join(f"{what}: {', '.join(names)[:200]}" for what, names in parts if names)


def _canonical_data(
    values: Values, cells: Mapping[tuple[str, ...], tuple[QuestionSpec, AnswerCell]], view: View
) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for path, (question, cell) in cells.items():
        name, said = ".".join(path), values[path]
        value = read_entries(name, cell, view, said) if cell.entries else _value(name, cell, said)
        if cell.part:
            data.setdefault(question.key, {})[cell.part] = value
        else:
            data[question.key] = value
    return data


def _value(name: str, cell: AnswerCell, said: str) -> Any:
    if cell.choices is None:
        return said
    choice = said.strip()
    if choice in cell.choices:
        return cell.choices[choice]
    alike = [value for known, value in cell.choices.items() if known.casefold() == choice.casefold()]
    if len(alike) == 1:  # a study's own choices may differ in case alone
        return alike[0]
    return reject(f"{name}: {said[:80]!r} is none of {', '.join(cell.choices)}.")

"""Answers in words: the value of every cell, whether the reply is JSON or lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols import QuestionSpec
from judging.backends.base import Reply
from judging.parsing.entries import read_entries
from judging.parsing.json_values import FENCE, Values, json_decoder, values_from_json
from judging.parsing.line_values import has_lines, values_from_lines
from judging.parsing.rejection import reject, require_complete
from judging.parsing.wrappers import MARKUP, object_in, said_in
from judging.prompting.cells import AnswerCell, line_name, named_cells
from judging.prompting.settings import Settings
from judging.prompting.view import View


def read_answers(
    questions: Sequence[QuestionSpec], view: View, settings: Settings, reply: Reply
) -> tuple[dict[str, Any], str]:
    """Read data and rationale."""
    cells = named_cells(questions, view)
    values, rationale = read_cells(cells, view, settings, reply)
    data: dict[str, Any] = {}
    for cell in cells:
        value = values[cell.path]
        if cell.part:
            data.setdefault(cell.path[0], {})[cell.part] = value
        else:
            data[cell.path[0]] = value
    return data, rationale


def read_cells(
    cells: Sequence[AnswerCell], view: View, settings: Settings, reply: Reply
) -> tuple[dict[tuple[str, ...], Any], str]:
    """Read the value of each cell, by its path, and the rationale.

    A reply that was cut short is truncated even if a verdict stands in it: what is missing might have taken it back,
    and lines that come first would always survive.
    """
    require_complete(reply)
    text = said_in(reply)
    if not text:
        reject("The reply is empty.")
    by_path = {cell.path: cell for cell in cells}
    lists = {cell.path for cell in cells if cell.entries}
    if FENCE.fullmatch(text):
        values, rationale = values_from_json(text, settings, lists)
    elif not has_lines(text, cells) and (inside := object_in(text, "answers", json_decoder())) is not None:
        values, rationale = values_from_json(inside, settings, lists)
    elif text.startswith(("{", "```")):
        values, rationale = values_from_json(text, settings, lists)
    else:
        values, rationale = values_from_lines(text, cells, settings)
        if object_in(rationale, "answers", json_decoder()) is not None:
            reject("The reply has its answers in lines and as JSON.")
    if values.keys() != by_path.keys():
        reject(_difference(values, by_path))
    return {path: _value(cell, view, values[path]) for path, cell in by_path.items()}, rationale


def _difference(values: Values, cells: Mapping[tuple[str, ...], Any]) -> str:
    missing = [".".join(path) for path in cells if path not in values]
    unknown = [".".join(path) for path in values if path not in cells]
    parts = [("missing", missing), ("not asked for", unknown)]
    return "; ".join(f"{what}: {', '.join(names)[:200]}" for what, names in parts if names)


def _value(cell: AnswerCell, view: View, said: str) -> Any:
    name = line_name(cell)
    if cell.entries:
        return read_entries(name, cell, view, said)
    if cell.choices is None:
        return said
    choice = said.strip(MARKUP)
    if choice in cell.choices:
        return cell.choices[choice]
    alike = [value for known, value in cell.choices.items() if known.casefold() == choice.casefold()]
    if len(alike) == 1:  # a study's own choices may differ in case alone
        return alike[0]
    return reject(f"{name}: {said[:80]!r} is none of {', '.join(cell.choices)}.")

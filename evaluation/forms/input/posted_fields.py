"""Reading of a posted form or a draft."""

from collections.abc import Mapping
from typing import Any

from evaluation.forms.input.screen_record import SCREEN
from evaluation.protocols.answers.trace import Trace, read_moves
from evaluation.protocols.requirements.questions import RESERVED

# Fields of the form that are not answers; what stands before their dot is reserved.
VISIBLE_MS = "visible_ms"
PROBLEM_NOTE = "problem_note"
# `trace.<question>`: a ranking's moves, what was pasted into a text; the page's scripts write it.
TRACE = "trace"
# What a model is asked to do with the entries.
INSTRUCTION = "round.instruction"
# Of the button that shows what is filled in once more without handing it in, for those without scripts.
LOOK = "round.look"
# The names of the fields that had something in them on the page that sends, with spaces between: one that is empty now
# was emptied on purpose. No question's key is spelt like it.
HELD = "~held"


def read_fields(fields: Mapping[str, str]) -> dict[str, Any]:
    """The answers in a posted form or a draft: {question: value}, {question: {part: value}} for names with a dot."""
    data: dict[str, Any] = {}
    for name, value in fields.items():
        key, dot, part = name.partition(".")
        if key in RESERVED or key in (HELD, SCREEN):
            continue
        if not dot:
            data[key] = value
        elif isinstance(cells := data.setdefault(key, {}), dict):
            cells[part] = value
    return data


def read_trace(fields: Mapping[str, str]) -> Trace:
    """The moves that the page recorded, by question; malformed ones are dropped silently."""
    read = {
        name.partition(".")[2]: read_moves(value)
        for name, value in fields.items()
        if name.startswith(f"{TRACE}.")
    }
    return {key: moves for key, moves in read.items() if key and moves}


def read_visible_ms(fields: Mapping[str, str]) -> int | None:
    """The time in view that the browser counted; None where it did not, or the value makes no sense."""
    value = fields.get(VISIBLE_MS, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 12 else None

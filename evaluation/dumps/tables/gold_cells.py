"""Cells of an item's role, and of its gold: which response is the right one, or every right answer as JSON."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.sheet import as_text
from evaluation.protocols import Kind, Protocol
from evaluation.protocols.base import BOTH_BAD, TIE

# Words of tables by the roles that they mean.
ROLES = {
    "": "main",
    "main": "main",
    "training": "training",
    "practice": "training",
    "qualification": "qualification",
    "attention": "attention",
    "attention check": "attention",
}
# Words of tables for what prefers no response; "tie (bothbad)" is the Chatbot Arena's.
TIE_WORDS: dict[str, str] = {
    **dict.fromkeys(("tie", "tied", "draw", "equal", "both", "same", "the same", "about the same"), TIE),
    **dict.fromkeys(
        ("no preference", "both good", "both are good", "equally good", "empate", "pareggio"), TIE
    ),
    **dict.fromkeys(("gleich", "unentschieden", "beide", "beide gut", "gleich gut"), TIE),
    **dict.fromkeys(
        ("both_bad", "both bad", "bothbad", "tie (bothbad)", "both are bad", "beide schlecht"), BOTH_BAD
    ),
}
SEVERAL_RIGHT = re.compile(r"\s*[|/]\s*")


def read_role(text: str) -> str | None:
    """The role that the word means; None for a word that means none."""
    return ROLES.get(" ".join(text.casefold().replace("_", " ").split()))


def names_of_parts(systems: Sequence[str], columns: Sequence[str] = ()) -> dict[str, str]:
    """Names that a table may use for an item's responses, with their parts: the system's, the column's, and A, B or
    1, 2 in the order of the table. Parts are in canonical order, which goes by the systems."""
    order = sorted(range(len(systems)), key=lambda at: systems[at])
    parts = {at: f"r{place}" for place, at in enumerate(order, 1)}
    return {name: parts[at] for name, at in names_of_responses(systems, columns).items()}


def names_of_responses(systems: Sequence[str], columns: Sequence[str] = ()) -> dict[str, int]:
    """The same names with the response's place in the table's order, from 0."""
    names: dict[str, int] = {}
    for given in (systems, columns, *_positions(len(systems))):
        for at, name in enumerate(given):
            names.setdefault(name.casefold(), at)
    return names


def _positions(n: int) -> tuple[list[str], ...]:
    numbers, letters = [str(at + 1) for at in range(n)], [chr(ord("a") + at) for at in range(n)]
    return (
        numbers,
        letters,
        [f"response {each}" for each in numbers],
        [f"response {each}" for each in letters],
        [f"model_{each}" for each in letters],
    )


def read_gold(cell: Any, protocol: Protocol, names: Mapping[str, str]) -> dict[str, Any] | str:
    """The gold in the cell, or a sentence's end that says why there is none."""
    found = structure_of(cell)
    if isinstance(found, dict):
        return found
    text = as_text(cell)
    questions = [each.key for each in protocol.default_questions() if each.kind == Kind.PREFERENCE]
    if len(questions) != 1:
        return f"is {text[:60]!r}; gold of {protocol.label!r} has to be JSON, an answer by question"
    labels = [_label(each, names) for each in split_right(text)]
    if None in labels:
        systems = [repr(name) for name in names][: len({*names.values()})]
        return f"is {text[:60]!r}, which names no response of the item. Say {', '.join(systems)} or 'tie'"
    return {questions[0]: labels}


def says_both_bad(cell: Any) -> bool:
    return any(TIE_WORDS.get(name) == BOTH_BAD for name in split_right(as_text(cell)))


def split_right(text: str) -> list[str]:
    """Each of the answers that are right, in lower case."""
    return [each.strip() for each in SEVERAL_RIGHT.split(text.casefold())]


def _label(name: str, names: Mapping[str, str]) -> str | None:
    return names.get(name) or TIE_WORDS.get(name)

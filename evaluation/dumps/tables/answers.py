"""Answers in another tool's form: the question that holds a preference, the one that holds a reason."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole, judged_by_name
from evaluation.dumps.tables.gold_cells import TIE_WORDS
from evaluation.dumps.tables.judgments.cells import response_names, whose_column
from evaluation.dumps.tables.sheet import Sheet, as_name, is_empty
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.turns import LOOK_AT

SIDES = {
    **dict.fromkeys(("a", "left", "model_a", "response_a", "response a", "option a", "answer a"), "A"),
    **dict.fromkeys(("b", "right", "model_b", "response_b", "response b", "option b", "answer b"), "B"),
    **dict.fromkeys(("response_1", "response 1", "response1", "option 1", "answer 1", "answer1"), "A"),
    **dict.fromkeys(("response_2", "response 2", "response2", "option 2", "answer 2", "answer2"), "B"),
}
NUMBERS = {"1": "A", "2": "B"}
# Of a question whose answers are 1 and 2, which may be a score.
ASKS_PREFERENCE = re.compile(r"prefer|winner|better|best|choice|vote", re.IGNORECASE)
# A few answers that can't be read are mistakes, which are named with their rows.
MOSTLY = 0.8
NO_REASON = re.compile(r"^(?:id|ip|.*e-?mail.*|.*address.*|.*name.*)$", re.IGNORECASE)


def roles_of_answers(
    answers: Sequence[Mapping[str, Any]], shown: Sheet, material: TableMap
) -> dict[str, ColumnRole]:
    """The role of each question by what was answered in the first forms; one preference and one reason at most.

    `shown` is the table of what the forms show, with its map. Questions of no role are left out.
    """
    responses = material.named(ColumnRole.RESPONSE)
    systems = [use.column for use in material.named(ColumnRole.SYSTEM)]
    known = {use.system.casefold() for use in responses}
    known |= {as_name(cell).casefold() for column in systems for cell in shown.values(column)}
    names = response_names(shown, material)
    found: dict[str, ColumnRole] = {}
    answers = answers[:LOOK_AT]
    for name in dict.fromkeys(name for each in answers for name in each):
        values = [each[name] for each in answers if not is_empty(each.get(name))]
        texts = [as_name(each) for each in values]
        if not texts:
            continue
        preferences = [each for each in texts if is_preference(each, name, known)]
        if len(preferences) >= MOSTLY * len(texts):
            role = ColumnRole.WINNER
        elif all(map(_is_number, texts)):
            family, whose = whose_column(ColumnUse(name, ColumnRole.SCORE), names)
            if judged_by_name(family) == ColumnRole.SCORE and (whose or len(responses) == 1):
                found[name] = ColumnRole.SCORE
            continue
        elif not any(map(_is_number, texts)) and not NO_REASON.match(name):
            role = ColumnRole.REASON
        else:
            continue
        if role not in found.values():
            found[name] = role
    return found


def columns_for(roles: Iterable[str], shown: Sheet) -> dict[str, str]:
    """A column for each of the questions, by its own name where what is shown has none of that name."""
    return {name: f"{name} (answer)" if name in shown.columns else name for name in roles}


def cells_of(
    answers: Mapping[str, Any], roles: Mapping[str, ColumnRole], columns: Mapping[str, str]
) -> dict[str, Any]:
    """The answers of those roles by the columns that they get, a preference as the side that is preferred."""
    return {
        columns[name]: preferred(answers.get(name), name) if role == ColumnRole.WINNER else answers.get(name)
        for name, role in roles.items()
    }


def preferred(value: Any, name: str = "") -> str:
    """The answer as the side that it prefers, A or B, where it says one; otherwise as it was given."""
    text = as_name(value)
    plain = text.casefold()
    if plain in NUMBERS and ASKS_PREFERENCE.search(name):
        return NUMBERS[plain]
    return SIDES.get(plain, text)


def is_preference(text: str, name: str = "", systems: Collection[str] = ()) -> bool:
    """True where the text prefers one of two responses or neither; numbers do so where the question asks for it."""
    plain = text.strip().casefold()
    return (
        plain in SIDES
        or plain in TIE_WORDS
        or plain in systems
        or (plain in NUMBERS and bool(ASKS_PREFERENCE.search(name)))
    )


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+]?\d+(?:\.\d+)?", text))

"""Cells of votes: the response that one names, numbers and times; and the response that a column is of."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from evaluation.dumps.tables.cells import read_responses
from evaluation.dumps.tables.column_names import OF_RESPONSES, ColumnRole, plain_name, split_whose
from evaluation.dumps.tables.gold_cells import names_of_responses
from evaluation.dumps.tables.sheet import Sheet, as_name, is_empty
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap

# Sides of a pair, in the order that the rater saw; without a column of it in that of the table.
FIRST, SECOND = {"left", "first", "links", "erste"}, {"right", "second", "rechts", "zweite"}
OF_SIDES = OF_RESPONSES | {"assistant", "option", "side", "conversation", "text"}
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
# "Thu Jan 02 10:00:00 PST 2025", as Mechanical Turk writes times; what its zones are is not said.
WRITTEN_TIME = re.compile(r"\w{3} (\w{3}) (\d{1,2}) [\d:]+ \w+ (\d{4})")
# Seconds and milliseconds since 1970, from 2001 to 2096.
EPOCH = ((1e9, 4e9, 1), (1e12, 4e12, 1000))


def response_names(sheet: Sheet, table_map: TableMap) -> set[str]:
    """Every name that a column may have for a response, as `plain_name` writes it."""
    if table_map.per == PER_RESPONSE:
        return set()
    columns = table_map.named(ColumnRole.RESPONSE)
    systems = [use.system or use.column for use in columns]
    names = {*names_of_responses(systems, [use.column for use in columns])}
    for use in table_map.named(ColumnRole.RESPONSES):
        for cell in sheet.values(use.column):
            names |= {*names_of_responses([system for system, _ in read_responses(cell) or ()])}
    for use in table_map.named(ColumnRole.SYSTEM):
        names |= {as_name(each) for each in sheet.values(use.column)}
    return {plain for name in names if (plain := plain_name(name))}


@lru_cache(1024)
def places_of(systems: tuple[str, ...], columns: tuple[str, ...]) -> Mapping[str, int]:
    """The places of responses by all names that cells may have for them, also as `plain_name` writes these."""
    names = names_of_responses(systems, columns)
    return names | {plain_name(name): at for name, at in names.items() if plain_name(name) not in names}


def whose_column(use: ColumnUse, names: set[str]) -> tuple[str, str]:
    """The name of what the column says, and the response that it says it of; empty where it does not tell."""
    given = plain_name(use.system)
    family, whose = split_whose(use.column, {given} if given else names)
    return family, given or whose


def read_side(text: str, places: Mapping[str, int], n: int, shown: Sequence[int]) -> int | None:
    """The place of the response that the text names; `shown` is the order in which a rater saw them."""
    number = read_number(text)
    plain = plain_name(text) if number is None else str(number)
    words = plain.split()
    for name in (
        text.casefold(),
        plain,
        " ".join(words[1:]) if words[:1] and words[0] in OF_SIDES else plain,
    ):
        if name in places:
            return places[name]
    if n == 2:
        order = shown or (0, 1)
        side = {words[0]} if words[1:] in ([], ["response"], ["answer"]) and words else set()
        return order[0] if side & FIRST else order[1] if side & SECOND else None
    return None


def side_of_column(column: str) -> int:
    """0 for a column of what stood left, 1 right, -1 if its name does not say."""
    words = {*plain_name(column).split()}
    return 0 if words & FIRST else 1 if words & SECOND else -1


def read_number(cell: Any) -> float | None:
    """The number in the cell; None if there is none."""
    if isinstance(cell, bool) or is_empty(cell):
        return None
    if isinstance(cell, int | float):
        return cell if math.isfinite(cell) else None
    text = as_name(cell)
    number = float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None
    return int(number) if number is not None and number.is_integer() else number


def read_time(cell: Any) -> dict[str, str] | None:
    """The moment or, where its zone is not known, the day, as a judgment has it; None if it is neither."""
    if is_empty(cell):
        return {}
    found: datetime | date | None = cell if isinstance(cell, date) else None
    number = read_number(cell)
    for low, high, scale in EPOCH:
        if number is not None and low <= number <= high:
            found = datetime.fromtimestamp(number / scale, UTC)
    if found is None and number is None:
        found = _written_time(as_name(cell))
    if isinstance(found, datetime) and found.tzinfo is not None:
        return {"judged_at": found.isoformat()}
    return None if found is None else {"day": found.strftime("%Y-%m-%d")}


def _written_time(text: str) -> datetime | None:
    match = WRITTEN_TIME.fullmatch(text)
    try:
        if match:
            return datetime.strptime(" ".join(match.groups()), "%b %d %Y")
        return datetime.fromisoformat(text)
    except ValueError:
        return None

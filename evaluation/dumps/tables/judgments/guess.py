"""Judgments among a table's columns: told by their names, and by what stands in them beside the items."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from evaluation.dumps.tables.column_names import (
    JUDGED_NAMES,
    ColumnRole,
    asks_for_a_choice,
    asks_for_the_worse,
    compared_by_name,
    is_of_models,
    judged_by_name,
    plain_name,
)
from evaluation.dumps.tables.gold_cells import TIE_WORDS
from evaluation.dumps.tables.judgments.cells import (
    read_number,
    read_side,
    read_time,
    response_names,
    whose_column,
)
from evaluation.dumps.tables.judgments.reader import KINDS, NO, YES
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import JUDGES, PEOPLE, PER_RESPONSE, VOTES, ColumnUse, TableMap

# A few cells that can't be read are mistakes, to be named; of more the column is something else.
MOSTLY = 0.8
LONGEST_NAME = 60
MOST_LABELS = 30
OF_ANYTHING = {"label", "verdict", "judgment", "judgement", "decision", "vote"}
# How names of models that judge begin, or what stands in them.
MODEL_NAME = re.compile(
    r"(?:.*[\W_])?(?:gpt|chatgpt|claude|llama|gemini|gemma|mi[sx]tral|mixtral|qwen|deepseek|palm|phi|grok|command|"
    r"prometheus|o[1345])(?:[\W_\d].*)?",
    re.IGNORECASE,
)
Votes = dict[str, ColumnUse]


def guess_judgments(sheet: Sheet, items: TableMap, columns: Sequence[str]) -> Votes:
    """The use of those of the columns that hold judgments of the items; none where no column is a vote."""
    columns = sorted(columns, key=lambda column: _priority(plain_name(column)))
    raters = [
        column
        for column in columns
        if judged_by_name(column) == ColumnRole.RATER and _are_names(sheet, column)
    ]
    votes: Votes = {}
    for column in columns:
        use = _vote(sheet, items, column, is_judged=bool(raters or votes))
        if use is not None and (
            use.role != ColumnRole.WINNER
            or compared_by_name(column)
            or all(each.role != use.role or compared_by_name(each.column) for each in votes.values())
        ):
            votes[column] = use
    if not votes:
        return {}
    for column in [*raters, *columns]:
        role = judged_by_name(column)
        taken = {each.role for each in votes.values()}
        if role is not None and role not in (*VOTES, *taken) and _fits(sheet, items, column, role):
            votes[column] = ColumnUse(column, role)
    return votes


def guess_raters(sheet: Sheet, uses: Iterable[ColumnUse]) -> str:
    """People or judges, by the name of the column that says it and by the names in it."""
    for use in uses:
        if use.role == ColumnRole.RATER:
            names = {as_name(each) for each in sheet.values(use.column)}
            models = sum(bool(MODEL_NAME.fullmatch(each)) for each in names)
            return JUDGES if is_of_models(use.column) or 2 * models > len(names) else PEOPLE
    return PEOPLE


def _priority(name: str) -> int:
    """The place of the name among those that are known, the plainest first."""
    known = [*JUDGED_NAMES]
    return known.index(name) if name in known else len(known)


def _vote(sheet: Sheet, items: TableMap, column: str, *, is_judged: bool) -> ColumnUse | None:
    """The column as a vote, if its cells are votes. Scores and labels may be anything's, unless `is_judged`: a rater
    or a winner stands beside them."""
    values = sheet.values(column)
    responses = items.named(ColumnRole.RESPONSE)
    if not values or not (responses or items.named(ColumnRole.RESPONSES)):
        return None
    role = ColumnRole.WINNER if compared_by_name(column) else judged_by_name(column)
    if (
        role is None
        and _asks_for_the_better(column)
        and names_in_words(sheet, items, column)
        and (items.per != PER_RESPONSE or _picks_one(sheet, items, column))
    ):
        return ColumnUse(column, ColumnRole.WINNER)
    if role == ColumnRole.WINNER:
        if names_responses(sheet, items, column):
            return ColumnUse(column, role)
        return ColumnUse(column, ColumnRole.LABEL) if is_judged and _are_labels(values) else None
    if not _are_numbers(values):
        return None
    whose = whose_column(ColumnUse(column, ColumnRole.SCORE), response_names(sheet, items))
    family = whose[0] if whose[1] else column
    role = judged_by_name(family)
    if role not in (ColumnRole.SCORE, ColumnRole.RANK) or (role == ColumnRole.SCORE and not is_judged):
        return None
    if not whose[1] and items.per != PER_RESPONSE and (len(responses) != 1 or role == ColumnRole.RANK):
        return None
    system = next((each.system for each in responses if plain_name(each.system) == whose[1] != ""), "")
    return ColumnUse(column, role, system)


def _asks_for_the_better(name: str) -> bool:
    return asks_for_a_choice(name) and not asks_for_the_worse(name)


def names_responses(sheet: Sheet, items: TableMap, column: str) -> bool:
    """True where the column's cells name responses or ties."""
    texts = [as_name(each) for each in sheet.values(column)]
    if items.per == PER_RESPONSE:
        # "label: yes" says something of a response, "preferred: yes" that it is better than the others.
        if OF_ANYTHING & {*plain_name(column).split()}:
            return False
        known = _systems(sheet, items) | YES | NO | TIE_WORDS.keys()
        return sum(text.casefold() in known for text in texts) >= MOSTLY * len(texts)
    n = len(items.named(ColumnRole.RESPONSE)) or 2
    places = dict.fromkeys(response_names(sheet, items), 0)
    read = [
        text for text in texts if text.casefold() in TIE_WORDS or read_side(text, places, n, ()) is not None
    ]
    return n > 1 and len(read) >= MOSTLY * len(texts)


def _are_numbers(values: Sequence[Any]) -> bool:
    return bool(values) and sum(read_number(each) is not None for each in values) >= MOSTLY * len(values)


def _systems(sheet: Sheet, items: TableMap) -> set[str]:
    return {
        as_name(each).casefold()
        for use in items.named(ColumnRole.SYSTEM)
        for each in sheet.values(use.column)
    }


def _picks_one(sheet: Sheet, items: TableMap, column: str) -> bool:
    """True where cells beside a response each name systems, or a rater says yes of one response to a prompt only."""
    systems = _systems(sheet, items)
    raters = [each for each in sheet.columns if judged_by_name(each) == ColumnRole.RATER]
    responses = [each.column for each in items.named(ColumnRole.SYSTEM, ColumnRole.RESPONSE)]
    picked: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    prompt = ""
    for row in sheet.rows:
        cells = dict(zip(sheet.columns, map(as_name, row.cells), strict=True))
        prompt = "".join(cells[each.column] for each in items.named(ColumnRole.PROMPT)) or prompt
        if cells[column].casefold() in YES - systems:
            ballot = (prompt, *(cells[each] for each in raters))
            picked.setdefault(ballot, set()).add(tuple(cells[each] for each in responses))
    if picked:
        return all(len(each) == 1 for each in picked.values())
    return any(as_name(each).casefold() in systems for each in sheet.values(column))


def names_in_words(sheet: Sheet, items: TableMap, column: str) -> bool:
    """True where they do whatever the column is called; numbers alone may say anything."""
    return any(read_number(each) is None for each in sheet.values(column)) and names_responses(
        sheet, items, column
    )


def _are_labels(values: Sequence[Any]) -> bool:
    texts = [as_name(each) for each in values]
    return 2 <= len({*texts}) <= min(MOST_LABELS, len(texts) // 2) and max(map(len, texts)) <= LONGEST_NAME


def _are_names(sheet: Sheet, column: str) -> bool:
    texts = [as_name(each) for each in sheet.values(column)]
    return (
        bool(texts) and max(map(len, texts)) <= LONGEST_NAME * 2 and not any("\n" in text for text in texts)
    )


def _fits(sheet: Sheet, items: TableMap, column: str, role: ColumnRole) -> bool:
    """True if the column's cells are what its name says."""
    values = sheet.values(column)
    if role == ColumnRole.RATER:
        return _are_names(sheet, column)
    if role == ColumnRole.RATER_KIND:
        return bool(values) and all(plain_name(as_name(each)) in KINDS for each in values)
    if role == ColumnRole.JUDGED_AT:
        return bool(values) and all(read_time(each) is not None for each in values)
    if role == ColumnRole.SECONDS:
        return _are_numbers(values) and all((read_number(each) or 0) >= 0 for each in values)
    if role == ColumnRole.SHOWN:
        names = response_names(sheet, items)
        return bool(values) and all(
            plain_name(word) in names for each in values for word in re.split(r"[,;|>]", as_name(each))
        )
    return bool(values) and any(read_number(each) is None for each in values)

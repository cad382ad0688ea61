"""A plain table of which a row has all votes on its pair: a column for each rater ("annotator_1"), or a list."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.column_names import ColumnRole, is_of_all_raters, is_of_models, is_of_one_rater
from evaluation.dumps.tables.gold_cells import TIE_WORDS
from evaluation.dumps.tables.guess import guess_map
from evaluation.dumps.tables.judgments.cells import read_number, read_side, response_names
from evaluation.dumps.tables.sheet import Sheet, as_name, is_empty
from evaluation.dumps.tables.table_map import JUDGES, PER_ITEM, ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, cells_are, records, sub_sheet

MOST_RESPONSES = 26


def _columns(sheet: Sheet) -> list[str]:
    """The columns of votes by their names: several of one rater each, or one of lists."""
    of_raters = [column for column in sheet.columns if is_of_one_rater(column) and sheet.values(column)]
    if len(of_raters) > 1:
        return of_raters
    lists = [column for column in sheet.columns if is_of_all_raters(column)]
    return [column for column in lists if cells_are(sheet, [column], lambda cell: _list(cell) is not None)][
        :1
    ]


def _list(cell: Any) -> list[Any] | None:
    found = structure_of(cell)
    return found if isinstance(found, list) and found else None


def _votes(cell: Any) -> list[Any]:
    return _list(cell) or ([] if is_empty(cell) else [cell])


def _named(cell: Any) -> list[str]:
    """The cell's votes for a response."""
    return [name for each in _votes(cell) if (name := as_name(each).casefold()) not in TIE_WORDS]


def _material(sheet: Sheet, columns: list[str]) -> TableMap:
    return guess_map(sub_sheet(sheet, {each: each for each in sheet.columns if each not in columns}))


def _is_vote(sheet: Sheet, items: TableMap) -> Callable[[Any], bool]:
    places = dict.fromkeys(response_names(sheet, items), 0)
    n = len(items.named(ColumnRole.RESPONSE))
    return lambda cell: (
        as_name(cell).casefold() in TIE_WORDS or read_side(as_name(cell), places, n, ()) is not None
    )


def _tells(sheet: Sheet) -> bool:
    columns = _columns(sheet)
    if not columns:
        return False
    items = _material(sheet, columns)
    n = len(items.named(ColumnRole.RESPONSE))
    # Beside a winner, a score or a rank the others may be anything.
    if items.per != PER_ITEM or items.has_judgments or not 2 <= n <= MOST_RESPONSES:
        return False
    # A list of every response once is what could be chosen.
    if cells_are(sheet, columns, lambda cell: len(_named(cell)) == len({*_named(cell)}) == n):
        return False
    is_vote = _is_vote(sheet, items)
    votes = [vote for column in columns for cell in sheet.values(column) for vote in _votes(cell)]
    # Numbers alone may be scores.
    return any(read_number(each) is None for each in votes) and cells_are(
        sheet, columns, lambda cell: all(map(is_vote, _votes(cell)))
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    columns = _columns(sheet)
    items = _material(sheet, columns)
    vote, rater = (
        name if name not in sheet.columns else f"{name} (of each row)" for name in ("vote", "rater")
    )
    uses = [use for use in items.columns if use.role != ColumnRole.IGNORED]
    uses += [ColumnUse(vote, ColumnRole.WINNER)]
    uses += [ColumnUse(rater, ColumnRole.RATER)] if len(columns) > 1 else []
    plain = PlainTable(sheet, uses, columns)
    for row, record in records(sheet):
        given = [(column, each) for column in columns for each in _votes(record[column])]
        for column, each in given or [("", None)]:
            plain.add(row, record | {vote: each, rater: column})
    read, table_map = plain.finish()
    return read, replace(table_map, raters=JUDGES) if all(map(is_of_models, columns)) else table_map


TOOL = Tool("votes_by_rater", "a table of which a row has the votes of several raters", _tells, _read)

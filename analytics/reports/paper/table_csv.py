"""A table of a report as CSV: what it shows, cell by cell, in columns that a program reads."""

import csv
import io
from collections.abc import Iterator

from analytics.display.numbers import plain_number
from analytics.display.tables import DASH, Table, TableCell
from evaluation.dumps.spreadsheets import spreadsheet_cell

# Beside the column itself: both limits of its interval and a remark, each where some cell has one.
LOW, HIGH, NOTE = "low", "high", "note"


def table_csv(table: Table) -> str:
    """Figures as in the table, but with a hyphen as their minus and no commas in thousands.

    What is undefined is empty, with the reason in the column of notes. A row's name stands in each of its rows.
    """
    extras = [_extras(table, at) for at in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(
        [
            spreadsheet_cell(name)
            for column, more in zip(table.columns, extras, strict=True)
            for name in (column.label, *(f"{column.label}: {each}" for each in more))
        ]
    )
    for row in table.rows:
        writer.writerow(_values(table, row, extras))
    return out.getvalue()


def _extras(table: Table, at: int) -> list[str]:
    cells = [row[at] for row in table.rows]
    has_limits = any(cell.limits for cell in cells)
    return [
        *([LOW, HIGH] if has_limits else []),
        *([NOTE] if any(_note(table, cell) for cell in cells) else []),
    ]


def _values(table: Table, row: tuple[TableCell, ...], extras: list[list[str]]) -> Iterator[str]:
    for cell, more in zip(row, extras, strict=True):
        low, high = cell.limits or ("", "")
        beside = {
            LOW: plain_number(low),
            HIGH: plain_number(high),
            NOTE: spreadsheet_cell(_note(table, cell)),
        }
        yield _value(cell)
        yield from (beside[each] for each in more)


def _value(cell: TableCell) -> str:
    if not cell.numeric:
        return str(spreadsheet_cell(cell.text))
    return plain_number(cell.text) or ("" if cell.text == DASH else str(spreadsheet_cell(cell.text)))


def _note(table: Table, cell: TableCell) -> str:
    return "; ".join(filter(None, [cell.remark, cell.tag, *(table.notes[mark - 1] for mark in cell.marks)]))

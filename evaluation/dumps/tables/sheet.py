"""A table as it was read: its columns by name, and rows that remember where they stand in the file."""

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from evaluation.dumps.lines import MAX_LINE
from evaluation.refusals import Refused

MAX_COLUMNS = 500
# A table is held in memory; what is larger has to come as Assay's JSONL, which is read line by line.
MAX_BYTES = 100_000_000
MAX_CHARACTERS = 200_000_000
MAX_CELL = 5_000_000
MAX_CELLS = 10_000_000
# As a line of Assay's JSONL: what a row makes has to fit there.
MAX_ROW = MAX_LINE
# The exit status of a process that found no memory while it sent a table.
OUT_OF_MEMORY = 12


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row: its number in the file, its cells in the order of the columns, what is wrong with it as a row, and of a
    line that can't be read, which has no cells, the line itself."""

    number: int
    cells: tuple[Any, ...]
    problems: tuple[str, ...] = ()
    line: str = ""


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that can't be read, and why."""

    reason: str
    line: str


@dataclass(frozen=True)
class RawRows:
    """Rows as a library gave them. Where the file names the columns itself (JSON, Parquet), `names` has them."""

    rows: Sequence[tuple[int, Sequence[Any]]]
    unit: str
    names: Sequence[str] | None = None
    # Of a workbook its sheets, of a data set its splits, and which of them was read.
    sheets: Sequence[str] = ()
    sheet: str = ""
    notices: Sequence[str] = ()
    # Rows that can't be read, and so have no cells, by their numbers.
    broken: Mapping[int, BrokenLine] = field(default_factory=dict)
    # Whether images that came with the table stand in its cells as data.
    has_images: bool = False
    # Whether the file has, or may have, more rows.
    is_cut: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table with named columns."""

    name: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    # Whether the names stand in the file.
    has_header: bool = True
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    # Whether there may be more rows than were read.
    is_cut: bool = False
    has_images: bool = False
    # What was noticed while reading, as sentences.
    notices: tuple[str, ...] = field(default=())

    def values(self, column: str) -> list[Any]:
        """The column's cells that are not empty."""
        at = self.columns.index(column)
        return [row.cells[at] for row in self.rows if not is_empty(row.cells[at])]

    @property
    def place(self) -> str:
        """All its rows, as a message names them."""
        first, last = self.rows[0].number, self.rows[-1].number
        return f"{self.unit} {first}" if first == last else f"{self.unit}s {first} to {last}"


class ShownNumber(float):
    """A number of a workbook, and the text that its sheet shows for it."""

    shown: str
    # Whether a spreadsheet has put zeros in the place of its last digits.
    has_lost_digits: bool

    def __new__(cls, value: float, shown: str = "", *, has_lost_digits: bool = False) -> Self:
        number = super().__new__(cls, value)
        number.shown, number.has_lost_digits = shown, has_lost_digits
        return number


class SizeGuard:
    """The count of characters and cells read so far, which stops before memory fills."""

    def __init__(self) -> None:
        self._read = self._cells = 0

    def add(self, cells: Sequence[Any]) -> None:
        if len(cells) > MAX_COLUMNS:
            raise Refused(f"The table has more than {MAX_COLUMNS} columns.")
        self._cells += max(1, len(cells))
        if self._cells > MAX_CELLS:
            raise Refused(f"The table has more than {MAX_CELLS // 1_000_000} million cells. Divide it.")
        size = sum(measure(each) for each in cells)
        if size > MAX_ROW:
            raise Refused(f"A row of the table holds more than {MAX_ROW // 1_000_000} million characters.")
        self._read += size
        if self._read > MAX_CHARACTERS:
            raise Refused(
                f"The table holds more than {MAX_CHARACTERS // 1_000_000} million characters. Divide it, or bring it "
                "as Assay's JSONL, which is read line by line."
            )


def measure(value: Any) -> int:
    """About how many characters the value has."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(measure(key) + measure(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return sum(measure(each) for each in value)
    return 8


def is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or value in ([], {}) or (isinstance(value, float) and math.isnan(value))


def as_text(value: Any) -> str:
    """The cell as text, with the white space at its ends: numbers without a needless fraction, of a conversation its
    last message, structures as JSON; empty where there is nothing but white space."""
    if is_empty(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, ShownNumber):
        return value.shown
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime.date | datetime.datetime | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if is_conversation(value):
        return as_text(value[-1]["content"])
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def as_name(value: Any) -> str:
    """The cell as what names something, such as a key, a category or a system: without white space at its ends."""
    return as_text(value).strip()


def is_conversation(value: Any) -> bool:
    """True for a list of messages, each with its role and content, as data sets of conversations have them."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and {"role", "content"} <= each.keys() for each in value)
    )

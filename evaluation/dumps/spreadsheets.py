"""Cells for spreadsheets: what would run as a formula, and characters that a workbook's XML can't hold."""

import re
from typing import Any

# A spreadsheet runs a cell that starts like this as a formula; the last four are full-width forms of the first.
FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
BLANKS = " \N{NO-BREAK SPACE}"
# Halves of a character beyond U+FFFF stand for nothing by themselves.
ESCAPED = re.compile("_x(?![Dd][89A-Fa-f])([0-9A-Fa-f]{4})_")
# A carriage return would be read back as a line feed.
UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def spreadsheet_cell(value: Any) -> Any:
    """A value as a spreadsheet may read it: no formula, and booleans as words."""
    if isinstance(value, str):
        return f"'{value}" if value.lstrip(BLANKS).startswith(FORMULA_STARTS) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def exact_cell(value: Any) -> Any:
    """The text that `spreadsheet_cell` was given."""
    if isinstance(value, str) and value[:1] == "'" and value[1:].lstrip(BLANKS).startswith(FORMULA_STARTS):
        return value[1:]
    return value


def escape(text: str) -> str:
    """The text as a workbook writes it: what XML can't hold as _x000B_."""
    return UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def unescape(text: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text

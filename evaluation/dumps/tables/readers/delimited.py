"""CSV, TSV and pasted tables: the encoding and the separator are found out, the cells are read by the csv module."""

import codecs
import csv
import io
from collections import Counter
from itertools import islice

from evaluation.dumps.tables.sheet import MAX_CELL, RawRows, SizeGuard
from evaluation.refusals import Refused

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# How much is looked at to find the separator.
LOOK_AT = 200_000
LOOK_AT_ROWS = 40
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_delimited(raw: bytes, limit: int | None = None) -> RawRows:
    """The rows of a text whose cells are separated by one of `SEPARATORS`; a row's number is the line it begins on."""
    text, notices = decode(raw)
    text, separator = _separator(text)
    rows = _rows(text, separator, limit)
    if separator == "|":
        rows = _without_rules(rows)
    if separator != ",":
        notices.append(f"Cells are separated by {SEPARATORS[separator]}.")
    return RawRows(rows, "line", notices=notices)


def decode(raw: bytes) -> tuple[str, list[str]]:
    """The text, and a sentence where its encoding had to be guessed."""
    for mark, encoding in MARKS:
        if raw.startswith(mark):
            try:
                return raw.decode(encoding), []
            except UnicodeDecodeError:
                raise Refused(f"The file begins as {encoding}, and goes on as something else.") from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        encoding = "cp1252" if not set(raw) & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "latin-1"
        name = "Windows-1252" if encoding == "cp1252" else "Latin-1"
        return raw.decode(encoding), [
            f"The file is not UTF-8 (line {line}) and was read as {name}: check that accented letters are right."
        ]
    if "\0" in text:
        raise Refused(
            "The file holds the character U+0000, which no table in text has: it is of another kind."
        )
    return text, []


def _separator(text: str) -> tuple[str, str]:
    """The text and its separator: that which divides most rows into the same number of cells."""
    first, newline, rest = text.partition("\n")
    if first.strip().lower().startswith("sep=") and len(first.strip()) == 5:
        # A line that Excel writes. It is kept as an empty one, so that the others keep their numbers.
        return newline + rest, first.strip()[-1] if first.strip()[-1] in SEPARATORS else ","
    return text, max(SEPARATORS, key=lambda each: _evenness(text[:LOOK_AT], each))


def _evenness(text: str, separator: str) -> tuple[float, int]:
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        widths = [len(row) for row in islice(rows, LOOK_AT_ROWS) if row]
    except csv.Error:
        return 0.0, 0
    # A title above the table has one cell, and is no evidence.
    common = Counter(width for width in widths if width > 1).most_common(1)
    if not common:
        return 0.0, 0
    width, times = common[0]
    return times / len(widths), width


def _rows(text: str, separator: str, limit: int | None) -> list[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, list[str]]] = []
    guard, begins = SizeGuard(), 1
    try:
        for row in reader:
            guard.add(row)
            rows.append((begins, row))
            begins = reader.line_num + 1
            if limit is not None and len(rows) >= limit:
                break
    except csv.Error as error:
        raise Refused(f"line {begins}: {_why(str(error), begins, reader.line_num)}") from None
    return rows


def _why(error: str, begins: int, line: int) -> str:
    if "field larger" in error:
        return f"a cell is longer than {MAX_CELL:,} characters; is a quotation mark never closed?"
    if "unexpected end" in error:
        return "a quotation mark is opened here and never closed, so the rest of the file is one cell."
    if "expected after" in error:
        where = "" if line == begins else f" (line {line})"
        return (
            f'a cell in quotation marks has one inside{where} that is not doubled; write "" for it, or save the '
            "table again as CSV or XLSX."
        )
    return f"{error}."


def _without_rules(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The rows of a Markdown table, without the bars at its edges, the line below its header and the blanks beside the
    bars, which are no part of its texts."""
    edged = all(not row[0].strip() and not row[-1].strip() for _, row in rows if any(map(str.strip, row)))
    kept = [(number, row[1:-1] if edged else row) for number, row in rows]
    found = [
        (number, row) for number, row in kept if not row or any(set(cell.strip()) - set(":-") for cell in row)
    ]
    if not edged and len(found) == len(rows):
        return found
    return [(number, [cell.strip() for cell in row]) for number, row in found]

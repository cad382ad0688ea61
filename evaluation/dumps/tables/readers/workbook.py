"""Excel's XLSX, read by openpyxl without its formulas; a merged cell's text stands in each of its rows."""

import io
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from contextlib import closing
from typing import Any
from xml.etree.ElementTree import iterparse

from evaluation.dumps.tables.readers.shown_values import shown_value
from evaluation.dumps.tables.sheet import MAX_COLUMNS, RawRows, SizeGuard
from evaluation.refusals import Refused

# What an archive may unpack to; zipfile reads no member beyond the size that the archive declares for it.
MAX_UNPACKED = 200_000_000
WORKBOOK = "xl/workbook.xml"
MERGED_TAG = b"mergeCell"
MERGED = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}mergeCell"


def check_unpacked(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that would unpack to more than fits."""
    if sum(each.file_size for each in archive.infolist()) > MAX_UNPACKED:
        raise Refused(f"The file unpacks to more than {MAX_UNPACKED // 1_000_000} MB.")


def read_workbook(raw: bytes, sheet: str = "", limit: int | None = None) -> RawRows:
    """The rows of the sheet of that name, by default of the first one that has two rows or more."""
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            check_unpacked(archive)
            paths = _sheet_paths(archive)
        book = load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
    except (Refused, MemoryError):
        raise
    except Exception as error:  # whatever a library finds in a file that is not one
        raise Refused(f"The file is no workbook that can be read ({type(error).__name__}).") from None
    with closing(book), zipfile.ZipFile(io.BytesIO(raw)) as archive:
        names = [each.title for each in book.worksheets if each.sheet_state == "visible"]
        if sheet and sheet not in names:
            raise Refused(f"There is no sheet {sheet!r}. The sheets are {', '.join(names)}.")
        for name in [sheet] if sheet else names:
            rows = _rows(book[name], limit)
            if sheet or len(rows) > 1:
                _repeat_merged(rows, _merged(archive, paths[name]))
                return RawRows(rows, "row", sheets=names, sheet=name)
    raise Refused("The workbook has no sheet with a table.")


def _sheet_paths(archive: zipfile.ZipFile) -> Mapping[str, str]:
    from openpyxl.reader.workbook import WorkbookParser

    parser = WorkbookParser(archive, WORKBOOK)
    parser.parse()
    return {sheet.name: relation.target for sheet, relation in parser.find_sheets()}


def _merged(archive: zipfile.ZipFile, path: str) -> list[tuple[int, int, int, int]]:
    """First column, first row, last column and last row of each merged range, which openpyxl's quick reading skips."""
    from openpyxl.utils.cell import range_boundaries

    if MERGED_TAG not in archive.read(path):
        return []
    found = []
    with archive.open(path) as sheet:
        # expat refuses entities that multiply, and reads none from elsewhere.
        for _, element in iterparse(sheet):  # noqa: S314
            if element.tag == MERGED:
                found.append(range_boundaries(element.attrib["ref"]))
            if element.tag.endswith("}row"):
                element.clear()
    return [bounds for bounds in found if None not in bounds]


def _rows(sheet: Any, limit: int | None) -> list[tuple[int, list[Any]]]:
    # What the file says of its own size may be wrong by a million rows.
    sheet.reset_dimensions()
    guard = SizeGuard()
    rows: list[tuple[int, list[Any]]] = []
    # A million empty rows may come before the next one.
    for number, found in enumerate(sheet.iter_rows(), 1):
        cells = [shown_value(cell.value, cell.number_format) for cell in found[: MAX_COLUMNS + 1]]
        if filled := max((at for at, cell in enumerate(cells, 1) if cell is not None), default=0):
            guard.add(cells[:filled])
            rows.append((number, cells[:filled]))
        if limit is not None and len(rows) >= limit:
            break
    return rows


def _repeat_merged(rows: list[tuple[int, list[Any]]], merged: list[tuple[int, int, int, int]]) -> None:
    """A cell that spans rows is each row's; a header that spans columns stays in the first of them."""
    numbers = [number for number, _ in rows]
    # Excel merges no cell twice, and a file that does has nothing more to say of it.
    done: dict[int, int] = {}
    for column, first, _, last in sorted(merged):
        if first <= done.get(column, 0):
            continue
        done[column] = last
        within = rows[bisect_left(numbers, first) : bisect_right(numbers, last)]
        if within and within[0][0] == first and (value := within[0][1][column - 1 : column]):
            for _, cells in within[1:]:
                if len(cells) >= column:
                    cells[column - 1] = value[0]

"""Excel's XLSX, read by openpyxl without its formulas; a merged cell's text stands in each of its rows."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any
from xml.etree.ElementTree import iterparse

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
            merged = {name: _merged(archive, path) for name, path in paths.items()}
        book = load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
    except Refused:
        raise
    except Exception as error:  # whatever a library finds in a file that is not one
        raise Refused(f"The file is no workbook that can be read ({type(error).__name__}).") from None
    with closing(book):
        names = [each.title for each in book.worksheets if each.sheet_state == "visible"]
        if sheet and sheet not in names:
            raise Refused(f"There is no sheet {sheet!r}. The sheets are {', '.join(names)}.")
        for name in [sheet] if sheet else names:
            rows = _rows(book[name], merged.get(name, ()), limit)
            if sheet or len(rows) > 1:
                return RawRows(rows, "row", sheets=names, sheet=name)
    raise Refused("The workbook has no sheet with a table.")


def _sheet_paths(archive: zipfile.ZipFile) -> Mapping[str, str]:
    from openpyxl.reader.workbook import WorkbookParser

    parser = WorkbookParser(archive, WORKBOOK)
    parser.parse()
    return {sheet.name: relation.target for sheet, relation in parser.find_sheets()}


def _merged(archive: zipfile.ZipFile, path: str) -> Sequence[tuple[int, int, int, int]]:
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


def _rows(
    sheet: Any, merged: Sequence[tuple[int, int, int, int]], limit: int | None
) -> list[tuple[int, list[Any]]]:
    # What the file says of its own size may be wrong by a million rows.
    sheet.reset_dimensions()
    guard = SizeGuard()
    rows: list[tuple[int, list[Any]]] = []
    for number, cells in enumerate(sheet.iter_rows(values_only=True, max_col=MAX_COLUMNS + 1), 1):
        # They are filled up to the last column that was asked for.
        filled = max((at for at, cell in enumerate(cells, 1) if cell is not None), default=0)
        if filled:
            guard.add(cells[:filled])
            rows.append((number, list(cells[:filled])))
        if limit is not None and len(rows) >= limit:
            break
    by_number = dict(rows)
    for first_column, first_row, _, last_row in merged:
        # A header that spans columns stays in the first of them; a cell that spans rows is each row's.
        value = by_number.get(first_row, [])[first_column - 1 : first_column]
        for number in range(first_row + 1, last_row + 1):
            if value and number in by_number and len(by_number[number]) >= first_column:
                by_number[number][first_column - 1] = value[0]
    return rows

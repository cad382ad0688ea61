"""Rows with errors: left out of an import where somebody asks for it, and handed back as CSV with their reasons."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from evaluation.dumps.imports.added_items import RunningItemsSource
from evaluation.dumps.imports.checker import DumpChecker
from evaluation.dumps.imports.draft_items import DraftItemsSource
from evaluation.dumps.lines import Source
from evaluation.dumps.problems import NUMBERED, Problems
from evaluation.dumps.spreadsheets import spreadsheet_cell
from evaluation.dumps.tables.header_row import LINE, REASON, ROW
from evaluation.dumps.tables.sheet import Sheet, as_text
from evaluation.dumps.tables.source import TableSource
from evaluation.extension import Watch
from evaluation.models import Status, Study
from evaluation.refusals import Refused

# Without a row the rest of its item may be wrong, and so on.
MAX_ROUNDS = 20
# Reasons by the row's number.
BadRows = dict[int, list[str]]


class RowProblems(Problems):
    """Problems that remember all their rows."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: BadRows = {}

    def add(self, where: str, problems: Iterable[str], key: str = "") -> None:
        found = list(problems)
        super().add(where, found, key)
        numbered = NUMBERED.fullmatch(where)
        if found:
            self.rows.setdefault(int(numbered[2]) if numbered else 0, []).extend(found)


def check(
    source: TableSource, study: Study | None, watch: Watch = lambda phase, done, total: None
) -> RowProblems:
    """Check the source as its import would. Refused for what is no fault of a row, such as its map."""
    problems = RowProblems()
    whole, names = whole_source(source, study), names_of(source, study)
    checker = DumpChecker(whole, render=lambda text, rules: text, problems=problems, **names)
    try:
        checker.run(watch)
    except Refused:
        if not problems.total:
            raise
    return problems


def whole_source(source: TableSource, study: Study | None) -> Source:
    if study is None:
        return source
    return (DraftItemsSource if study.status == Status.DRAFT else RunningItemsSource)(source, study)


def names_of(source: TableSource, study: Study | None) -> dict[str, str]:
    return {
        "slug": study.slug if study else "new",
        "protocol": source.protocol.key,
        "title": study.title if study else "",
    }


def leave_out_bad_rows(
    source: TableSource, study: Study | None, watch: Watch = lambda phase, done, total: None
) -> BadRows:
    """Have the source skip each row with an error; the rows, with their reasons.

    Refused with the errors where they are of no row, or where no row would be left.
    """
    bad: BadRows = {}
    numbers = {row.number for row in source.sheet.rows}
    for _ in range(MAX_ROUNDS):
        problems = check(source, study, watch)
        if not problems.total:
            return bad
        bad |= problems.rows
        if not bad.keys() < numbers:
            break
        source.skip = frozenset(bad)
    raise Refused(*problems.sentences, total=problems.total)


def write_left_out(out: BinaryIO, sheet: Sheet, bad: Mapping[int, list[str]]) -> None:
    """The rows as a table to be mended in a spreadsheet and imported: with a byte order mark, and no formulas."""
    text = io.TextIOWrapper(out, encoding="utf-8-sig", newline="", write_through=True)
    try:
        writer = csv.writer(text, lineterminator="\n")
        rows = [row for row in sheet.rows if row.number in bad]
        has_lines = any(row.line for row in rows)
        writer.writerow([REASON, ROW, *([LINE] if has_lines else []), *map(spreadsheet_cell, sheet.columns)])
        for row in rows:
            reasons = "; ".join(dict.fromkeys(bad[row.number]))
            line = [spreadsheet_cell(row.line)] if has_lines else []
            cells = [spreadsheet_cell(_written(cell)) for cell in row.cells]
            writer.writerow([spreadsheet_cell(reasons), row.number, *line, *cells])
        text.flush()
    finally:
        text.detach()  # the caller closes what it opened


def _written(cell: Any) -> str:
    """All of the cell: of a conversation every message."""
    return (
        json.dumps(cell, ensure_ascii=False, default=str) if isinstance(cell, list | dict) else as_text(cell)
    )

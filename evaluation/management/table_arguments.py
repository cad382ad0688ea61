"""Shared by the commands that read tables: the map that is given, how a table was read, and rows that are left out."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import orjson
from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.dumps.exports.study_export import atomic_file
from evaluation.dumps.lines import Source
from evaluation.dumps.tables.bad_rows import leave_out_bad_rows, write_left_out
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.source import Opened, TableSource
from evaluation.dumps.tables.table_map import PER_RESPONSE, TableMap, read_map
from evaluation.dumps.tables.unused import unused_texts
from evaluation.models import Study
from evaluation.refusals import Refused


def map_from(path: Path) -> TableMap:
    """The map in the file; Refused if it is none."""
    try:
        return read_map(orjson.loads(path.read_bytes()))
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}.") from None
    except orjson.JSONDecodeError as error:
        raise Refused(f"{path.name} is not JSON: {error.msg} (line {error.lineno}).") from None


def add_skip_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--skip-bad-rows",
        type=Path,
        metavar="CSV",
        help="Leave out a table's rows with errors, and write them with their reasons to this file.",
    )


def leave_out_rows(source: Source, study: Study | None, path: Path | None) -> str:
    """Have the source skip its rows with errors, and write these to the file, if one is given; the sentence on it,
    '' where there are none. Refused with the errors where they are of no row."""
    if path is None:
        return ""
    if not isinstance(source, TableSource):
        raise CommandError("--skip-bad-rows is for tables, and this is Assay's own JSONL.")
    if not (bad := leave_out_bad_rows(source, study)):
        return ""
    with atomic_file(path) as file:
        write_left_out(file, source.sheet, bad)
    return f"{counted(len(bad), 'row is', 'rows are')} left out, with the reasons in {path}."


def leaves_rows(source: Source, study: Study | None) -> bool:
    """True if --skip-bad-rows would have some rows to import."""
    try:
        return isinstance(source, TableSource) and bool(leave_out_bad_rows(source, study))
    except Refused:
        return False


def described(opened: Opened) -> Iterator[str]:
    """Lines that say of a table how it is read."""
    if opened.sheet is None or opened.map is None:
        return
    yield from opened.sheet.notices
    yield "Columns, by a guess from names and contents:" if opened.guessed else "Columns, by the map:"
    for line in opened.map.described():
        yield f"  {line}"
    used = {each["column"] for each in opened.map.as_json()["columns"]}
    unused = [repr(each) for each in opened.sheet.columns if each not in used]
    if unused:
        yield f"  not used: {', '.join(unused)}"
        for each in unused_texts(opened.sheet, opened.map, guessed=opened.guessed):
            yield f"  {each}"
    per = "one response" if opened.map.per == PER_RESPONSE else "an item"
    if opened.map.has_judgments:
        per = f"a judgment of {per}"
    yield f"  Each {opened.sheet.unit} is {per}; the protocol is {opened.map.protocol}."
    if isinstance(opened.source, TableSource):
        yield from opened.source.judgment_notes()
    if opened.guessed:
        yield "If that is wrong, write the map with --save-map, correct it, and give it with --map."
    if isinstance(opened.source, TableSource) and (notes := row_notes(opened.source)):
        yield "Before you import it:"
        for note in notes:
            yield f"  {note}"


def drops_texts(opened: Opened) -> bool:
    """True where a guess leaves a column of texts unused."""
    if opened.sheet is None or opened.map is None or not opened.guessed:
        return False
    return bool(unused_texts(opened.sheet, opened.map, guessed=True))

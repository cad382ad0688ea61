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
from evaluation.models import SavedTableMap, Study
from evaluation.models.saved_table_map import as_map_name
from evaluation.refusals import Refused


def add_map_argument(parser: ArgumentParser, otherwise: str) -> None:
    parser.add_argument(
        "--map",
        default="",
        metavar="FILE|NAME",
        help=f"The map of a table's columns: a file of JSON, or the name of a saved map; by default {otherwise}.",
    )


def map_from(given: str, whose: str) -> TableMap | None:
    """The map in the file of that name, else the saved map of that name: of the user `whose`, or where none is named
    the only one there is. None where no map was asked for; Refused if it is none."""
    if not given:
        return None
    path = Path(given)
    try:
        is_file = path.exists()
    except OSError:
        # Longer than the name of any file.
        is_file = False
    if not is_file:
        return read_map(_saved_map(given, whose).map)
    try:
        return read_map(orjson.loads(path.read_bytes()))
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}.") from None
    except orjson.JSONDecodeError as error:
        raise Refused(f"{path.name} is not JSON: {error.msg} (line {error.lineno}).") from None


def _saved_map(name: str, whose: str) -> SavedTableMap:
    maps = SavedTableMap.objects.order_by("owner__username")
    if whose:
        maps = maps.filter(owner__username=whose)
    found = list(maps.filter(name=as_map_name(name)).select_related("owner"))
    if len(found) > 1:
        owners = ", ".join(each.owner.get_username() for each in found)
        raise CommandError(f"Several people saved a map as {name!r}: {owners}. Name one of them.")
    if not found:
        there = ", ".join(sorted({repr(each) for each in maps.values_list("name", flat=True)[:20]}))
        raise CommandError(
            f"There is no file {name!r}, and no saved map of that name{f' of {whose}' if whose else ''}. "
            f"{f'Saved maps: {there}.' if there else 'No map is saved.'}"
        )
    return found[0]


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

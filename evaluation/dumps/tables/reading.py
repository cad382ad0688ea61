"""A file of whatever kind as a table: its kind is told by its content, since names lie."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

import orjson

from evaluation.dumps.json_text import load_json
from evaluation.dumps.lines import BOM, MAX_LINE
from evaluation.dumps.tables.header_row import name_columns
from evaluation.dumps.tables.illustrated import holds_images, read_illustrated
from evaluation.dumps.tables.readers.arrow_rows import read_archive, read_arrow, read_folder, read_parquet
from evaluation.dumps.tables.readers.box import read_apart
from evaluation.dumps.tables.readers.delimited import read_delimited
from evaluation.dumps.tables.readers.json_rows import read_json, read_json_lines
from evaluation.dumps.tables.readers.workbook import WORKBOOK, check_unpacked, read_workbook
from evaluation.dumps.tables.sheet import MAX_BYTES, RawRows, Sheet
from evaluation.refusals import Refused

LOOK_AT_LINES = 20
# What the library raises for a file in a ZIP: damaged, locked, or packed in a way that it does not know.
UNREADABLE = (zipfile.BadZipFile, zlib.error, RuntimeError)
# What can't be read as it is, by its first bytes, and what helps.
FOREIGN = (
    (
        b"\xd0\xcf\x11\xe0",
        "is a workbook of the old kind (XLS), or locked with a password. Save it as XLSX without one.",
    ),
    (b"%PDF", "is a PDF. Save the table that it shows as CSV or XLSX."),
    (b"\x1f\x8b", "is packed with gzip. Unpack it first."),
    (b"SQLite format 3", "is an SQLite database. Export its table as CSV."),
    (b"{\\rtf", "is a text document (RTF). Save its table as CSV or XLSX."),
    (b"\x80\x04", "is a Python pickle, which could run anything. Save the data as Parquet, CSV or JSONL."),
    (b"\x80\x05", "is a Python pickle, which could run anything. Save the data as Parquet, CSV or JSONL."),
)
SAMPLE, WORDS = re.compile(r"samples/[^/]+\.json"), re.compile(r"\d+|\D+")
KINDS = "CSV, TSV, XLSX, JSON, JSONL, Parquet or a data set's folder"


def read_table(
    path: Path,
    *,
    name: str = "",
    sheet: str = "",
    header: bool | None = None,
    limit: int | None = None,
    least_columns: int = 2,
) -> Sheet:
    """The table in the file or folder; Refused with a sentence that helps where there is none.

    `sheet` is a workbook's or a data set's split; `header` says whether the first row has the columns' names, None
    lets the row itself tell; `limit` rows at most are read. Of fewer than `least_columns` it is no table.
    """
    name = name or path.name
    try:
        return name_columns(read_apart(path, sheet, limit), name, header, least_columns=least_columns)
    except Refused as refused:
        sentences = [_named(name, each) for each in refused.problems]
        raise Refused(*sentences, total=refused.total) from None


def read_raw(path: Path, sheet: str = "", limit: int | None = None) -> RawRows:
    """The rows as they stand in the file or folder, which is read here and now: for `child` alone."""
    try:
        if path.is_dir():
            return read_folder(path, sheet, limit)
        if path.stat().st_size > MAX_BYTES:
            raise Refused(
                f"The table is larger than {MAX_BYTES // 1_000_000} MB. Divide it, or bring it as Assay's JSONL."
            )
        return read_bytes(path.read_bytes(), sheet, limit)
    except OSError as error:
        raise Refused(f"It can't be read: {error.strerror}.") from None


def _named(name: str, sentence: str) -> str:
    """A sentence that begins with a line keeps it in front, where problems have their place."""
    return sentence if sentence.startswith("line ") else f"{name}: {sentence}"


def read_bytes(raw: bytes, sheet: str = "", limit: int | None = None) -> RawRows:
    if not raw.strip():
        raise Refused("The file is empty.")
    for mark, help_text in FOREIGN:
        if raw.startswith(mark):
            raise Refused(f"The file {help_text}")
    if raw.startswith(b"PK\x03\x04"):
        return _packed(raw, sheet, limit)
    if raw.startswith(b"PAR1"):
        return read_parquet(raw, limit)
    if raw.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return read_arrow(raw, limit)
    begin = raw.removeprefix(BOM).lstrip()[:1]
    if begin == b"<":
        raise Refused(f"The file is a web page or XML. A table has to be {KINDS}.")
    if begin in (b"[", b"{"):
        return _json(raw, limit)
    return read_delimited(raw, limit)


def _packed(raw: bytes, sheet: str, limit: int | None) -> RawRows:
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
    except zipfile.BadZipFile:
        raise Refused("The file begins as a workbook or ZIP, and is damaged or cut off.") from None
    with archive:
        names = archive.namelist()
        check_unpacked(archive)
        if WORKBOOK in names:
            return read_workbook(raw, sheet, limit)
        if "content.xml" in names:
            raise Refused("The file is an OpenDocument one. Save its table as XLSX or CSV.")
        if any(name.startswith(("word/", "ppt/")) for name in names):
            raise Refused("The file is a document or slides. Save its table as XLSX or CSV.")
        if samples := inspect_samples(names):
            return _log(archive, samples, limit)
        if any(PurePosixPath(name).suffix in (".arrow", ".parquet") for name in names):
            return read_archive(archive, sheet, limit)
        if holds_images(archive):
            try:
                return read_illustrated(archive, partial(_read_in_archive, sheet=sheet, limit=limit))
            except UNREADABLE as error:
                raise Refused(f"The ZIP is damaged or locked with a password ({error}).") from None
    raise Refused(
        "The ZIP holds neither a data set's folder nor a table with its images. Unpack it, and bring the table in it."
    )


def inspect_samples(names: Sequence[str]) -> list[str]:
    """The samples of a log of Inspect (.eval), each a file of its own, in their order; none in another ZIP."""
    if not {"header.json", "_journal/start.json"} & {*names}:
        return []
    return sorted((name for name in names if SAMPLE.fullmatch(name)), key=_in_order)


def _in_order(name: str) -> list[str]:
    """Numbers in a name by their size: 2 before 10."""
    return [each.zfill(20) if each.isdigit() else each for each in WORDS.findall(name)]


def _log(archive: zipfile.ZipFile, samples: Sequence[str], limit: int | None) -> RawRows:
    try:
        each = [archive.read(name) for name in samples[:limit]]
    except UNREADABLE as error:
        raise Refused(f"The log is damaged or locked with a password ({error}).") from None
    return read_json(b"[" + b",".join(each) + b"]")


def _read_in_archive(raw: bytes, sheet: str, limit: int | None) -> RawRows:
    """A table of a ZIP; a ZIP in a ZIP is read no further, however deep it goes."""
    if raw.startswith(b"PK\x03\x04") and WORKBOOK not in zipfile.ZipFile(io.BytesIO(raw)).namelist():
        raise Refused("The ZIP holds another ZIP. Pack the table itself with its images.")
    if _holds_records(raw.split(b"\n", LOOK_AT_LINES)[:LOOK_AT_LINES]):
        raise Refused(
            "In Assay's JSONL images stand as data (docs/formats.md). Bring it without the ZIP, or a table."
        )
    return read_bytes(raw, sheet, limit)


def _json(raw: bytes, limit: int | None) -> RawRows:
    """JSON as a whole or line by line: lines it is where most of the first ones are objects by themselves."""
    lines = first_objects(raw.removeprefix(BOM).lstrip().split(b"\n", LOOK_AT_LINES)[:LOOK_AT_LINES])
    good = sum(each is not None for each in lines)
    if good > 1 and good * 2 > len(lines):
        return read_json_lines(raw, limit)
    try:
        return read_json(raw)
    except Refused:
        if good * 2 > len(lines):
            return read_json_lines(raw, limit)
        raise


def first_objects(lines: list[bytes]) -> list[dict[str, object] | None]:
    """Each line that is not blank as its object; None where it is none."""
    found: list[dict[str, object] | None] = []
    for line in lines:
        if line.strip():
            try:
                value = load_json(line.decode()) if len(line) <= MAX_LINE else None
            except (orjson.JSONDecodeError, UnicodeDecodeError):
                value = None
            found.append(value if isinstance(value, dict) else None)
    return found


def holds_own_records(path: Path) -> bool:
    """True for Assay's own JSONL: one of its first lines is a study's or an item's, whatever is wrong with others.

    Read here and now: for `child` alone.
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _holds_records([file.readline(MAX_LINE) for _ in range(LOOK_AT_LINES)])


def _holds_records(lines: list[bytes]) -> bool:
    lines[0] = lines[0].removeprefix(BOM)
    return any(_is_record(each) for each in first_objects(lines) if each is not None)


def _is_record(value: dict[str, object]) -> bool:
    has: Callable[[str, type], bool] = lambda key, kind: isinstance(value.get(key), kind)  # noqa: E731
    return "assay" in value or (has("query", dict) and has("responses", list))

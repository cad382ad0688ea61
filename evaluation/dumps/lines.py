"""Sources of records: lines of a file, read so that no line can fill the memory."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from evaluation.dumps.json_text import number_word
from evaluation.refusals import Refused

MAX_LINE = 10_000_000
BOM = b"\xef\xbb\xbf"
READ_SIZE = 1 << 20
# What may stand for a value that not every database can store; a line without it need not be searched.
SUSPECT = re.compile(rb"\\u0000|[0-9]{16}|[0-9][eE]|[\[:,]\s*-0")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One record with its problems, or only the reason why there is none; `done` counts what was read of the source."""

    number: int
    size: int
    done: int
    value: Any = None
    problems: tuple[str, ...] = ()
    # Of a table's row the key in its own column, by which messages name it.
    key: str = ""
    # And the columns that a field of the record comes from, in words.
    columns: Mapping[str, str] = field(default_factory=dict)


class Source(Protocol):
    """Records that can be read twice: once to check them, once to write them."""

    name: str
    format: str
    # What a number counts, in messages: "line 3".
    unit: str

    @property
    def total(self) -> int:
        """The amount to read, in the unit of `SourceLine.done`."""

    def lines(self) -> Iterator[SourceLine]:
        """The study's line first, then the items'."""

    def fingerprint(self) -> str:
        """The fingerprint of what the last complete reading saw."""

    def notes(self) -> dict[str, Any]:
        """Counts of what was coerced or counted while reading."""


class FileSource:
    """An Assay JSONL file."""

    format = "assay-jsonl-1"
    unit = "line"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._digest = hashlib.sha256()
        try:
            self._total = path.stat().st_size
        except OSError as error:
            raise Refused(f"{path} can't be read: {error.strerror}.") from None
        if not path.is_file():
            raise Refused(f"{path} is not a file.")

    @property
    def total(self) -> int:
        return self._total

    def fingerprint(self) -> str:
        return self._digest.hexdigest()

    def notes(self) -> dict[str, Any]:
        return {}

    def lines(self) -> Iterator[SourceLine]:
        self._digest = hashlib.sha256()
        try:
            with self.path.open("rb") as handle:
                yield from self._lines(handle)
        except OSError as error:
            raise Refused(f"{self.path} can't be read: {error.strerror}.") from error

    def _lines(self, handle: BinaryIO) -> Iterator[SourceLine]:
        number = done = 0
        while raw := handle.readline(MAX_LINE + 1):
            number += 1
            self._digest.update(raw)
            done += len(raw)
            if len(raw) > MAX_LINE and not raw.endswith(b"\n"):
                done += self._skip_rest(handle)
                yield SourceLine(number, 0, done, problems=(f"longer than {MAX_LINE // 1_000_000} MB",))
                continue
            raw = raw.removeprefix(BOM) if number == 1 else raw
            if raw.strip():
                yield parse_line(raw, number, done)

    def _skip_rest(self, handle: BinaryIO) -> int:
        """Skip to the next line without ever holding this one."""
        skipped = 0
        while raw := handle.readline(READ_SIZE):
            self._digest.update(raw)
            skipped += len(raw)
            if raw.endswith(b"\n"):
                break
        return skipped


def parse_line(raw: bytes, number: int, done: int) -> SourceLine:
    """The JSON object of one line."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return SourceLine(number, len(raw), done, problems=(_why_not_json(raw, error),))
    if not isinstance(value, dict):
        return SourceLine(number, len(raw), done, problems=("not a JSON object",))
    if twice := _key_twice(raw, value):
        return SourceLine(number, len(raw), done, problems=(f"the key {twice!r} appears twice",))
    found = dict.fromkeys(find_unstorable(value)) if SUSPECT.search(raw) else ()
    return SourceLine(number, len(raw), done, value, tuple(found))


class _Twice(Exception):
    """An object has this key twice."""


def _key_twice(raw: bytes, value: dict[str, Any]) -> str | None:
    """The first key that an object of the line has twice: readers differ in which of the two they take."""
    # What is written as it was read had each once. That is so of Assay's own dumps, and takes a tenth of the time.
    if orjson.dumps(value) == raw.strip():
        return None
    try:
        json.loads(raw, object_pairs_hook=_object)
    except _Twice as twice:
        return str(twice)
    except RecursionError:
        # orjson reads a little deeper; what is so deep fits no schema, and is refused by it.
        return None
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return found


def _why_not_json(raw: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return f"not UTF-8 (byte {wrong.start + 1} of the line)"
    if found := number_word(text):
        return f"not JSON: it holds {found[1]} (character {found[0]} of the line); a number that is missing is null"
    return f"not JSON: {error.msg} (character {error.colno} of the line)"


def find_unstorable(value: Any) -> Iterator[str]:
    """Find text that a database would refuse or return changed, so that hashes would not match."""
    if isinstance(value, str):
        if "\x00" in value:
            yield "contains the character U+0000, which databases don't store"
    elif isinstance(value, float):
        if abs(value) >= 2**53 or str(value) == "-0.0":
            yield f"contains the number {value}, which not every database keeps as it is"
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            yield from find_unstorable(each)
    elif isinstance(value, list):
        for each in value:
            yield from find_unstorable(each)

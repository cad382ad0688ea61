"""Shared parts of all releases: reading the file, refusing it with the place of each fault, serving as a source."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from evaluation.canonical import canonical_hash
from evaluation.dumps.lines import SourceLine
from evaluation.dumps.problems import Problems
from evaluation.protocols import Kind, Protocol
from evaluation.protocols.base import FORM
from evaluation.refusals import Refused

Record = dict[str, Any]
# The option of a release that may be several files or folders: those after the first.
BESIDE = "beside"


@dataclass
class ConversionResult:
    """A release as records of the dump format, and what was coerced and counted on the way."""

    study: Record
    items: list[Record] = field(default_factory=list)
    coerced: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)


Convert = Callable[[Sequence[Any]], ConversionResult]


@dataclass(frozen=True)
class Release:
    """Published data: how it is read from its file or folder, with the options that it knows."""

    key: str
    read: Callable[[Path, Mapping[str, Any]], ConversionResult]
    options: frozenset[str] = frozenset()


def list_release(key: str, convert: Convert, find: Callable[[Path], Path] = lambda path: path) -> Release:
    """A release that is one file with a list in JSON, which `find` finds where a folder is given."""
    return Release(key, lambda path, options: convert(load_json_list(find(path))))


class PublishedSource:
    """A converted release as a source for the one importer. Items are numbered from 1 in the release's order."""

    unit = "item"

    def __init__(self, name: str, release: str, converted: ConversionResult) -> None:
        self.name = name
        self.format = release
        self.converted = converted

    @property
    def total(self) -> int:
        return len(self.converted.items)

    def fingerprint(self) -> str:
        return ""  # it is in memory and can't change between the two readings

    def lines(self) -> Iterator[SourceLine]:
        yield SourceLine(0, 0, 0, self.converted.study)
        for number, item in enumerate(self.converted.items, 1):
            query = item["query"]
            asked = [query["text"]] if "text" in query else [each["text"] for each in query["turns"]]
            yield SourceLine(number, sum(map(len, asked)), number, item)

    def notes(self) -> dict[str, Any]:
        return {"coerced": dict(self.converted.coerced), "counted": dict(self.converted.counted)}


def load_json_list(path: Path) -> list[Any]:
    try:
        value = orjson.loads(path.read_bytes())
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}.") from None
    except orjson.JSONDecodeError as error:
        raise Refused(f"{path} is not JSON in UTF-8: {error.msg} (line {error.lineno}).") from None
    if not isinstance(value, list) or not value:
        raise Refused(f"{path} is not a list of judgments in JSON.")
    return value


def find_file(path: Path, name: str) -> Path:
    """The file of that name in the release's folder, or the path itself if it is that file."""
    found = path / name if path.is_dir() else path
    if not found.is_file():
        raise Refused(f"{found} is not there; the release is a folder with {name} in it.")
    return found


def load_json_lines(folder: Path, name: str, describe: Callable[[Record], str]) -> list[Record]:
    """The objects of one of the folder's files, a line each; refused with the lines that `describe` objects to."""
    path = folder / name
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}.") from None
    problems = Problems()
    records: list[Record] = []
    for number, line in enumerate(lines, 1):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            problems.add(f"{name}, line {number}", [f"is not JSON in UTF-8: {error.msg}"])
            continue
        wrong = describe(record) if isinstance(record, dict) else "not an object"
        if wrong:
            problems.add(f"{name}, line {number}", [wrong])
        records.append(record)
    problems.raise_if_any()
    return records


def wrong_types(record: Record, **types: type | tuple[type, ...]) -> str:
    """Sentences about fields that are missing or of the wrong type; a boolean is no number."""
    if missing := missing_fields(record, list(types)):
        return missing
    for name, wanted in types.items():
        value = record[name]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            return f"{name} is {value!r:.80}"
    return ""


def check_entries(entries: Sequence[Any], describe: Callable[[Any], str], *, of: str = "") -> None:
    """Refuse the file if `describe` finds something wrong with any entry; places are indices from 0.

    `of` names the file, in a release of several.
    """
    problems = Problems()
    for index, entry in enumerate(entries):
        wrong = describe(entry) if isinstance(entry, dict) else "not an object"
        if wrong:
            problems.add(f"{of}, entry {index}" if of else f"entry {index}", [wrong])
    problems.raise_if_any()


def missing_fields(entry: Record, fields: Sequence[str]) -> str:
    missing = [name for name in fields if name not in entry]
    return f"lacks {', '.join(missing)}" if missing else ""


class ResponseKeys:
    """A key per query, system and text: releases may hold several texts of one system for the same query."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], list[str]] = {}

    def key(self, query: str, system: str, text: str) -> str:
        """The system's key for its first text, then `system#2`, `system#3`, ..."""
        texts = self._texts.setdefault((query, system), [])
        digest = hashlib.sha256(text.encode()).hexdigest()
        if digest not in texts:
            texts.append(digest)
        at = texts.index(digest)
        return system if at == 0 else f"{system}#{at + 1}"

    @property
    def systems_with_several(self) -> int:
        return sum(len(texts) > 1 for texts in self._texts.values())


PLAIN_ARM = "NoCtxGen-NoCtxEval"


def study_record(protocol: str, title: str, render_as: str, seed: int = 1) -> Record:
    """A study in the one arm without context: what a release without contexts is."""
    arm = {
        "key": PLAIN_ARM,
        "label": "No context",
        "context_at_generation": False,
        "context_at_judging": False,
    }
    return {
        "assay": 1,
        "spec": {
            "protocol": protocol,
            "title": title,
            "seed": seed,
            "render_as": render_as,
            "arms": [arm],
        },
    }


def four_way_questions(protocol: Protocol) -> list[Record]:
    """The protocol's questions, with “both are bad” offered in its preferences."""
    return [
        replace(each, options={**each.options, FORM: {**each.form, "both_bad": True}}).as_json()
        if each.kind == Kind.PREFERENCE
        else each.as_json()
        for each in protocol.default_questions()
    ]


def short_key(text: str, limit: int) -> str:
    """The text as a key: itself where it fits, otherwise its start and a hash."""
    return text if 0 < len(text) <= limit else f"{text[: limit - 9]}-{canonical_hash(text)[:8]}"

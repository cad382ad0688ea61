"""Corpora: JSONL files in the one folder that the operator of an installation allows, named by their file's name.

A line is a fragment: `id`, `text`, and where there are some `title` and `source`. A corpus is read and indexed once for
as long as its file stays as it is; texts stay in the file, and are read from there when they are found.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from evaluation.refusals import Refused
from judging.retrieval.bm25 import Index, build_index

LONGEST_LINE = 1_000_000
CORPUS_FILES = "*.jsonl"
# Judgments of relevance and runs stand beside the corpora, under names of any ending.
ANY_FILES = "*"
FIELDS = ("id", "title", "text", "source")


@dataclass(frozen=True)
class FoundFragment:
    """A fragment of a corpus, and how well it fits what was searched for."""

    id: str
    title: str
    text: str
    source: str
    score: float


@dataclass(frozen=True)
class CorpusFile:
    """A corpus as it stands in the folder: its size in bytes, and its number of documents."""

    name: str
    size: int
    documents: int


class CorpusFolder:
    """The folder of corpora; where it is, is told by whoever knows the settings."""

    def __init__(self) -> None:
        self._place: Callable[[], str] = str

    def stands_at(self, place: Callable[[], str]) -> None:
        self._place = place

    def folder(self) -> Path:
        """The folder itself; Refused where the operator has set none."""
        allowed = self._place()
        if not allowed:
            raise Refused("This installation has no folder of corpora; its operator sets ASSAY_CORPORA.")
        return Path(allowed).resolve()

    def files(self) -> list[CorpusFile]:
        """The corpora that stand in the folder, by their names; Refused where there is no folder."""
        found = []
        for path in sorted(self.folder().glob(CORPUS_FILES)):
            with suppress(OSError):  # deleted meanwhile, or not to be read
                stands = path.stat()
                documents = _documents(path, stands.st_mtime_ns, stands.st_size)
                found.append(CorpusFile(path.name, stands.st_size, documents))
        return found

    def file(self, name: str, among: str = CORPUS_FILES) -> Path:
        """The file of this name in the folder; Refused where it is none, or leads out of it. `among` which files it is
        one, for the sentence that names what there is."""
        root = self.folder()
        if not name:
            raise Refused(f"Name a file in the folder of corpora. {self._known(root, among)}")
        # Links are followed first: one that leads out of the folder is refused, too.
        found = (root / name).resolve() if name.isprintable() else root
        if found == root or not found.is_relative_to(root):
            raise Refused(f"{name!r} is not inside the folder of corpora.")
        if not found.is_file():
            raise Refused(f"There is no file {name!r} in the folder of corpora. {self._known(root, among)}")
        return found

    def hint(self) -> str:
        """The names of the corpora, or why there are none, as a sentence."""
        try:
            return self._known(self.folder())
        except Refused as reason:
            return str(reason)

    @staticmethod
    def _known(root: Path, among: str = CORPUS_FILES) -> str:
        found = (each.name for each in root.glob(among) if each.is_file() and not each.name.startswith("."))
        names = sorted(found)
        none = "It has no .jsonl file." if among == CORPUS_FILES else "It has no file."
        return f"It has: {', '.join(names)}." if names else none


CORPORA = CorpusFolder()


@lru_cache(maxsize=256)
def _documents(path: Path, changed: int, size: int) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())


class Corpus:
    """An indexed corpus. `digest` is the sha256 of its file."""

    def __init__(self, path: Path, places: "array[int]", index: Index, digest: str) -> None:
        self._path, self._places, self._index = path, places, index
        self.digest = digest

    def __len__(self) -> int:
        return len(self._places)

    def search(self, text: str, most: int) -> list[FoundFragment]:
        """The fragments that fit a text best, the best first; those that share no word with it are none of them.
        Equals stand in the order of the file."""
        found = []
        with self._path.open("rb") as file:
            for row, score in self._index.best(text, most):
                file.seek(self._places[row])
                record = orjson.loads(file.readline())
                fields = {name: str(record.get(name) or "") for name in FIELDS}
                found.append(FoundFragment(**fields, score=score))
        return found


def open_corpus(name: str) -> Corpus:
    """The corpus of this name, indexed; Refused says in a sentence why it can't be."""
    path = CORPORA.file(name)
    try:
        stands = path.stat()
        with _LOADING:
            return _load(path, stands.st_mtime_ns, stands.st_size)
    except OSError as error:
        raise Refused(f"{name} can't be read: {error.strerror}.") from None


_LOADING = Lock()


@lru_cache(maxsize=2)
def _load(path: Path, changed: int, size: int) -> Corpus:
    places: array[int] = array("q")
    digest = hashlib.sha256()
    index = build_index(_texts(path, places, digest.update))
    if not places:
        raise Refused(f"{path.name} has no fragments.")
    return Corpus(path, places, index, digest.hexdigest())


def _texts(path: Path, places: "array[int]", seen: Callable[[bytes], object]) -> Iterator[str]:
    """The words of each line that BM25 looks at; where the line begins goes to `places`."""
    ids: set[str] = set()
    place = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            seen(line)
            if line.strip():
                record = read_fragment(line)
                if isinstance(record, str) or record["id"] in ids:
                    wrong = record if isinstance(record, str) else f"the id {record['id']} appears twice"
                    raise Refused(f"{path.name}, line {number}: {wrong}.")
                ids.add(record["id"])
                places.append(place)
                yield f"{record.get('title') or ''} {record['text']}"
            place += len(line)


def read_fragment(line: bytes) -> dict[str, Any] | str:
    """A line as a fragment, or what is wrong with it."""
    if len(line) > LONGEST_LINE:
        return f"it has more than {LONGEST_LINE:,} bytes"
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return "it is no JSON"
    if not isinstance(record, dict):
        return "it is no JSON object"
    for name in ("id", "text"):
        if not isinstance(record.get(name), str) or not record[name].strip():
            return f"{name} is no text"
    for name in ("title", "source"):
        if not isinstance(record.get(name) or "", str):
            return f"{name} is no text"
    return record

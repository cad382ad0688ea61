"""Entries of the library, read from their files, and the drafts that are made from them.

An entry is a JSON object: `name`, `about` (a sentence), `source`, `differs` (a sentence on what is not as it was
published; may be missing), `study` (what stands on a study's line in a dump, without what the demo's line has), and its
items to try: `items`, as in a dump, or `demo`, a file of the demo, with the keys of its items where not all are meant.
docs/formats.md describes them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.demo.studies import HERE as DEMO
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.imports.header import read_header
from evaluation.dumps.imports.items import ItemPreparer
from evaluation.dumps.lines import SourceLine
from evaluation.models import Role, Study
from evaluation.protocols import PROTOCOLS, Protocol
from evaluation.protocols.base import Spec, Stimulus
from evaluation.refusals import Refused
from evaluation.rendering.markdown import render_markdown
from evaluation.services.history import server_account

ENTRIES = Path(__file__).parent / "entries"
# The folders of entries, in their order on the page.
COLLECTIONS = {"papers": "From papers", "benchmarks": "From benchmarks and shared tasks"}
# Of the demo's line, only what its items need.
FROM_DEMO = ("arms", "attributes")

Record = Mapping[str, Any]


@dataclass(frozen=True)
class LibraryEntry:
    """A study to begin from: `study` is its line in a dump, `items` are the lines after it."""

    key: str
    collection: str
    name: str
    about: str
    source: str
    differs: str
    study: Record
    items: Sequence[Record]

    @property
    def spec(self) -> Spec:
        """The spec of the draft, with what the protocol brings."""
        return read_header(self.study, slug=self.key, protocol="", title="").study.spec

    @property
    def title(self) -> str:
        """The draft's title, as participants read it, who are not told the study's name."""
        title: str = self.spec["title"]
        return title

    @property
    def asked(self) -> list[str]:
        """The prompts of the questions that participants must answer."""
        return [each["prompt"] for each in self.spec["questions"] if each["required"]]

    @property
    def protocol(self) -> Protocol:
        return PROTOCOLS[self.spec["protocol"]]

    def first_stimulus(self) -> Stimulus:
        """The first item that is judged, as participants see it."""
        record = next(each for each in self.items if each.get("role", Role.MAIN) == Role.MAIN)
        stimulus = ItemPreparer([self.spec], render_markdown).prepare(record).stimulus
        assert stimulus is not None
        return stimulus


class EntrySource:
    """An entry as a dump that is read; without its items the study's line alone."""

    format = "library-1"
    unit = "line"

    def __init__(self, entry: LibraryEntry, *, items: bool) -> None:
        self.name = entry.name
        self._records: list[Record] = [entry.study, *(entry.items if items else ())]

    @property
    def total(self) -> int:
        return len(self._records)

    def lines(self) -> Iterator[SourceLine]:
        for number, record in enumerate(self._records, 1):
            yield SourceLine(number, len(json.dumps(record)), number, record)

    def fingerprint(self) -> str:
        return canonical_hash(self._records)

    def notes(self) -> dict[str, Any]:
        return {}


@lru_cache(maxsize=1)
def library() -> dict[str, LibraryEntry]:
    """All entries by their keys, in the order of their collections and files."""
    return {
        path.stem: _read(path) for folder in COLLECTIONS for path in sorted((ENTRIES / folder).glob("*.json"))
    }


def begin_from_entry(
    entry: LibraryEntry, *, slug: str, title: str, owner: Any = None, items: bool = True
) -> Study:
    """A draft made from the entry. None as its owner is whoever runs the server. Refused leaves nothing behind."""
    return import_dump(
        EntrySource(entry, items=items),
        slug=slug,
        title=title,
        owner=owner,
        by=owner or server_account(),
        said=f"Begun from the library: {entry.name}.",
    )


def find_entry(key: str) -> LibraryEntry:
    """The entry of that key, or Refused, which names those that there are."""
    found = library()
    if key not in found:
        raise Refused(f"The library has no entry {key!r}. There are: {', '.join(found)}.")
    return found[key]


def _read(path: Path) -> LibraryEntry:
    data = json.loads(path.read_text("utf-8"))
    study, items = {"assay": 1, **data["study"]}, data.get("items", [])
    if demo := data.get("demo"):
        line, *items = (json.loads(each) for each in (DEMO / demo["file"]).read_text("utf-8").splitlines())
        theirs = {name: line["spec"][name] for name in FROM_DEMO if name in line["spec"]}
        study = {"systems": line["systems"], **study, "spec": {**theirs, **study["spec"]}}
        wanted = demo.get("items", [each["key"] for each in items])
        items = [each for each in items if each["key"] in wanted]
    return LibraryEntry(
        key=path.stem,
        collection=path.parent.name,
        name=data["name"],
        about=data["about"],
        source=data["source"],
        differs=data.get("differs", ""),
        study=study,
        items=items,
    )

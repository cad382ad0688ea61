"""Tables as people have them, small, and what the importer makes of them without a database."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook

from evaluation.dumps.imports.checker import DumpChecker
from evaluation.dumps.tables.source import open_source

HEADER = ("prompt", "response_a", "response_b", "topic")
ROWS = [
    (f"Which soup number {n}?", f"Leek soup, {n} litres; it simmers.", f"Pea soup,\nfor {n}.", "food")
    for n in range(1, 31)
]


def delimited(rows: Any, header: Any = HEADER, separator: str = ",", encoding: str = "utf-8") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows([header, *rows] if header else rows)
    return out.getvalue().encode(encoding)


def workbook(rows: Any, merged: Any = (), sheets: Any = ()) -> bytes:
    book = Workbook()
    for name in sheets:
        book.create_sheet(name, 0)
    sheet = book[book.sheetnames[-1]]
    for row in rows:
        sheet.append(list(row))
    for cells in merged:
        sheet.merge_cells(cells)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def parquet(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def arrow(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()


@dataclass
class Read:
    """What a file came to: its map as lines, its items, its notices."""

    described: list[str]
    protocol: str
    items: list[dict[str, Any]]
    notices: tuple[str, ...]
    map: Any
    spec: dict[str, Any]

    @property
    def first(self) -> tuple[str, list[tuple[str, str]]]:
        item = self.items[0]
        return item["query"]["text"], [(each["system"], each["text"]) for each in item["responses"]]


def read(path: Path, **options: Any) -> Read:
    """Open and check the file as an import does; Refused if it would be."""
    opened = open_source(path, **options)
    assert opened.sheet is not None, "it was taken for Assay's own"
    assert opened.map is not None
    checker = DumpChecker(opened.source, slug="s", protocol="", title="", render=lambda text: text)
    checker.run(lambda phase, done, total: None)
    lines = [each.value for each in opened.source.lines()]
    return Read(
        opened.map.described(),
        lines[0]["spec"]["protocol"],
        lines[1:],
        opened.sheet.notices,
        opened.map,
        lines[0]["spec"],
    )


def write(path: Path, raw: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path

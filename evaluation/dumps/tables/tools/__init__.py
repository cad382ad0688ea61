"""Files of other tools, known by their form: one module each, whose entry is called `TOOL`.

A table that one of them tells is read as its plain table with the map that it gives; every other is read as it stands.
"""

import sys
from collections.abc import Iterable
from dataclasses import replace

from evaluation.dumps.tables.guess import guess_map, guess_protocol
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.table_map import TableMap
from evaluation.dumps.tables.tool import Tool
from evaluation.protocols import Protocol
from evaluation.refusals import Refused
from evaluation.registry import Registry, entries_in

TOOLS: Registry[Tool] = Registry(
    "tool",
    {
        "key": "its name in maps",
        "label": "what its files are called",
        "tells": "the function that knows its files",
        "read": "the function that makes a plain table of one",
    },
    lambda: entries_in(sys.modules[__name__], "TOOL"),
)


def tool_of(sheet: Sheet) -> Tool | None:
    """The tool whose file the table is."""
    return next((tool for tool in TOOLS.values() if tool.tells(sheet)), None)


def read_as(sheet: Sheet, key: str) -> tuple[Sheet, TableMap]:
    """The file of that tool as a plain table with its map; Refused where it is no such file."""
    if key not in TOOLS:
        raise Refused(f"The map reads the table as {key!r}, which is none of {', '.join(sorted(TOOLS))}.")
    tool = TOOLS[key]
    if not tool.tells(sheet):
        raise Refused(f"{sheet.name}: the map reads it as {tool.label}, and it is none.")
    plain, table_map = tool.read(sheet)
    said = f"Read as {tool.label}."
    return replace(plain, notices=(said, *plain.notices)), replace(table_map, read_as=key)


def guess_reading(
    sheet: Sheet, protocol: Protocol | None = None, key: str | None = None
) -> tuple[Sheet, TableMap]:
    """The table and its map as its form suggests; of `key` as that tool's file, of an empty one as it stands."""
    if key is None:
        tool = tool_of(sheet)
        key = tool.key if tool else ""
    if not key:
        return sheet, guess_map(sheet, protocol)
    plain, table_map = read_as(sheet, key)
    suggested = table_map.protocol or guess_protocol(table_map, plain)
    return plain, replace(table_map, protocol=protocol.key if protocol else suggested)


def read_by(sheet: Sheet, table_map: TableMap) -> Sheet:
    """The table that the map's columns are of."""
    return read_as(sheet, table_map.read_as)[0] if table_map.read_as else sheet


def fits(table_map: TableMap, sheet: Sheet) -> bool:
    """True where the table has all columns that the map names, read as it says."""
    try:
        columns: Iterable[str] = read_by(sheet, table_map).columns
    except Refused:
        return False
    return {each.column for each in table_map.columns} <= set(columns)

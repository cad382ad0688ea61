"""The responses of a row, each with its system."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.dumps.tables.cells import read_claims, read_replies, read_responses, structure_of
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.judgments.cells import places_of, response_names, whose_column
from evaluation.dumps.tables.records.cells import RowCells
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text, is_empty
from evaluation.dumps.tables.table_map import PER_ITEM
from evaluation.protocols import Protocol

MAX_KEY = 120


class ResponseReader:
    """Reads responses, in a column each or all in one cell."""

    def __init__(self, sheet: Sheet, cells: RowCells, protocol: Protocol) -> None:
        self.cells, self.map, self.protocol = cells, cells.map, protocol
        self.columns = self.map.named(ColumnRole.RESPONSE)
        self.systems = self.map.named(ColumnRole.SYSTEM)
        claims = self.map.named(ColumnRole.CLAIMS)
        names = response_names(sheet, self.map) if claims else set()
        self._claims = {use: whose_column(use, names) for use in claims}

    def columns_of(self, responses: Sequence[Mapping[str, Any]]) -> list[str]:
        """The columns of a row's responses; which cells they were can only be told where none was left out."""
        columns = [use.column for use in self.columns] if self.map.per == PER_ITEM else []
        return columns if len(columns) == len(responses) else []

    def of_row(self, row: SheetRow) -> tuple[list[dict[str, Any]], list[str]]:
        found: list[dict[str, Any]] = []
        problems: list[str] = []
        for at, use in enumerate(self.columns):
            cell = self.cells.cell(row, use.column)
            if is_empty(cell) and not self.map.keep_empty:
                # Where an item may have fewer responses, this one is missing; of a pair both have to be there.
                if self.protocol.compares_pairs and len(self.columns) == 2:
                    problems.append(f"the cell in column {use.column!r} is empty")
                continue
            system = use.system or use.column
            if self.systems:
                column = self.systems[at].column
                system = as_name(self.cells.cell(row, column))
                if not system:
                    problems.append(f"the cell in column {column!r} is empty, so the response has no system")
                    continue
            found.append(self.response(system, cell, use.column, problems))
        for use in self.map.named(ColumnRole.RESPONSES):
            pairs = read_responses(self.cells.cell(row, use.column))
            if pairs is None:
                problems.append(
                    f"the cell in column {use.column!r} is no JSON list or object of responses: "
                    f"{self.cells.quoted(row, use.column)}"
                )
                continue
            found += [self.response(system, text, use.column, problems) for system, text in pairs]
        self.add_claims(row, found, problems)
        return _with_keys(found), problems

    def add_claims(self, row: SheetRow, found: list[dict[str, Any]], problems: list[str]) -> None:
        """Give each response the claims in its column."""
        if not self._claims:
            return
        places = places_of(tuple(each["system"] for each in found), tuple(self.columns_of(found)))
        for use, (_, whose) in self._claims.items():
            claims = read_claims(self.cells.cell(row, use.column))
            at = places.get(whose)
            if claims and at is None and len(found) != 1:
                problems.append(
                    f"the cell in column {use.column!r} has claims, and the row has no such response"
                )
            elif claims:
                found[at or 0]["claims"] = claims

    def response(self, system: str, cell: Any, column: str, problems: list[str]) -> dict[str, Any]:
        system = short(system)
        if not self.protocol.drafts_entries:
            replies = read_replies(cell)
            return {"system": system} | ({"turns": replies} if replies else {"text": as_text(cell)})
        entries = structure_of(cell)
        if not isinstance(entries, list):
            problems.append(
                f"the cell in column {column!r} is no JSON list of entries: {as_text(cell)[:60]!r}"
            )
        return {"system": system, "entries": entries}


def _with_keys(responses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A second response of a system gets a key of its own."""
    times: dict[str, int] = {}
    for each in responses:
        number = times[each["system"]] = times.get(each["system"], 0) + 1
        if number > 1:
            each["key"] = short(f"{each['system']}#{number}")
    return responses


def tell_apart(responses: list[dict[str, Any]], question: int) -> None:
    """Keys for answers to a query's second question and to later ones: a system answers each."""
    if question > 1:
        for each in responses:
            each["key"] = short(f"{each.get('key', each['system'])}?{question}")


def short(text: str) -> str:
    """The text as a key: itself where it fits, otherwise its start and a hash."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_KEY else f"{text[: MAX_KEY - 9]}-{canonical_hash(text)[:8]}"

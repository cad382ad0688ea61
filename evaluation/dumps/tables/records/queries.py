"""The query of a row, and the context that belongs to it."""

from typing import Any

from evaluation.dumps.tables.cells import (
    read_documents,
    read_follow_ups,
    read_prompt,
    read_references,
    read_turns,
    read_turns_before,
)
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.records.cells import RowCells
from evaluation.dumps.tables.sheet import SheetRow, as_text, is_conversation, is_empty
from evaluation.dumps.tables.table_map import PER_RESPONSE
from evaluation.protocols import Protocol


class QueryReader:
    """Reads what was asked, in the columns that the map names or before the responses of conversations."""

    def __init__(self, cells: RowCells, protocol: Protocol) -> None:
        self.cells, self.map, self.protocol = cells, cells.map, protocol
        self.responses = cells.map.named(ColumnRole.RESPONSE)

    def prompt(self, row: SheetRow) -> str:
        cells = [self.cells.cell(row, use.column) for use in self.map.named(ColumnRole.PROMPT)]
        if not cells and self.responses:
            return read_turns_before(self.cells.cell(row, self.responses[0].column))
        return "\n\n".join(text for cell in cells if (text := read_prompt(cell)))

    def _turns(self, row: SheetRow) -> list[dict[str, str]]:
        """The conversation that was had, in the one column of prompts or before the responses."""
        cells = [cell for _, cell in self.cells.of(row, ColumnRole.PROMPT)]
        if (
            not cells
            and self.responses
            and is_conversation(cell := self.cells.cell(row, self.responses[0].column))
        ):
            cells = [cell[:-1]]
        return read_turns(cells[0]) if len(cells) == 1 else []

    def differ_before(self, row: SheetRow) -> list[str]:
        """The columns of whole conversations, where what was said before the last message is not the same."""
        if self.map.named(ColumnRole.PROMPT) or self.map.per == PER_RESPONSE:
            return []
        cells = {use.column: self.cells.cell(row, use.column) for use in self.responses}
        said = {read_turns_before(cell) for cell in cells.values() if not is_empty(cell)}
        return [*cells] if len(said) > 1 else []

    def content(self, row: SheetRow, prompt: str) -> dict[str, Any]:
        """The query without its key; the same content is the same query, whose key is that of its first item."""
        turns = self._turns(row)
        content: dict[str, Any] = {"turns": turns} if turns else {"text": prompt}
        for name, role in (("category", ColumnRole.CATEGORY), ("source", ColumnRole.SOURCE)):
            if text := self.cells.name(row, role):
                content[name] = text
        if need := self.cells.text(row, ColumnRole.NEED):
            content["information_need"] = need
        references = [
            each for _, cell in self.cells.of(row, ColumnRole.REFERENCE) for each in read_references(cell)
        ]
        documents = [
            each for _, cell in self.cells.of(row, ColumnRole.DOCUMENT) for each in read_documents(cell)
        ]
        if references:
            content["references"] = references
        if documents and self.protocol.has_needs:
            content["document"] = "\n\n".join(as_text(each.get("text")) for each in documents)
        elif documents:
            content["documents"] = documents
        return content

    def follow_ups(self, row: SheetRow) -> dict[str, Any] | None:
        """The context without its key."""
        cells = self.cells.of(row, ColumnRole.CONTEXT)
        follow_ups = [each for column, cell in cells for each in read_follow_ups(cell, column)]
        if not follow_ups:
            return None
        source = self.cells.name(row, ColumnRole.CONTEXT_SOURCE)
        return {"follow_ups": follow_ups, **({"source": source} if source else {})}

"""The cells of a row, by the roles that a map gives their columns."""

from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text
from evaluation.dumps.tables.table_map import TableMap


class RowCells:
    """Reads rows of a table by its map."""

    def __init__(self, sheet: Sheet, table_map: TableMap) -> None:
        self.map = table_map
        self._at = {column: at for at, column in enumerate(sheet.columns)}

    def of(self, row: SheetRow, role: ColumnRole) -> list[tuple[str, Any]]:
        """Column and cell of each use of the role."""
        return [(use.column, self.cell(row, use.column)) for use in self.map.named(role)]

    def cell(self, row: SheetRow, column: str) -> Any:
        return row.cells[self._at[column]]

    def text(self, row: SheetRow, role: ColumnRole) -> str:
        uses = self.map.named(role)
        return as_text(self.cell(row, uses[0].column)) if uses else ""

    def name(self, row: SheetRow, role: ColumnRole) -> str:
        return self.text(row, role).strip()

    def listed(self, row: SheetRow, role: ColumnRole) -> list[str]:
        """Keys in a cell, separated by commas, semicolons or line breaks, or a JSON list."""
        uses = self.map.named(role)
        cell = self.cell(row, uses[0].column) if uses else None
        found = structure_of(cell)
        if isinstance(found, list):
            return [as_name(each) for each in found]
        parts = as_text(cell).replace(";", ",").replace("\n", ",").split(",")
        return [part.strip() for part in parts if part.strip()]

    def quoted(self, row: SheetRow, column: str) -> str:
        return repr(as_text(self.cell(row, column))[:60])

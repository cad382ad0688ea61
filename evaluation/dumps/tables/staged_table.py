"""An uploaded table before its import: its first rows, with the map as it is so far or as it is guessed."""

from dataclasses import replace
from pathlib import Path

from evaluation.dumps.tables.formulas import FormulaNote, formula_notes
from evaluation.dumps.tables.reading import read_table
from evaluation.dumps.tables.sample import ROWS, MapSample, sample
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.source import TableSource, arms_of
from evaluation.dumps.tables.study_design import design_of, take_design
from evaluation.dumps.tables.table_map import TableMap, absent_columns, complete_map, map_of_json
from evaluation.dumps.tables.tool import Tool
from evaluation.dumps.tables.tools import fits, guess_reading, read_by, tool_of
from evaluation.models import RenderAs, Study
from evaluation.protocols import PROTOCOLS, Protocol
from evaluation.refusals import Refused
from evaluation.rendering.mathematics import SPELLINGS


class StagedTable:
    """A table with its map as it is corrected so far, and the study that it is for, None for a new one."""

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        study: Study | None = None,
        kept: TableMap | None = None,
        protocol: str = "",
    ) -> None:
        self.path, self.name, self.study = path, name, study
        # Of a new study, what was said of it.
        self._protocol = protocol
        before = kept or map_of_json(study.table_map if study else None)
        self.file = self._read(kept.sheet if kept else "", kept.header if kept else None)
        self._readings = {(self.file.sheet, self.file.has_header): self.file}
        self.is_guess = kept is None
        if before and fits(before, self.file):
            self.sheet = read_by(self.file, before)
            self.map = complete_map(before, self.sheet.columns)
        else:
            self.sheet, guessed = guess_reading(self.file, self.protocol)
            self.map = take_design(guessed, self.sheet, design_of(study))

    @property
    def protocol(self) -> Protocol | None:
        """The study's, or what was said for a new one; None where it is to be guessed."""
        return PROTOCOLS.get(self.study.protocol if self.study else self._protocol)

    def _read(self, sheet: str, header: bool | None) -> Sheet:
        return read_table(self.path, name=self.name, sheet=sheet, header=header, limit=ROWS)

    def reread(self, table_map: TableMap) -> TableMap:
        """The map for another sheet, with the first row read otherwise, or as another tool's file: its columns are
        others."""
        self.file = self._read(table_map.sheet, table_map.header)
        is_told = self.tool is not None and self.tool.key == table_map.read_as
        self.sheet, guessed = guess_reading(
            self.file,
            PROTOCOLS[table_map.protocol] if table_map.protocol else self.protocol,
            table_map.read_as if is_told else "",
        )
        guessed = take_design(guessed, self.sheet, design_of(self.study))
        shown = {each.rule: getattr(table_map, each.rule) for each in SPELLINGS.values()}
        return replace(guessed, header=table_map.header, **shown)

    def given(self, table_map: TableMap, protocol: str = "") -> TableMap:
        """A map that was written down, for this table; Refused if it names columns that the table lacks."""
        if absent := self.absent(table_map):
            raise Refused(f"The table has no column {absent}, which this map names.")
        return replace(
            table_map,
            sheet=self._sheet_of(table_map),
            protocol=protocol or table_map.protocol or self.map.protocol,
        )

    def absent(self, table_map: TableMap) -> str:
        """The columns that the map names and the table lacks, read as the map says; Refused if it can't be so read."""
        return absent_columns(table_map, read_by(self._as_read(table_map), table_map))

    def _sheet_of(self, table_map: TableMap) -> str:
        return table_map.sheet if table_map.sheet in self.sheet.sheets else self.sheet.sheet

    def _as_read(self, table_map: TableMap) -> Sheet:
        """The file's rows on the map's sheet, its first row the header or not, as the map says."""
        way = (self._sheet_of(table_map), table_map.header)
        if way not in self._readings:
            self._readings[way] = self._read(*way)
        return self._readings[way]

    @property
    def tool(self) -> Tool | None:
        """The tool whose file it is, whichever way it is read."""
        return tool_of(self.file)

    def formulas(self) -> list[FormulaNote]:
        """Sentences on mathematics, by the study's rules or those of the one that the table makes."""
        is_markdown = self.study is None or self.study.render_as == RenderAs.MARKDOWN
        of = self.map if self.study is None else self.study
        rules = {each.rule: getattr(of, each.rule) for each in SPELLINGS.values()}
        return [*formula_notes(self.sheet, self.map, rules, is_markdown=is_markdown)]

    def source(self) -> TableSource:
        protocol = PROTOCOLS[self.study.protocol if self.study else self.map.protocol]
        source = TableSource(self.sheet, self.map, protocol, arms=arms_of(self.study))
        source.design = design_of(self.study)
        return source

    def sample(self) -> MapSample:
        return sample(self.source(), self.study)

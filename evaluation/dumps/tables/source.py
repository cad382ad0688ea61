"""A mapped table as a source for the one importer, and a file of any kind opened as the source that it is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.dumps.lines import FileSource, Source, SourceLine
from evaluation.dumps.release import PLAIN_ARM, four_way_questions, study_record
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.gold_cells import says_both_bad
from evaluation.dumps.tables.guess import guess_map
from evaluation.dumps.tables.judgments.checks import judgment_notes, judgment_problems
from evaluation.dumps.tables.judgments.reader import JudgmentReader
from evaluation.dumps.tables.readers.box import is_own_format
from evaluation.dumps.tables.reading import read_table
from evaluation.dumps.tables.records.maker import KnownContent, MappedRow, RecordMaker
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.study_design import StudyDesign, design_problems, take_design
from evaluation.dumps.tables.table_map import TableMap, complete_map, map_problems
from evaluation.dumps.tables.tools import guess_reading, read_by
from evaluation.models import Study
from evaluation.protocols import PROTOCOLS, Kind, Protocol
from evaluation.protocols.requirements.needs import MAX_NAME, Needs
from evaluation.refusals import Refused
from evaluation.services.studies.creation import PAPER_ARMS

PLAIN = {"key": PLAIN_ARM, "label": "No context", "context_at_generation": False, "context_at_judging": False}
# Fields of an item's record, in which faults are told, by the columns that they are made of.
FIELDS = {
    "key": (ColumnRole.KEY,),
    "query": (ColumnRole.PROMPT,),
    "responses": (ColumnRole.RESPONSE, ColumnRole.RESPONSES, ColumnRole.SYSTEM),
    "context": (ColumnRole.CONTEXT, ColumnRole.ATTRIBUTES),
    "attributes": (ColumnRole.ATTRIBUTES,),
    "gold": (ColumnRole.GOLD,),
    "clarifying_question": (ColumnRole.CLARIFYING,),
    "the study has no arm": (ColumnRole.ARM,),
}
WITH_CONTEXT = {"context_at_generation": True, "context_at_judging": True, **PAPER_ARMS[-1]}


class TableSource:
    """Items from a table. `arms` are those of the study that they are for; without them the source brings a study."""

    format = "table"

    def __init__(
        self, sheet: Sheet, table_map: TableMap, protocol: Protocol, *, arms: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self.name = sheet.name
        self.unit = sheet.unit
        self.sheet = sheet
        self.map = table_map
        self.protocol = protocol
        self.arms = arms
        self.design: StudyDesign | None = None
        self.known = KnownContent()
        # Numbers of rows that are left out.
        self.skip: Collection[int] = ()

    @property
    def total(self) -> int:
        return len(self.sheet.rows)

    def fingerprint(self) -> str:
        return ""  # it is in memory and can't change between the two readings

    def notes(self) -> dict[str, Any]:
        return {"map": self.map.as_json()} | ({"left_out_rows": len(self.skip)} if self.skip else {})

    def lines(self) -> Iterator[SourceLine]:
        """Refused at once where the map does not fit the table: then each row would have the same fault."""
        problems = map_problems(self.map, self.sheet, self.protocol)
        problems += design_problems(self.map, self.sheet, self.design)
        problems += judgment_problems(self.map, self.sheet, self.protocol, is_new=not self.arms)
        if problems:
            raise Refused(*(f"{self.sheet.place}: {problem}." for problem in problems))
        arms = self.arms or new_arms(self.map, self.protocol)
        maker = self._maker(arms)
        rows = maker.rows()
        if not self.arms:
            study = self._study(arms)
            if maker.judgments is not None or self.protocol.has_needs:
                # What the rows hold decides what the study asks, and what its items need.
                read = [*rows]
                rows = iter(read)
                items = [each for row in read for each in row.records]
                study["spec"] |= self._form(study["spec"], maker.judgments, items)
            yield SourceLine(0, 0, 0, study)
        done, columns = 0, columns_by_field(self.map)
        for mapped in rows:
            done, wrong = min(done + 1, self.total), tuple(mapped.problems)
            line = SourceLine(
                mapped.number, mapped.size, done, problems=wrong, key=mapped.key, columns=columns
            )
            yield from (
                [line] if mapped.problems else (replace(line, value=record) for record in mapped.records)
            )

    def mapped_rows(self) -> Iterator[MappedRow]:
        yield from self._maker(self.arms or new_arms(self.map, self.protocol)).rows()

    def _maker(self, arms: Sequence[Mapping[str, Any]]) -> RecordMaker:
        return RecordMaker(self.sheet, self.map, self.protocol, arms, self.known, self.skip)

    def judgment_notes(self) -> list[str]:
        """Sentences on the judgments that its rows hold; none where there are none, or where it would be refused."""
        if not self.map.has_judgments:
            return []
        with suppress(Refused):
            found = [each for line in self.lines() for each in (line.value or {}).get("judgments", ())]
            raters = {each["rater"] for each in found}
            return judgment_notes(self.sheet, self.map, len(found), len(raters)) if found else []
        return []

    def _study(self, arms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The line of a new study, whose form offers what is right in the table."""
        record = study_record(self.protocol.key, title_of(self.sheet.name), "markdown")
        rules = {
            "show_images": self.sheet.has_images,
            "single_dollars": self.map.single_dollars,
            "written_formulas": self.map.written_formulas,
        }
        more: dict[str, Any] = {name: True for name, is_on in rules.items() if is_on}
        golds = [cell for each in self.map.named(ColumnRole.GOLD) for cell in self.sheet.values(each.column)]
        if self.protocol.compares_pairs and any(says_both_bad(cell) for cell in golds):
            more["questions"] = four_way_questions(self.protocol)
        return {**record, "spec": {**record["spec"], **more, "arms": list(arms)}}

    def _form(
        self, spec: Mapping[str, Any], judgments: JudgmentReader | None, items: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The part of a new study's spec that its items and their judgments decide."""
        form = {"questions": judgments.asked.as_json(spec.get("questions", ()))} if judgments else {}
        if not self.protocol.has_needs:
            return form
        counts = [len(each["responses"]) for each in items]
        compares = {Kind.PREFERENCE, Kind.RANKING} & {each["kind"] for each in form.get("questions", ())}
        least = max(min(counts, default=1), 2 if compares else 0)
        documents = [use.column for use in self.map.named(ColumnRole.DOCUMENT)]
        needs = Needs(
            query=any(each["query"].get("text") or each["query"].get("turns") for each in items),
            least=least,
            most=max(least, *counts, 0),
            document=documents[0][:MAX_NAME] if documents else "",
        )
        return {**form, "needs": needs.as_json()}


def columns_by_field(table_map: TableMap) -> dict[str, str]:
    """The columns that each field of an item's record comes from, in words."""
    found: dict[str, str] = {}
    for name, roles in FIELDS.items():
        if columns := [repr(use.column) for use in table_map.named(*roles)]:
            found[name] = f"column{'s' * (len(columns) > 1)} {', '.join(columns)}"
    return found


def new_arms(table_map: TableMap, protocol: Protocol) -> list[Mapping[str, Any]]:
    """The arm of a study that a table makes: with context, if a column has it for those who compare responses."""
    shows_context = (
        table_map.named(ColumnRole.CONTEXT)
        and ColumnRole.CONTEXT not in protocol.needed_columns
        and not protocol.has_attributes
    )
    return [WITH_CONTEXT if shows_context else PLAIN]


def arms_of(study: Study | None) -> list[Mapping[str, Any]]:
    """The arms of a study that is there; those of a new one follow from its table."""
    return (
        [] if study is None else list(study.arms.values("key", "context_at_generation", "context_at_judging"))
    )


def title_of(name: str) -> str:
    """A study's title from the name of its file."""
    words = " ".join(Path(name).stem.replace("_", " ").replace("-", " ").split())
    return (words[:1].upper() + words[1:])[:200] or "Study"


@dataclass(frozen=True)
class Opened:
    """A file as a source; of a table also the map that it was read with and whether that was guessed."""

    source: Source
    sheet: Sheet | None = None
    map: TableMap | None = None
    guessed: bool = False


def open_source(
    path: Path,
    *,
    name: str = "",
    protocol: str = "",
    table_map: TableMap | None = None,
    arms: Sequence[Mapping[str, Any]] = (),
    sheet: str = "",
    design: StudyDesign | None = None,
) -> Opened:
    """Assay's own JSONL as it is, every other file as a table, by the map, or as its form says.

    `protocol` goes before the map's; what neither says is guessed.
    """
    if not path.exists() or (table_map is None and is_own_format(path)):
        source = FileSource(path)
        source.name = name or path.name
        return Opened(source)
    read = read_table(
        path,
        name=name,
        sheet=sheet or (table_map.sheet if table_map else ""),
        header=table_map.header if table_map else None,
    )
    wanted = protocol or (table_map.protocol if table_map else "")
    if table_map:
        read = read_by(read, table_map)
        used = complete_map(table_map, read.columns + _absent(table_map, read))
    else:
        read, used = guess_reading(read, PROTOCOLS.get(wanted))
        used = take_design(used, read, design)
    # A map of no protocol is of the one that such a table is for.
    described = PROTOCOLS[wanted or used.protocol or guess_map(read).protocol]
    table = TableSource(read, used, described, arms=arms)
    table.design = design
    return Opened(table, read, used, guessed=table_map is None)


def _absent(table_map: TableMap, sheet: Sheet) -> tuple[str, ...]:
    """Columns that the map uses and the table lacks, so that they are named."""
    return tuple(
        each.column
        for each in table_map.columns
        if each.role != ColumnRole.IGNORED and each.column not in sheet.columns
    )

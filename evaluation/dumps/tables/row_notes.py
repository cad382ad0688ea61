"""Oddities of a table's rows that keep nothing out, said before the import: sentences with their rows."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from evaluation.dumps.problems import Problems
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.records.maker import MappedRow
from evaluation.dumps.tables.sheet import SheetRow, ShownNumber, as_name, as_text, is_empty
from evaluation.dumps.tables.source import TableSource
from evaluation.dumps.tables.table_map import map_problems

TEXTS = (
    ColumnRole.PROMPT,
    ColumnRole.RESPONSE,
    ColumnRole.REFERENCE,
    ColumnRole.DOCUMENT,
    ColumnRole.CONTEXT,
    ColumnRole.CLARIFYING,
)
OF_RESPONSES = (ColumnRole.RESPONSE, ColumnRole.RESPONSES, ColumnRole.SYSTEM)
# Words of programs and people for "there is nothing".
NOTHING = {"n/a", "na", "n.a.", "nan", "none", "null", "nil", "-", "--", ".", "...", "?", "#n/a",
           "#value!", "#ref!", "#div/0!", "#name?", "#num!", "#null!"}  # fmt: skip
# Where Excel cuts a text, in UTF-16 units; and where older programs do, which one text may reach by chance.
CELL, FIELD = 32_767, 255
# A whole number of JSON or Parquet that is kept as a fraction is sure of its first fifteen digits.
MOST_DIGITS = 10**15
ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d+", re.IGNORECASE)


def row_notes(source: TableSource) -> list[str]:
    """Sentences on the rows that would be imported, each with its rows, as errors have them; none where the map does
    not fit the table, which its check says."""
    if map_problems(source.map, source.sheet, source.protocol):
        return []
    by_cell, by_record = Problems(), Problems()
    notes_of_cells = _cell_notes(source)
    for row in source.sheet.rows:
        if row.number not in source.skip:
            by_cell.add(f"{source.unit} {row.number}", notes_of_cells(row))
    seen = _Seen()
    for mapped in source.mapped_rows():
        notes = [] if mapped.problems else [*seen.notes(mapped)]
        by_record.add(f"{source.unit} {mapped.number}", notes, mapped.key)
    return [*by_cell.sentences, *by_record.sentences]


def query_notes(source: TableSource) -> list[str]:
    """The same where its queries alone are read: what there is of responses is no matter."""
    of_queries = [use for use in source.map.columns if use.role not in OF_RESPONSES]
    alone = TableSource(
        source.sheet, replace(source.map, columns=tuple(of_queries)), source.protocol, arms=source.arms
    )
    by_cell, by_record = Problems(), Problems()
    notes_of_cells = _cell_notes(alone)
    for row in source.sheet.rows:
        by_cell.add(f"{source.unit} {row.number}", notes_of_cells(row))
    seen = _Seen(again="the prompt comes again, and is one query")
    for mapped in source.mapped_rows():
        by_record.add(f"{source.unit} {mapped.number}", seen.notes_of_query(mapped))
    return [*by_cell.sentences, *by_record.sentences]


# --- cells -----------------------------------------------------------------------------------------------------------


def _cell_notes(source: TableSource) -> Callable[[SheetRow], list[str]]:
    sheet, table_map, protocol = source.sheet, source.map, source.protocol
    at = {column: place for place, column in enumerate(sheet.columns)}
    texts = [use.column for use in table_map.named(*TEXTS) if use.column in at]
    responses = [use.column for use in table_map.named(ColumnRole.RESPONSE)]
    keys = [use.column for use in table_map.named(ColumnRole.KEY)]
    used = [use.column for use in table_map.columns if use.role != ColumnRole.IGNORED and use.column in at]
    cut = {column for column in texts if _is_cut(sheet.values(column))}
    empty_is_wrong = protocol.compares_pairs and len(responses) == 2 and not table_map.keep_empty

    def notes(row: SheetRow) -> list[str]:
        found = []
        for column in used:
            cell = row.cells[at[column]]
            if is_empty(cell):
                if column in responses and not empty_is_wrong:
                    meant = "an empty response" if table_map.keep_empty else "no response"
                    found.append(f"the cell in column {column!r} is empty, which is {meant}")
            elif _has_lost_digits(cell):
                found.append(
                    f"the number in column {column!r} has more than 15 digits, of which a spreadsheet keeps 15; "
                    "format the column as text where it is filled in"
                )
            elif column in keys and ROUNDED.fullmatch(as_name(cell)):
                found.append(
                    f"the key in column {column!r}, {as_name(cell)!r}, is a number that a spreadsheet rounded"
                )
            elif column in texts:
                found += _text_notes(column, as_text(cell), is_cut=column in cut)
        return found

    return notes


def _has_lost_digits(cell: Any) -> bool:
    if isinstance(cell, ShownNumber):
        return cell.has_lost_digits
    return isinstance(cell, float) and abs(cell) >= MOST_DIGITS and cell.is_integer()


def _is_cut(values: list[Any]) -> bool:
    """True where two texts or more have the length at which older programs cut, and none is longer."""
    lengths = [len(as_text(each)) for each in values]
    return max(lengths, default=0) == FIELD and lengths.count(FIELD) > 1


def _text_notes(column: str, text: str, *, is_cut: bool) -> Iterator[str]:
    if text.strip().casefold() in NOTHING:
        yield f"the text in column {column!r} is {text.strip()!r}"
    if is_cut and len(text) == FIELD:
        yield f"the text in column {column!r} has exactly {FIELD} characters, where programs cut, and none has more"
    if CELL // 2 < len(text) <= CELL and len(text.encode("utf-16-le", "replace")) == 2 * CELL:
        yield f"the text in column {column!r} has exactly {CELL:,} characters, where Excel cuts"


# --- items -----------------------------------------------------------------------------------------------------------


class _Seen:
    """Prompts and categories of the rows before. `again` says what a prompt is that comes again."""

    def __init__(
        self, again: str = "the prompt comes again: one query, of which each row is an item"
    ) -> None:
        self.again = again
        self.queries: set[str] = set()
        self.texts: set[str] = set()
        self.prompts: dict[str, str] = {}
        self.categories: dict[str, str] = {}

    def notes(self, mapped: MappedRow) -> Iterator[str]:
        if mapped.renamed:
            yield "the key comes again, and a number is put behind it"
        if any(_has_twins(record["responses"]) for record in mapped.records):
            yield "two responses are the same text"
        yield from self.notes_of_query(mapped)

    def notes_of_query(self, mapped: MappedRow) -> Iterator[str]:
        if not mapped.records:
            # It judges an item of a row before.
            return
        query = mapped.records[0]["query"]
        prompt, category = str(query.get("text", "")), query.get("category", "")
        if query["key"] in self.queries:
            yield self.again
        elif prompt and self.prompts.setdefault(_plain(prompt), prompt) != prompt:
            yield "the prompt differs from one before only by case or white space, and is another query"
        elif prompt and prompt in self.texts:
            yield "the prompt comes again beside another category, source, reference or document: another query"
        self.texts.add(prompt)
        self.queries.add(query["key"])
        if category and (known := self.categories.setdefault(_plain(category), category)) != category:
            yield f"the category {category!r} differs from {known!r} only by case or white space, and is another one"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _has_twins(responses: list[dict[str, Any]]) -> bool:
    texts = [each["text"].strip() for each in responses if each.get("text")]
    return len(set(texts)) < len(texts)

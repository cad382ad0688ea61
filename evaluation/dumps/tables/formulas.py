"""Mathematics in a table's responses and documents: which spellings stand in them, and whether they will be shown as
mathematics."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.counting import counted
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_text
from evaluation.dumps.tables.table_map import TableMap
from evaluation.rendering.mathematics import SINGLE

RENDERED = (ColumnRole.RESPONSE, ColumnRole.RESPONSES, ColumnRole.DOCUMENT)
# Of JSON in a cell the backslash is written twice.
DELIMITED = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\]|\$\$.+?\$\$", re.DOTALL)


@dataclass(frozen=True)
class FormulaNote:
    """A spelling that was found. `turn`: the other way of showing it, where one click chooses it; empty elsewhere."""

    text: str
    turn: str = ""
    turned: bool = False


def formula_notes(
    sheet: Sheet, table_map: TableMap, *, single_dollars: bool, is_markdown: bool
) -> Iterator[FormulaNote]:
    """A note for each spelling in the rows that were read, first the one that a click decides."""
    columns = {use.column for use in table_map.named(*RENDERED)} & set(sheet.columns)
    texts = [as_text(each) for column in columns for each in sheet.values(column)]
    if dollars := sum(SINGLE.search(text) is not None for text in texts):
        yield _note(dollars, "$…$", shown=is_markdown and single_dollars, may_turn=is_markdown)
    if delimited := sum(DELIMITED.search(text) is not None for text in texts):
        yield _note(delimited, r"\(…\), \[…\] or $$…$$", shown=is_markdown, may_turn=False)


def _note(n: int, spelling: str, *, shown: bool, may_turn: bool) -> FormulaNote:
    holds = "holds" if n == 1 else "hold"
    will = "will be shown as mathematics" if shown else "will be shown as written"
    said = f"{counted(n, 'text')} {holds} {spelling}, which {will}."
    if not may_turn:
        return FormulaNote(said)
    return FormulaNote(said, f"Show {spelling} {'as written' if shown else 'as mathematics'}", not shown)

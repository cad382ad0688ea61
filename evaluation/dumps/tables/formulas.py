"""Mathematics in a table's prompts, responses and documents: which spellings stand in them, and whether they will be
shown as mathematics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluation.counting import counted
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_text
from evaluation.dumps.tables.table_map import TableMap
from evaluation.rendering.mathematics import SPELLINGS

RENDERED = (ColumnRole.PROMPT, ColumnRole.RESPONSE, ColumnRole.RESPONSES, ColumnRole.DOCUMENT)


@dataclass(frozen=True)
class FormulaNote:
    """A spelling that was found, by its key. `turn`: the other way of showing it, which one click chooses; empty where
    none can be chosen."""

    spelling: str
    text: str
    turn: str = ""
    turned: bool = False


def formula_notes(
    sheet: Sheet, table_map: TableMap, rules: Mapping[str, bool], *, is_markdown: bool
) -> Iterator[FormulaNote]:
    """A note for each spelling in the rows that were read, by these rules of the study."""
    columns = {use.column for use in table_map.named(*RENDERED)} & set(sheet.columns)
    texts = [as_text(each) for column in columns for each in sheet.values(column)]
    for key, spelling in SPELLINGS.items():
        if n := sum(spelling.found.search(text) is not None for text in texts):
            shown = rules[spelling.rule] is spelling.shows
            yield _note(key, spelling.name, n, shown=shown, is_markdown=is_markdown)


def _note(key: str, name: str, n: int, *, shown: bool, is_markdown: bool) -> FormulaNote:
    holds = "holds" if n == 1 else "hold"
    will = "will be shown as mathematics" if shown and is_markdown else "will be shown as written"
    said = f"{counted(n, 'text')} {holds} {name}, which {will}."
    if not is_markdown:
        return FormulaNote(key, said)
    return FormulaNote(key, said, f"Show {name} {'as written' if shown else 'as mathematics'}", not shown)

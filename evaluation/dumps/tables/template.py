"""A table to fill in for a study: the columns that its protocol needs, and one line as an example."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.protocols import Protocol
from evaluation.protocols.requirements.needs import read_needs

SUFFIXES = {"csv": "text/csv", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
FOLLOW_UPS = "For how many people? [One | Two | Six] Two\nIs there anything you don't eat? [Nothing | Nuts | Meat] Nuts"
ENTRIES = '[{"condition": "The first bridge", "answers": ["1894"], "citations": [1]}]'
EXAMPLES: dict[ColumnRole, str] = {
    ColumnRole.KEY: "soup",
    ColumnRole.PROMPT: "Which soup can I make tonight?",
    ColumnRole.CATEGORY: "food",
    ColumnRole.REFERENCE: "Leek and potato: half an hour, and you have all of it at home.",
    ColumnRole.NEED: "Find a soup for two that takes less than an hour.",
    ColumnRole.CLARIFYING: "For how many people do you cook?",
    ColumnRole.DOCUMENT: "Leek and potato soup simmers for twenty minutes.",
    ColumnRole.CONTEXT: FOLLOW_UPS,
}
ANSWERS = (
    "For the two of you: **leek and potato**. Half an hour.",
    "A pot of pea soup feeds six, and takes two hours.",
    "Tomato soup from a tin is ready in five minutes.",
    "Soup is a liquid dish.",
)


def template_rows(
    protocol: Protocol,
    arms: Sequence[Mapping[str, Any]],
    attributes: Sequence[str],
    systems: Sequence[str],
    needs: Mapping[str, Any] | None = None,
) -> tuple[list[str], list[str]]:
    """The names of the columns and an example line. Responses are headed by the study's systems, where it has some;
    `needs` are those of a study that says itself what an item has."""
    fewest, most = protocol.response_counts
    own = read_needs(needs or {}) if protocol.has_needs else None
    if own is not None:
        fewest, most = own.least, own.most
    wanted = max(fewest, min(most, len(systems) or (2 if most > 1 else most)))
    names = (
        list(systems[:wanted])
        if len(systems) >= wanted
        else [f"response_{each}" for each in "abcdefghij"[:wanted]]
    )
    names = [name if name.startswith("response_") else f"response: {name}" for name in names]
    answers = (ENTRIES,) * wanted if protocol.drafts_entries else (ANSWERS * wanted)[:wanted]
    row: dict[str, str] = {
        ColumnRole.KEY: EXAMPLES[ColumnRole.KEY],
        ColumnRole.PROMPT: EXAMPLES[ColumnRole.PROMPT],
    }
    if own is not None and not own.query:
        del row[ColumnRole.PROMPT]
    if own is not None and own.document:
        row[ColumnRole.DOCUMENT] = EXAMPLES[ColumnRole.DOCUMENT]
    for need in protocol.needed_columns:
        role = ColumnRole(need)
        row[role] = ", ".join(attributes[:2]) if role == ColumnRole.ATTRIBUTES else EXAMPLES[role]
    if (
        ColumnRole.CONTEXT not in row
        and not protocol.has_attributes
        and any(arm["context_at_judging"] for arm in arms)
    ):
        row[ColumnRole.CONTEXT] = FOLLOW_UPS
    row |= dict(zip(names, answers, strict=True))
    row[ColumnRole.CATEGORY] = EXAMPLES[ColumnRole.CATEGORY]
    if most:
        row[ColumnRole.REFERENCE] = EXAMPLES[ColumnRole.REFERENCE]
    return [str(name) for name in row], list(row.values())


def write_template(format: str, header: Sequence[str], example: Sequence[str]) -> bytes:
    """The template as CSV, which Excel opens as UTF-8 by its mark, or as XLSX."""
    if format == "csv":
        out = io.StringIO()
        csv.writer(out).writerows([header, example])
        return out.getvalue().encode("utf-8-sig")
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Items")
    sheet.append(list(header))
    sheet.append(list(example))
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()

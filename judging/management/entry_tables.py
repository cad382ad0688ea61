"""Tables of the scores of single entries: the conditions of an item, each with the band that its score lies in."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from analytics.display.numbers import decimal
from analytics.display.tables import DASH, Builder, Column, Table, TableCell, columns, head, words
from analytics.figures.judges.measure_spread import band_of
from evaluation.dumps.spreadsheets import spreadsheet_cell
from evaluation.models import Study, System
from judging.services.scored_entries import ScoredEntries, ScoredEntry, ScoredItem

# Of an entry that is matched with none.
NO_MATCH = "none"


def system_labels(study: Study) -> dict[str, str]:
    rows = System.objects.filter(study=study).values_list("key", "label")
    return {key: label or key for key, label in rows}


def rows_of(found: ScoredEntries) -> list[dict[str, Any]]:
    """A flat row per entry, item by item."""
    return [_row(item, entry) for item in found.items for entry in item.entries]


def _row(item: ScoredItem, entry: ScoredEntry) -> dict[str, Any]:
    return {
        "query": item.query_key,
        "query_text": item.query,
        "item": item.key,
        "arm": item.arm_key,
        "system": entry.system,
        "part": entry.part,
        "entry": entry.number,
        "condition": entry.text,
        "reference": entry.reference or None,
        "reference_condition": item.references[entry.reference - 1] if entry.reference else "",
        "condition_score": round(entry.condition, 6),
        "answer_score": round(entry.answer, 6),
        "citation_recall": round(entry.citation, 6),
        "band": band_of(entry.condition),
        "samples": entry.samples,
    }


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows under their names, safe to open in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(rows[0])
    writer.writerows([spreadsheet_cell(value) for value in row.values()] for row in rows)
    return out.getvalue()


def item_tables(found: ScoredEntries, labels: Mapping[str, str]) -> list[Table]:
    """A table per item: the reference's conditions first, then those of each system with their scores."""
    several_arms = len({item.arm_key for item in found.items}) > 1
    return [
        _item_table(found, item, labels, several_arms=several_arms, number=number)
        for number, item in enumerate((each for each in found.items if each.entries), 1)
    ]


def _item_table(
    found: ScoredEntries, item: ScoredItem, labels: Mapping[str, str], *, several_arms: bool, number: int
) -> Table:
    setting = f" ({item.arm})" if several_arms else ""
    build = Builder(
        f"Conditions of responses to “{item.query}”{setting}, scored by {found.judge} against the reference.",
        [
            *columns(["System", "Condition", "Reference", "Condition score", "Answer score"], names=3),
            Column("Citation recall"),
            Column("Band", numeric=False),
        ],
        foot=(
            "Each condition is matched with one of the reference at most, by the optimal matching; "
            "one without a match scores 0."
        ),
    )
    for place, text in enumerate(item.references, 1):
        build.add(head("Reference"), words(text), words(str(place)), *([TableCell(DASH)] * 3), words(""))
    for entry in item.entries:
        build.add(
            head(labels.get(entry.system, entry.system)),
            words(entry.text),
            words(str(entry.reference or NO_MATCH)),
            *(TableCell(decimal(score)) for score in (entry.condition, entry.answer, entry.citation)),
            words(band_of(entry.condition)),
        )
    for system in item.empty:
        build.add(
            head(labels.get(system, system)),
            words("no entry"),
            words(""),
            *([TableCell(DASH)] * 3),
            words(""),
        )
    return _keyed(build.build(), f"entry-scores-{number}")


def _keyed(table: Table, key: str) -> Table:
    return replace(table, key=key)

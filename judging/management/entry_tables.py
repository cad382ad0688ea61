"""Tables of the scores of single entries: the conditions of an item, and the bands that they lie in."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from analytics.display.numbers import decimal
from analytics.display.tables import DASH, Builder, Column, Table, TableCell, columns, count, head, words
from analytics.figures.judges.measure_spread import BANDS, BORDERS
from analytics.statistics.core.estimates import Estimate, plain
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.judges.score_spread import SAME_SCORE, score_spread
from evaluation.design import derived_seed
from evaluation.dumps.exports.answer_table import spreadsheet_cell
from evaluation.models import Study, System
from judging.services.scored_entries import ScoredEntries, ScoredEntry, ScoredItem

# Of an entry that is matched with none.
NO_MATCH = "none"
UNIT = "conditions"


def band_of(score: float) -> str:
    """The band of section 5.4; a score on a border belongs to the higher one."""
    return BANDS[int(np.searchsorted(np.asarray(BORDERS) - SAME_SCORE, score, side="right"))]


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


def band_rows(found: ScoredEntries, study: Study) -> list[dict[str, Any]]:
    """A row per setting, system and band: how many of its conditions lie in it, and their share, over queries."""
    scored = [
        (item.arm_key, item.arm, entry.system, item.query_key, entry.condition)
        for item in found.items
        for entry in item.entries
    ]
    rows = []
    for (arm_key, arm, system), group in groupby(sorted(scored), key=lambda each: each[:3]):
        *_, queries, scores = zip(*group, strict=True)
        codes = np.unique(queries, return_inverse=True)[1]
        seed = derived_seed(study.seed, "entry_scores", found.judge, arm_key, system)
        spread = score_spread(
            np.array(scores), codes, borders=BORDERS, resample=ResampleSpec(seed), within=(0, 1), unit=UNIT
        )
        for band, share in zip(BANDS, spread.bands, strict=True):
            n = [band_of(score) for score in scores].count(band)
            rows.append(
                {"arm": arm_key, "arm_label": arm, "system": system, "band": band, "n": n, "share": share}
            )
    return rows


def plain_bands(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same rows for a program to read."""
    return [{**row, "share": plain(row["share"])} for row in rows]


def band_table(found: ScoredEntries, rows: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> Table:
    """The bands with their counts and shares, a system after the other."""
    several_arms = len({row["arm"] for row in rows}) > 1
    build = Builder(
        f"Single conditions by the band that their score lies in, scored by {found.judge}; shares in percent.",
        [*columns(["System", "Band"], names=2), Column("Conditions"), Column("Share")],
        foot=(
            "A score on a border belongs to the higher band; a condition without a match scores 0. "
            "Intervals are over queries."
        ),
    )
    for row in rows:
        share: Estimate = row["share"]
        setting = f", {row['arm_label']}" if several_arms else ""
        build.add(
            head(labels.get(row["system"], row["system"]) + setting),
            words(row["band"]),
            count(row["n"]),
            build.share(plain(share)),
        )
    return _keyed(build.build(), "entry-bands")


def _keyed(table: Table, key: str) -> Table:
    return replace(table, key=key)

"""Measures as columns: one row per item or part of it, one column per judge and measure."""

import csv
import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from evaluation.dumps.export_format import ExportFormat
from evaluation.dumps.exports.stored_study import StoredItem, StoredRater, StoredStudy
from evaluation.dumps.spreadsheets import spreadsheet_cell
from evaluation.extension import Watch
from evaluation.models import Study
from evaluation.protocols.answers.measures import MEASURE_KIND, declared_measures

HEAD = ("item", "query", "category", "part", "system")
# A judge's pseudonym and the key of a measure.
Column = tuple[str, str]


def write(out: BinaryIO, stored: StoredStudy, watch: Watch) -> None:
    columns = _columns(stored.study)
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([spreadsheet_cell(each) for each in (*HEAD, *columns.values())])
        done = 0
        for chunk in stored.chunks():
            for item in chunk:
                writer.writerows(_rows(item, columns))
            done += len(chunk)
            watch("writing", done, len(stored.pks))
        text.flush()
    finally:
        text.detach()  # the caller closes what it opened


def _columns(study: Study) -> dict[Column, str]:
    """Each column's name: the judge and the measure."""
    raters = study.raters.order_by("label", "pseudonym").values_list("pseudonym", "label", "about")
    return {
        (pseudonym, measure.key): f"{label or pseudonym}: {measure.name}"
        for pseudonym, label, about in raters
        for measure in declared_measures(about)
    }


def _rows(item: StoredItem, columns: dict[Column, str]) -> Iterator[list[Any]]:
    """A row per part with a number; the mean where a judge has several readings."""
    numbers: dict[str, dict[Column, list[float]]] = {}
    for judgment in item.judgments:
        if not _counts(judgment.rater) or judgment.excluded:
            continue
        for answer in judgment.answers:
            if answer.kind == MEASURE_KIND and answer.number is not None:
                given = numbers.setdefault(answer.part, {})
                given.setdefault((judgment.rater.pseudonym, answer.question), []).append(answer.number)
    query = item.stimulus["query"]
    systems = {response["part"]: response["system"] for response in item.stimulus["responses"]}
    for part, given in sorted(numbers.items()):
        system = next((systems[each] for each in part.split(".") if each in systems), "")
        head = (item.key, query["key"], query["category"], part, system)
        means = (sum(values) / len(values) if (values := given.get(column)) else "" for column in columns)
        yield [*(spreadsheet_cell(each) for each in head), *means]


def _counts(rater: StoredRater) -> bool:
    return rater.in_figures and not rater.excluded


def has_measures(study: Study) -> bool:
    return any(about.get("measures") for about in study.raters.values_list("about", flat=True))


FORMAT = ExportFormat(
    key="measures",
    label="Measures",
    about="One row per item or response, one column per judge and measure (CSV).",
    content_type="text/csv; charset=utf-8",
    write=write,
    place=35,
    ending="measures.csv",
    suits=has_measures,
)

"""A study as a table: one row per answer, as CSV and Parquet write it."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any, BinaryIO

from evaluation.dumps.exports.stored_study import StoredItem, StoredJudgment, StoredStudy
from evaluation.dumps.spreadsheets import spreadsheet_cell
from evaluation.models import Study
from evaluation.protocols import AnswerValue, Kind
from evaluation.protocols.entries.sets import read_entry

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]

# Their types as Arrow names them; MOMENT has no name there.
MOMENT = "moment"
COLUMNS = {
    "study": "string",
    "study_hash": "string",
    "revision": "int32",
    "arm": "string",
    "item": "string",
    "stimulus_hash": "string",
    "role": "string",
    "query": "string",
    "category": "string",
    "rater": "string",
    "rater_kind": "string",
    "rater_source": "string",
    "rater_label": "string",
    "rater_group": "string",
    "rater_model": "string",
    "rater_in_figures": "bool",
    "replicate": "int32",
    "outcome": "string",
    "shown": "string",
    "question": "string",
    "kind": "string",
    "part": "string",
    "system": "string",
    "number": "float64",
    "label": "string",
    "text": "string",
    "duration_s": "float64",
    "visible_s": "float64",
    "day": "date32",
    "judged_at": MOMENT,
    "surplus": "bool",
    "excluded": "string",
}

ROWS_PER_GROUP = 20_000
TEXT_PER_GROUP = 16_000_000
NO_ANSWER = AnswerValue("", "")


def tidy_rows(stored: StoredStudy) -> Iterator[tuple[list[Row], int]]:
    """Rows by chunk, each with the number of items done by then."""
    study, done = stored.study, 0
    for chunk in stored.chunks():
        done += len(chunk)
        yield [row for item in chunk for row in _item_rows(study, item)], done


def _item_rows(study: Study, item: StoredItem) -> Iterator[Row]:
    systems = {response["part"]: response["system"] for response in item.stimulus["responses"]}
    query = item.stimulus["query"]
    for judgment in item.judgments:
        rater = judgment.rater
        head = (
            study.slug, study.study_hash, judgment.revision, item.stimulus["arm"], item.key, item.stimulus_hash,
            item.role, query["key"], query["category"], rater.pseudonym, rater.kind, rater.source, rater.label,
            rater.group, str(rater.about.get("model", "")), rater.in_figures,
            judgment.replicate, judgment.outcome, judgment.shown,
        )  # fmt: skip
        tail = _tail(judgment, study.exact_times)
        for answer in judgment.answers or (NO_ANSWER,):
            yield (
                *head, answer.question, answer.kind, answer.part, _system(answer, systems),
                answer.number, answer.label, answer.text, *tail,
            )  # fmt: skip


def _tail(judgment: StoredJudgment, exact_times: bool) -> Row:
    moment = judgment.judged_at and judgment.judged_at.astimezone(UTC)
    return (
        _seconds(judgment.duration_ms),
        _seconds(judgment.visible_ms),
        moment and moment.date(),
        moment if exact_times else None,
        judgment.surplus,
        "; ".join(reason for reason in (judgment.rater.excluded, judgment.excluded) if reason),
    )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _system(answer: AnswerValue, systems: dict[str, str]) -> str:
    """The system of the response that the part names (`f1.r2`), of the preferred one, or of the one drafted set that an
    entry came from."""
    if answer.kind == Kind.ENTRIES:
        drafts = {origin.partition(".")[0] for origin in read_entry(answer.text or "")["origins"]}
        return systems.get(drafts.pop(), "") if len(drafts) == 1 else ""
    for name in (*answer.part.split("."), answer.label):
        if name in systems:
            return systems[name]
    return ""


def write_csv(out: BinaryIO, chunks: Iterable[list[Row]]) -> None:
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for rows in chunks:
            writer.writerows([spreadsheet_cell(value) for value in row] for row in rows)
        text.flush()
    finally:
        text.detach()  # the caller closes what it opened


def arrow_schema() -> "pa.Schema":
    import pyarrow as pa

    moment = pa.timestamp("us", tz="UTC")
    return pa.schema({name: moment if kind == MOMENT else kind for name, kind in COLUMNS.items()})


def write_parquet(out: BinaryIO, chunks: Iterable[list[Row]], facts: Mapping[str, str]) -> None:
    """`facts` stand in the file's own metadata."""
    import pyarrow.parquet as pq

    schema = arrow_schema()
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for rows in _groups(chunks):
            writer.write_batch(_record_batch(rows, schema))
        writer.add_key_value_metadata(dict(facts))


def _groups(chunks: Iterable[list[Row]]) -> Iterator[list[Row]]:
    """The rows dealt into row groups that end at so many rows or so much text."""
    at = list(COLUMNS).index("text")
    group: list[Row] = []
    text = 0
    for rows in chunks:
        for row in rows:
            group.append(row)
            text += len(row[at] or "")
            if len(group) >= ROWS_PER_GROUP or text >= TEXT_PER_GROUP:
                yield group
                group, text = [], 0
    if group:
        yield group


def _record_batch(rows: list[Row], schema: "pa.Schema") -> "pa.RecordBatch":
    import pyarrow as pa

    columns = zip(*rows, strict=True)
    arrays = [pa.array(values, type=kind) for values, kind in zip(columns, schema.types, strict=True)]
    return pa.record_batch(arrays, schema=schema)

"""Scores from outside: a file of numbers that a script has computed, which a study takes as an imported judge's."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluation.dumps.problems import Problems
from evaluation.models import Item, Rater, Study
from evaluation.protocols import AnswersInvalid, AnswerValue
from evaluation.protocols.answers.measures import Measure, Subject, clean_measures, read_measures
from evaluation.protocols.base import Stimulus
from evaluation.refusals import Refused
from evaluation.services.scores import ItemScores, record_scores

ITEM, SYSTEM, RESPONSE, PART, NAME, SCORE = "item", "system", "response", "part", "name", "score"
COLUMNS = (ITEM, SYSTEM, RESPONSE, PART, NAME, SCORE)
# The subject that the form of a part tells, where nothing is declared.
SUBJECTS = {
    "": Subject.ITEM,
    "r": Subject.RESPONSE,
    "f": Subject.FOLLOW_UP,
    "f.r": Subject.FOLLOW_UP_RESPONSE,
    "e.r": Subject.ENTRY,
}
PARTS = "f1 is a follow-up, f2.r1 that of a response and e2.r1 an entry of one; beside a response, f2 and e2 are enough"


# Where a score stands ("line 3"), and what it holds by column.
Records = Iterator[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class ScoreRow:
    """One score. `system` or `response`, not both, names the response; `part` is then a part of that ("e2"), and of the
    item otherwise ("f1", "e2.r1")."""

    where: str
    item: str
    name: str
    score: float
    system: str = ""
    response: str = ""
    part: str = ""


def import_scores(
    study: Study,
    path: Path,
    *,
    judge: str,
    file_name: str = "",
    name: str = "",
    declared: Sequence[Mapping[str, Any]] = (),
    direction: str = "higher",
    low: float | None = None,
    high: float | None = None,
    user: Any = None,
) -> Rater:
    """Take a file of scores as the judge of that name; Refused, with every line's problems, and nothing is written.

    `name` names the measure where the file has no such column. `declared` are measures as JSON; those that it does not
    declare get `direction`, `low` and `high`, and their subject from the file.
    """
    file_name = file_name or path.name
    return take_scores(
        study,
        lambda problems: _records(path, file_name, problems),
        judge=judge,
        file_name=file_name,
        name=name,
        declared=declared,
        direction=direction,
        low=low,
        high=high,
        user=user,
    )


def take_scores(
    study: Study,
    read: Callable[[Problems], Records],
    *,
    judge: str,
    file_name: str,
    name: str = "",
    declared: Sequence[Mapping[str, Any]] = (),
    direction: str = "higher",
    low: float | None = None,
    high: float | None = None,
    user: Any = None,
) -> Rater:
    """Take scores from wherever they come; `read` gives numbered records, and adds what it can't read to the problems.
    For the rest see `import_scores`."""
    problems = Problems()
    rows = [
        row for where, record in read(problems) if (row := _row(where, record, name, problems)) is not None
    ]
    problems.raise_if_any()
    if not rows:
        raise Refused(f"{file_name} has no scores.")
    try:
        measures = {each.name: each for each in read_measures(declared)}
        blank = read_measures([{"name": "any", "direction": direction, "low": low, "high": high}])[0]
    except ValueError as wrong:
        raise Refused(f"{str(wrong)[0].upper()}{str(wrong)[1:]}.") from None
    scores = list(_scores_by_item(study, rows, measures, blank, problems))
    problems.raise_if_any()
    used = {row.name for row in rows}
    return record_scores(
        study,
        judge=judge,
        measures=[measure for each, measure in measures.items() if each in used],
        scores=scores,
        file_name=file_name,
        user=user,
    )


# --- reading --------------------------------------------------------------------------------------------------------


def _records(path: Path, file_name: str, problems: Problems) -> Records:
    readers = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".parquet": _parquet}
    reader = readers.get(Path(file_name).suffix.lower())
    if reader is None:
        raise Refused(f"{file_name}: a file of scores ends in {', '.join(readers)}.")
    try:
        yield from reader(path, file_name, problems)
    except OSError as error:
        raise Refused(f"{file_name} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Refused(f"{file_name} is not text in UTF-8.") from None


def _csv(path: Path, file_name: str, problems: Problems, delimiter: str = ",") -> Records:
    with path.open(encoding="utf-8-sig", newline="") as handle:
        reader = csv.DictReader(handle, delimiter=delimiter, strict=True)
        try:
            _require_columns(file_name, reader.fieldnames or ())
            for record in reader:
                if None in record or None in record.values():
                    problems.add(f"line {reader.line_num}", ["has not as many cells as the first line"])
                else:
                    yield f"line {reader.line_num}", record
        except csv.Error as error:
            raise Refused(f"{file_name}, line {reader.line_num}: {error}.") from None


def _tsv(path: Path, file_name: str, problems: Problems) -> Records:
    return _csv(path, file_name, problems, "\t")


def _jsonl(path: Path, file_name: str, problems: Problems) -> Records:
    with path.open(encoding="utf-8-sig") as handle:
        for number, line in enumerate(handle, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                problems.add(f"line {number}", [f"no JSON: {error}"])
                continue
            if not isinstance(record, dict):
                problems.add(f"line {number}", ["no JSON object"])
            elif unknown := sorted(set(record) - set(COLUMNS)):
                problems.add(f"line {number}", [f"has {each!r}, which no score has" for each in unknown])
            else:
                yield f"line {number}", record


def _parquet(path: Path, file_name: str, problems: Problems) -> Records:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid:
        raise Refused(f"{file_name} is no Parquet file.") from None
    _require_columns(file_name, file.schema_arrow.names)
    number = 0
    for batch in file.iter_batches():
        for record in batch.to_pylist():
            number += 1
            yield f"row {number}", {key: "" if value is None else value for key, value in record.items()}


def _require_columns(file_name: str, names: Sequence[str]) -> None:
    missing = [each for each in (ITEM, SCORE) if each not in names]
    unknown = [each for each in names if each not in COLUMNS]
    if missing or unknown:
        there = f"it has no {' and no '.join(missing)}" if missing else f"it has {unknown[0]!r}"
        if missing and unknown:
            there += f", but {unknown[0]!r}"
        raise Refused(f"{file_name}: the columns are {', '.join(COLUMNS)}, and {there}.")


def _row(where: str, record: Mapping[str, Any], name: str, problems: Problems) -> ScoreRow | None:
    texts = {key: str(record.get(key) or "").strip() for key in COLUMNS if key != SCORE}
    wrong = [f"{key} is missing" for key in (ITEM,) if not texts[key]]
    if texts[SYSTEM] and texts[RESPONSE]:
        wrong.append(f"names {SYSTEM} and {RESPONSE}; one is enough")
    if not (texts[NAME] or name):
        wrong.append("name is missing")
    given = record.get(SCORE)
    try:
        if isinstance(given, bool):
            raise ValueError
        score = float(given if given is not None else "")
    except (TypeError, ValueError):
        wrong.append(f"score: {given!r} is not a number")
        score = 0.0
    problems.add(where, wrong)
    if wrong:
        return None
    return ScoreRow(
        where, texts[ITEM], texts[NAME] or name, score, texts[SYSTEM], texts[RESPONSE], texts[PART]
    )


# --- matching with the study ----------------------------------------------------------------------------------------


def _scores_by_item(
    study: Study, rows: Sequence[ScoreRow], measures: dict[str, Measure], blank: Measure, problems: Problems
) -> Iterator[ItemScores]:
    """The scores of each item, by measure and part; measures that are not declared are added to `measures`."""
    by_item: dict[str, list[ScoreRow]] = {}
    for row in rows:
        by_item.setdefault(row.item, []).append(row)
    known: set[str] = set()
    for pk, key, stimulus in _items(study, list(by_item)):
        known.add(key)
        if answers := _item_scores(by_item[key], stimulus or {}, measures, blank, problems):
            yield ItemScores(pk, answers)
    for key in by_item.keys() - known:
        problems.add(by_item[key][0].where, [f"the study has no item {key!r}"])


def _items(study: Study, keys: Sequence[str]) -> Iterator[tuple[int, str, Stimulus | None]]:
    """Row, key and stimulus of the frozen items of these keys, a bounded number of them at a time."""
    frozen = Item.objects.filter(study=study, stimulus__isnull=False).values_list("pk", "key", "stimulus")
    for start in range(0, len(keys), settings.ASSAY_BATCH_SIZE):
        yield from frozen.filter(key__in=keys[start : start + settings.ASSAY_BATCH_SIZE]).order_by("pk")


def _item_scores(
    rows: Sequence[ScoreRow],
    stimulus: Stimulus,
    measures: dict[str, Measure],
    blank: Measure,
    problems: Problems,
) -> list[AnswerValue]:
    found: dict[tuple[str, str], AnswerValue] = {}
    for row in rows:
        part, wrong = _part(row, stimulus)
        if wrong:
            problems.add(row.where, [wrong])
            continue
        subject = SUBJECTS.get(".".join(each[:1] for each in part.split(".")))
        if subject is None:
            problems.add(row.where, [f"no part is named like {part!r}: {PARTS}"])
            continue
        measure = measures.get(row.name) or _undeclared(row, subject, blank, problems)
        if measure is None:
            continue
        measures[row.name] = measure
        if subject != (Subject.ITEM if measure.is_of_whole else measure.subject):
            problems.add(row.where, [_mismatch(row, measure, subject)])
            continue
        given = {part: row.score} if part else row.score
        try:
            [answer] = clean_measures([measure], stimulus, {measure.key: given})
        except AnswersInvalid as invalid:
            problems.add(row.where, map(str, invalid.problems))
            continue
        if (row.name, part) in found:
            problems.add(row.where, [f"{row.item!r} has a score of {row.name!r} twice"])
        found[row.name, part] = answer
    return list(found.values())


def _mismatch(row: ScoreRow, measure: Measure, subject: Subject) -> str:
    if measure.is_of_whole:
        return f"the measure {row.name!r} is of an item as a whole, and the line names a part of it"
    named = "none" if subject == Subject.ITEM else f"a {subject}"
    return f"the measure {row.name!r} is of each {measure.subject}, and the line names {named}"


def _undeclared(row: ScoreRow, subject: Subject, blank: Measure, problems: Problems) -> Measure | None:
    try:
        [measure] = read_measures([{**blank.as_json(), "name": row.name, "subject": subject}])
    except ValueError as wrong:
        problems.add(row.where, [str(wrong)])
        return None
    return measure


def _part(row: ScoreRow, stimulus: Stimulus) -> tuple[str, str]:
    """The part that a row is about, or what is wrong with how it names it."""
    field, wanted = ("system", row.system) if row.system else ("key", row.response)
    if not wanted:
        return row.part, ""
    found = [each["part"] for each in stimulus["responses"] if each[field] == wanted]
    if len(found) == 1:
        return f"{row.part}.{found[0]}" if row.part else found[0], ""
    named = f"of system {wanted!r}" if row.system else wanted
    number = "no response" if not found else f"{len(found)} responses"
    there = ", ".join(str(each[field]) for each in stimulus["responses"]) or "none"
    return "", f"item {row.item!r} has {number} {named}; it has: {there}"

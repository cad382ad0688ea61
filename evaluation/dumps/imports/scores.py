"""Scores from outside: a file of numbers that a script has computed, which a study takes as an imported judge's."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluation.dumps.problems import Problems
from evaluation.dumps.tables.reading import read_table
from evaluation.dumps.tables.sheet import as_name, is_empty
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
    by: Any = None,
    file_name: str = "",
    name: str = "",
    declared: Sequence[Mapping[str, Any]] = (),
    direction: str = "higher",
    low: float | None = None,
    high: float | None = None,
    and_then: Callable[[Rater], None] = lambda rater: None,
) -> Rater:
    """Take a file of scores as the judge of that name; Refused, with every line's problems, and nothing is written.

    `name` names the measure where the file has no such column. `declared` are measures as JSON; those that it does not
    declare get `direction`, `low` and `high`, and their subject from the file. `and_then` gets the judge within the
    transaction that makes it.
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
        by=by,
        and_then=and_then,
    )


def take_scores(
    study: Study,
    read: Callable[[Problems], Records],
    *,
    judge: str,
    by: Any = None,
    file_name: str,
    name: str = "",
    declared: Sequence[Mapping[str, Any]] = (),
    direction: str = "higher",
    low: float | None = None,
    high: float | None = None,
    and_then: Callable[[Rater], None] = lambda rater: None,
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
        by=by,
        and_then=and_then,
    )


# --- reading --------------------------------------------------------------------------------------------------------


def _records(path: Path, file_name: str, problems: Problems) -> Records:
    table = read_table(path, name=file_name, header=True)
    missing = [each for each in (ITEM, SCORE) if each not in table.columns]
    unknown = [each for each in table.columns if each not in COLUMNS]
    if missing or unknown:
        there = f"it has no {' and no '.join(missing)}" if missing else f"it has {unknown[0]!r}"
        if missing and unknown:
            there += f", but {unknown[0]!r}"
        raise Refused(f"{file_name}: the columns are {', '.join(COLUMNS)}, and {there}.")
    for row in table.rows:
        where = f"{table.unit} {row.number}"
        if row.problems:
            problems.add(where, row.problems)
        else:
            yield where, dict(zip(table.columns, row.cells, strict=True))


def _row(where: str, record: Mapping[str, Any], name: str, problems: Problems) -> ScoreRow | None:
    texts = {key: as_name(record.get(key)) for key in COLUMNS if key != SCORE}
    wrong = [f"{key} is missing" for key in (ITEM,) if not texts[key]]
    if texts[SYSTEM] and texts[RESPONSE]:
        wrong.append(f"names {SYSTEM} and {RESPONSE}; one is enough")
    if not (texts[NAME] or name):
        wrong.append("name is missing")
    given: Any = record.get(SCORE)
    try:
        if isinstance(given, bool):
            raise ValueError
        score = float(given)
    except (TypeError, ValueError):
        wrong.append("score is missing" if is_empty(given) else f"score: {given!r} is not a number")
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

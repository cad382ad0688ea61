"""Kept counts of each item (`ItemTally`), by which lists of items are sorted and filtered.

Whoever writes judgments, or changes which of them count, marks their items in the same transaction (`StaleItem`).
Workers count these anew (`evaluation.tasks.count_progress`), and so does who opens a list, a few of them.

An item's disagreement is the mean, over its questions and their parts, of the chance that two of the people who judged
it answer differently (`evaluation.protocols.answers.disagreement`). In a simulated study its simulated raters are the
people.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

import orjson
from django.db import connection, transaction

from evaluation.database.compiled_queries import CompiledInsert
from evaluation.models import AnswerText, ItemTally, Judgment, Rater, StaleItem, Study
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.disagreement import (
    labels_differ,
    labels_differ_between,
    leading_value,
    majority_of,
    mean_of,
    numbers_differ,
    numbers_differ_between,
)
from evaluation.protocols.answers.measures import MEASURE_KIND
from evaluation.protocols.base import Over
from evaluation.selectors import asked_questions, countable_q
from evaluation.services.answers import layout_by_key

# Marks that are counted in one transaction.
CHUNK = 500
READ_AT_ONCE = 5_000
MARK_RATERS = """
INSERT INTO evaluation_staleitem (study_id, item_id)
SELECT study_id, item_id FROM evaluation_judgment WHERE rater_id IN ({raters}) GROUP BY study_id, item_id
"""
INSERT_MARK = CompiledInsert(StaleItem)
# A question about the whole item is what it is about, one of the first of these kinds that it has.
LEADING = (Kind.PREFERENCE, Kind.CHOICE, Kind.RANKING, Kind.SCALE, Kind.CHECKLIST)
# The figures of a tally that is counted.
FIGURES = (
    "n_people",
    "n_judges",
    "n_texts",
    "disagreement",
    "against_judges",
    "majority",
    "judges_majority",
    "last_judged_at",
    "longest_ms",
)
# A question and a part of it.
Place = tuple[str, str]


@dataclass(frozen=True)
class TalliedJudgment:
    """A counting judgment as it is tallied; `answers` are its labels and numbers."""

    is_judge: bool
    answers: Mapping[Place, str | float]
    has_text: bool
    judged_at: datetime | None
    duration_ms: int | None


@dataclass
class PlaceAnswers:
    """The answers of people and judges at one place."""

    people: list[Any] = field(default_factory=list)
    judges: list[Any] = field(default_factory=list)


def mark_items(study: Study, items: Collection[int]) -> None:
    """Say that judgments of these items changed. A row more is all that it takes: nobody waits for anybody."""
    marks = [StaleItem(study_id=study.pk, item_id=item) for item in sorted(set(items))]
    if len(marks) == 1:
        INSERT_MARK.run(*marks)
    else:
        StaleItem.objects.bulk_create(marks)


def mark_items_of(raters: Collection[Rater]) -> None:
    """The same of all items that these raters have judged."""
    if raters:
        places = ", ".join(["%s"] * len(raters))
        with connection.cursor() as cursor:
            cursor.execute(MARK_RATERS.format(raters=places), [each.pk for each in raters])


def recount(study: Study, *, items: Collection[int] | None = None) -> int:
    """Count some of the items anew whose judgments changed, of these or of all, and return how many changes that were;
    what others count at this moment is left to them."""
    changed = StaleItem.objects.filter(study=study)
    if items is not None:
        changed = changed.filter(item__in=items)
    if not changed.exists():
        return 0
    with transaction.atomic():
        rows = changed.select_for_update(skip_locked=True).order_by("item", "pk")
        marks = dict(rows.values_list("pk", "item")[:CHUNK])
        counted = sorted(set(marks.values()))
        _lock(study, counted)
        ItemTally.objects.bulk_create(
            _tallies(study, counted), update_conflicts=True, unique_fields=["item"], update_fields=FIGURES
        )
        StaleItem.objects.filter(pk__in=marks).delete()
    return len(marks)


def _lock(study: Study, items: Sequence[int]) -> None:
    """The tallies of these items, before their judgments are read: who counts one of them at this moment is waited
    for, and never written over with less."""
    ItemTally.objects.bulk_create(
        [ItemTally(item_id=item, study=study) for item in items], ignore_conflicts=True
    )
    list(ItemTally.objects.select_for_update().filter(item__in=items).order_by("item").values_list("pk"))


def count_stale(study: Study, most: int) -> int:
    """The number of items that wait to be counted, at most so many."""
    return StaleItem.objects.filter(study=study).values("item").distinct()[:most].count()


def studies_with_stale_items() -> list[Study]:
    changed = StaleItem.objects.order_by().values("study").distinct()
    return list(Study.objects.filter(pk__in=changed).order_by("pk"))


def _tallies(study: Study, items: Sequence[int]) -> list[ItemTally]:
    questions = asked_questions(study)
    rows = readings_of(study, items)
    return [ItemTally(item_id=item, study=study, **tally(questions, rows.get(item, ()))) for item in items]


def tallies_as_of(study: Study, items: Sequence[int], until: int) -> dict[int, dict[str, Any]]:
    """The figures of these items' tallies over the judgments up to this one, none of it kept."""
    questions, rows = asked_questions(study), readings_of(study, items, until=until)
    return {item: tally(questions, rows.get(item, ())) for item in items}


def readings_of(
    study: Study, items: Sequence[int], *, until: int | None = None
) -> dict[int, list[TalliedJudgment]]:
    """The counting judgments of these items, by item, up to one; without those that give measures and answer
    nothing."""
    kinds = [Rater.Kind.PERSON, Rater.Kind.JUDGE, *([Rater.Kind.SIMULATED] if study.simulated else [])]
    counting = Judgment.objects.filter(countable_q(study), item__in=items, rater__kind__in=kinds)
    if until is not None:
        counting = counting.filter(pk__lte=until)
    columns = ("item", "pk", "rater__kind", "answer_layout", "answer_values", "judged_at", "duration_ms")
    rows = list(counting.order_by("item", "pk").values_list(*columns))
    with_texts = _with_texts([row[1] for row in rows])
    return {
        item: [
            TalliedJudgment(
                kind == Rater.Kind.JUDGE, _answers(layout, array), pk in with_texts, judged_at, duration_ms
            )
            for _, pk, kind, layout, array, judged_at, duration_ms in of_item
            if layout is not None and not _only_measures(layout)
        ]
        for item, of_item in groupby(rows, key=lambda row: row[0])
    }


def _with_texts(judgments: Sequence[int]) -> set[int]:
    """Those of these judgments that have a text. By their keys: a subquery is planned for all texts of all studies."""
    found: set[int] = set()
    for at in range(0, len(judgments), READ_AT_ONCE):
        texts = AnswerText.objects.filter(judgment__in=judgments[at : at + READ_AT_ONCE]).exclude(text="")
        found |= set(texts.values_list("judgment", flat=True))
    return found


def _only_measures(layout: int) -> bool:
    places = layout_by_key(layout).places
    return all(each.kind == MEASURE_KIND for each in places)


def _answers(layout: int, array: str) -> dict[Place, str | float]:
    """Labels and numbers by place; a label goes before the number beside it."""
    values = orjson.loads(array)
    found: dict[Place, str | float] = {}
    for each in layout_by_key(layout).places:
        if each.label is not None:
            found[each.question, each.part] = values[each.label]
        elif each.number is not None:
            found[each.question, each.part] = float(values[each.number])
    return found


def tally(questions: Mapping[str, QuestionSpec], readings: Sequence[TalliedJudgment]) -> dict[str, Any]:
    """The figures of an item's tally, from its counting judgments."""
    people = [each for each in readings if not each.is_judge]
    by_place = _by_place(questions, readings)
    reaches = _reaches(questions, by_place)
    durations = [each.duration_ms for each in people if each.duration_ms is not None]
    moments = [each.judged_at for each in readings if each.judged_at is not None]
    of_people, of_judges = leading_answers(questions, readings)
    return {
        "n_people": len(people),
        "n_judges": len(readings) - len(people),
        "n_texts": sum(each.has_text for each in readings),
        "disagreement": _mean_over_questions(
            {at: _differ(each.people, reaches[at]) for at, each in by_place.items()}
        ),
        "against_judges": _mean_over_questions(
            {at: _differ_between(each.people, each.judges, reaches[at]) for at, each in by_place.items()}
        ),
        "majority": majority_of(of_people),
        "judges_majority": majority_of(of_judges),
        "last_judged_at": max(moments, default=None),
        "longest_ms": max(durations, default=None),
    }


def _by_place(
    questions: Mapping[str, QuestionSpec], readings: Iterable[TalliedJudgment]
) -> dict[Place, PlaceAnswers]:
    """The answers to the study's own questions that can be compared."""
    found: dict[Place, PlaceAnswers] = {}
    for each in readings:
        for place, value in each.answers.items():
            if place[0] in questions:
                answers = found.setdefault(place, PlaceAnswers())
                (answers.judges if each.is_judge else answers.people).append(value)
    return found


def _reaches(
    questions: Mapping[str, QuestionSpec], by_place: Mapping[Place, PlaceAnswers]
) -> dict[Place, float | None]:
    """The greatest distance that two numbers can have at each place; None of labels."""
    found: dict[Place, float | None] = {}
    for question, part in by_place:
        spec = questions[question]
        if spec.kind == Kind.SCALE:
            found[question, part] = spec.form["high"] - spec.form["low"]
        elif spec.kind == Kind.RANKING:
            found[question, part] = max(1, sum(each == question for each, _ in by_place) - 1)
        else:
            found[question, part] = 1 if spec.kind == Kind.CHECKLIST else None
    return found


def _mean_over_questions(by_place: Mapping[Place, float | None]) -> float | None:
    """The mean over questions, each by the mean over its parts: a long checklist is no more than one preference."""
    of_question: dict[str, list[float | None]] = {}
    for (question, _), share in by_place.items():
        of_question.setdefault(question, []).append(share)
    return mean_of([mean_of(shares) for shares in of_question.values()])


def _differ(values: Sequence[Any], reach: float | None) -> float | None:
    return labels_differ(values) if reach is None else numbers_differ(values, reach)


def _differ_between(ones: Sequence[Any], others: Sequence[Any], reach: float | None) -> float | None:
    if reach is None:
        return labels_differ_between(ones, others)
    return numbers_differ_between(ones, others, reach)


def leading_answers(
    questions: Mapping[str, QuestionSpec], readings: Sequence[TalliedJudgment]
) -> tuple[list[str], list[str]]:
    """The answers of people and of judges to the question that the item is about: the first leading one that people
    answered, else that judges did."""
    for asked_of in (False, True):
        for each in leading_questions(questions):
            values: dict[bool, list[str]] = {False: [], True: []}
            for reading in readings:
                own = {part: value for (key, part), value in reading.answers.items() if key == each.key}
                value = leading_value(own, ranks=each.kind == Kind.RANKING)
                if value is not None:
                    values[reading.is_judge].append(value)
            if values[asked_of]:
                return values[False], values[True]
    return [], []


def leading_questions(questions: Mapping[str, QuestionSpec]) -> list[QuestionSpec]:
    """The questions that one answer is given to, those first that an item is about."""
    of_item = [
        each
        for each in questions.values()
        if each.kind in LEADING and (each.over == Over.ITEM or each.kind == Kind.RANKING)
    ]
    return sorted(of_item, key=lambda each: LEADING.index(Kind(each.kind)))

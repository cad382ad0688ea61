"""The answers of judgments as they are stored: whoever writes or reads more than single ones goes through here."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from evaluation.database.columns import CodedColumn, Columns, ColumnType, read_columns, sorted_codes
from evaluation.database.compiled_queries import CompiledSelect, field_of
from evaluation.database.joined import Run, read_joined
from evaluation.models import AnswerLayout, AnswerText, Judgment, Study
from evaluation.protocols import AnswerValue
from evaluation.protocols.answers.layout import (
    AnswerColumns,
    AnswerPlace,
    Layout,
    answers_in,
    array_of,
    columns_of,
    layout_of,
)

# Judgments whose answers are read at once.
CHUNK = 500
HAS_LAYOUT = CompiledSelect(
    lambda **key: AnswerLayout.objects.filter(**key).only("pk"), pk=field_of(AnswerLayout, "id")
)


def set_answers(judgment: Judgment, answers: Sequence[AnswerValue]) -> Layout | None:
    """Fills the judgment's own fields; its layout must be there before it is saved (`add_layouts`), its texts are saved
    after it (`text_rows`). `ValueError` says what is wrong with an answer."""
    if not answers:
        judgment.answer_layout_id, judgment.answer_values = None, ""
        return None
    layout = layout_of(answers)
    judgment.answer_layout_id, judgment.answer_values = layout.key, array_of(answers)
    return layout


def text_rows(judgment: Judgment, answers: Sequence[AnswerValue]) -> list[AnswerText]:
    """The texts of a judgment that has a primary key."""
    return [
        AnswerText(judgment_id=judgment.pk, question=each.question, part=each.part, text=each.text)
        for each in answers
        if each.text is not None
    ]


def save_texts(judgment: Judgment, answers: Sequence[AnswerValue]) -> None:
    """Save the texts of these answers in place of those that a judgment has."""
    judgment.texts.all().delete()
    AnswerText.objects.bulk_create(text_rows(judgment, answers))


def add_layouts(layouts: Iterable[Layout]) -> None:
    """Those that are not there yet."""
    wanted = {each.key: each for each in layouts}
    if len(wanted) == 1:
        known = {key for key in wanted if HAS_LAYOUT.first(pk=key)}
    else:
        known = set(AnswerLayout.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    if missing := wanted.keys() - known:
        # In one order: two that write the same ones at once would else wait for each other.
        rows = [AnswerLayout(pk=key, places=wanted[key].as_json()) for key in sorted(missing)]
        AnswerLayout.objects.bulk_create(rows, ignore_conflicts=True)


@lru_cache(maxsize=4096)
def layout_by_key(key: int) -> Layout:
    """The same in every database, as a layout's key is made from it."""
    return Layout.from_json(AnswerLayout.objects.get(pk=key).places)


def layouts_of_question(question: str) -> list[Layout]:
    """The layouts, of whichever study, that have an answer to this question or measure."""
    written = AnswerLayout.objects.annotate(written=Cast("places", TextField()))
    rows = written.filter(written__contains=json.dumps(question)).order_by("pk")
    layouts = [Layout.from_json(places) for places in rows.values_list("places", flat=True)]
    return [each for each in layouts if any(place.question == question for place in each.places)]


def answered_questions(study: Study) -> set[str]:
    """Keys of the questions and measures that any judgment of a study has an answer to."""
    used = (
        study.judgments.filter(answer_layout__isnull=False).order_by().values_list("answer_layout", flat=True)
    )
    return {each.question for key in used.distinct() for each in layout_by_key(key).places}


def load_answers(judgment: Judgment) -> list[AnswerValue]:
    """One judgment's answers."""
    return answers_by_judgment([judgment.pk]).get(judgment.pk, [])


def answers_by_judgment(judgments: Collection[int]) -> dict[int, list[AnswerValue]]:
    """The answers of these judgments, by their primary keys; one without answers is not among them."""
    stored = Judgment.objects.filter(pk__in=judgments, answer_layout__isnull=False)
    return answers_of(list(stored.values_list("pk", "answer_layout_id", "answer_values")))


def answers_of(stored: Sequence[tuple[int, int, str]]) -> dict[int, list[AnswerValue]]:
    """The answers of judgments that were read with their layouts and arrays, by their primary keys."""
    layouts = {key: layout_by_key(key) for key in {key for _, key, _ in stored}}
    with_texts = [judgment for judgment, key, _ in stored if layouts[key].has_texts]
    rows = AnswerText.objects.filter(judgment__in=with_texts) if with_texts else AnswerText.objects.none()
    texts: dict[int, dict[tuple[str, str], str]] = {}
    for judgment, question, part, text in rows.values_list(
        "judgment_id", "question", "part", "text"
    ).iterator():
        texts.setdefault(judgment, {})[question, part] = text
    return {
        judgment: answers_in(layouts[key], array, texts.get(judgment, {})) for judgment, key, array in stored
    }


def with_answers(judgments: QuerySet[Judgment]) -> Iterator[tuple[Judgment, list[AnswerValue]]]:
    """Each judgment with its answers, some of them at a time."""
    stored = judgments.iterator(CHUNK)
    while chunk := list(islice(stored, CHUNK)):
        answers = answers_of(
            [
                (each.pk, each.answer_layout_id, each.answer_values)
                for each in chunk
                if each.answer_layout_id is not None
            ]
        )
        for judgment in chunk:
            yield judgment, answers.get(judgment.pk, [])


def read_answer_columns(judgments: QuerySet[Judgment]) -> list[AnswerColumns]:
    """The answers of many judgments but for texts, layout by layout; their keys are the judgments' primary keys."""
    found: dict[int, list[Run]] = {}
    answered = judgments.filter(answer_layout__isnull=False).exclude(answer_values="[]")
    for key, run in read_joined(answered, "answer_layout_id", key="pk", line="answer_values"):
        found.setdefault(key, []).append(run)
    return [columns_of(layout_by_key(key), found.pop(key)) for key in sorted(found)]


def read_answer_rows(
    judgments: QuerySet[Judgment], fields: Mapping[str, ColumnType], *, kind: str = ""
) -> Columns:
    """The same as rows (n,), by judgment, of all kinds or of one: `judgment`, `question`, `kind`, `part`, `label` (''
    without one) and `number` (nan without one), with these fields of the judgment."""
    blocks = read_answer_columns(judgments)
    coded: dict[str, dict[str, int]] = {name: {} for name in ("question", "kind", "part", "label")}
    parts: dict[str, list[Any]] = {name: [] for name in ("judgment", "number", *coded)}
    for block in blocks:
        valued = [
            each for each in block.layout.places if not each.is_text and (not kind or each.kind == kind)
        ]
        n, m = len(block.key), len(valued)
        parts["judgment"].append(np.repeat(block.key, m))
        parts["number"].append(block.numbers(valued).ravel())
        for name in ("question", "kind", "part"):
            table = coded[name]
            codes = [table.setdefault(getattr(each, name), len(table)) for each in valued]
            parts[name].append(np.tile(np.array(codes, dtype=np.int32), n))
        parts["label"].append(_label_codes(block, valued, coded["label"]).ravel())
    joined = {
        name: np.concatenate([np.zeros(0, dtype=np.float64 if name == "number" else np.int64), *arrays])
        for name, arrays in parts.items()
    }
    order = np.argsort(joined["judgment"], kind="stable")
    joined = {name: column[order] for name, column in joined.items()}
    # Asked for second: each judgment whose answers were read is among them.
    own = read_columns(judgments.order_by("pk"), {"pk": ColumnType.WHOLE, **fields})
    at = np.searchsorted(own.array("pk"), joined["judgment"])
    columns = {name: joined[name] for name in ("judgment", "number")}
    texts = {name: sorted_codes(joined[name], list(table)) for name, table in coded.items()}
    for name, each in fields.items():
        if each is ColumnType.CODED:
            texts[name] = CodedColumn(own.coded(name).codes[at], own.coded(name).values)
        else:
            columns[name] = own.array(name)[at]
    return Columns(columns, texts)


def _label_codes(
    block: AnswerColumns, places: Sequence[AnswerPlace], table: dict[str, int]
) -> "np.ndarray[Any, Any]":
    own = np.array([table.setdefault(each, len(table)) for each in block.labels] or [-1], dtype=np.int32)
    found = np.full((len(block.key), len(places)), -1, dtype=np.int32)
    for at, each in enumerate(places):
        if each.label is not None:
            found[:, at] = own[block.values[each.label]]
    return found

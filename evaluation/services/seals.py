"""The content that seals cover, and their renewal by every write that touches it.

A judgment's seal stands on it, and covers all that was recorded; how many there are of each rater, and the digest of
their seals, stand on the rater. What stands around judgments and enters figures (items with their queries and
responses, raters, exclusions, the study's hash) has a seal per row in a table of its own; their number and digest stand
on the study.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

import orjson
from django.db.models import F, Model, QuerySet, Value

from evaluation.canonical import canonical_hash
from evaluation.database.compiled_queries import CompiledInsert, CompiledUpdate, field_of
from evaluation.models import (
    AnswerText,
    Arm,
    Context,
    Erasure,
    Exclusion,
    Item,
    ItemResponse,
    Judgment,
    Rater,
    Seal,
    Study,
    System,
)
from evaluation.seals import SealKey, micros, open_seal_key, stable_json

# Of a judgment, in the order in which `judgment_content` takes them.
JUDGMENT_FIELDS = (
    *("rater_id", "item_id", "revision_id", "replicate", "outcome", "shown", "surplus"),
    *("duration_ms", "visible_ms", "judged_at", "answer_layout_id", "answer_values", "trace"),
)
Written = tuple[str, str, str]
Row = Rater | Exclusion | Erasure | Study
COUNTED = ("recorded_count", "recorded_digest")
NEW_SEALS = CompiledInsert(Seal)
_values = attrgetter(*JUDGMENT_FIELDS)


def _wide(mark: Any) -> Any:
    """Of 63 bits: Django binds a plain whole number as one of 32, which PostgreSQL's driver cuts off."""
    return Value(mark, output_field=field_of(Rater, "recorded_digest")) if isinstance(mark, int) else mark


def _counting(rater: int, more: int, mark: int) -> tuple[QuerySet[Rater], dict[str, Any]]:
    return Rater.objects.filter(pk=rater), {
        "recorded_count": F("recorded_count") + more,
        "recorded_digest": F("recorded_digest").bitxor(_wide(mark)),
    }


def _counting_rows(study: int, more: int, mark: int) -> tuple[QuerySet[Study], dict[str, Any]]:
    return Study.objects.filter(pk=study), {
        "sealed_count": F("sealed_count") + more,
        "sealed_digest": F("sealed_digest").bitxor(_wide(mark)),
    }


COUNT_JUDGMENTS = CompiledUpdate(
    _counting,
    rater=field_of(Rater, "id"),
    more=field_of(Rater, "recorded_count"),
    mark=field_of(Rater, "recorded_digest"),
)
COUNT_ROWS = CompiledUpdate(
    _counting_rows,
    study=field_of(Study, "id"),
    more=field_of(Study, "sealed_count"),
    mark=field_of(Study, "sealed_digest"),
)


# --- judgments ----------------------------------------------------------------------------------------------------


def judgment_content(values: Sequence[Any], texts: Iterable[Written]) -> bytes:
    """The content that a judgment's seal covers: its `JUDGMENT_FIELDS`, and its texts as (question, part, text)."""
    *fields, judged_at, layout, array, trace = values
    record = [*fields, micros(judged_at), layout, array, sorted(texts)]
    return orjson.dumps(record) + (stable_json(trace) if trace else b"")


def written_texts(texts: QuerySet[AnswerText]) -> dict[int, list[Written]]:
    """By their judgments' primary keys, texts as `judgment_content` takes them."""
    found: dict[int, list[Written]] = {}
    for judgment, question, part, text in texts.values_list(
        "judgment_id", "question", "part", "text"
    ).iterator():
        found.setdefault(judgment, []).append((question, part, text))
    return found


def seal_judgment(key: SealKey, judgment: Judgment, texts: Iterable[Written]) -> int:
    """Set the seal of a judgment that is about to be saved, and return its mark."""
    judgment.seal = key.seal(judgment_content(_values(judgment), texts))
    return key.mark(judgment.seal)


def count_judgments(changes: Iterable[tuple[int, int, int]]) -> None:
    """Note which judgments raters have now: rater, how many more, and the marks that come or go.

    Last in its transaction as far as can be: whoever else records of the same rater waits for its end.
    """
    more: dict[int, tuple[int, int]] = {}
    for rater, n, mark in changes:
        before, marks = more.get(rater, (0, 0))
        more[rater] = before + n, marks ^ mark
    if len(more) == 1:
        [(rater, (n, marks))] = more.items()
        COUNT_JUDGMENTS.run(rater=rater, more=n, mark=marks)
        return
    # In one order: two that count for the same raters at once would else wait for each other.
    raters = list(
        Rater.objects.select_for_update(no_key=True).filter(pk__in=more).order_by("pk").only(*COUNTED)
    )
    for each in raters:
        n, marks = more[each.pk]
        each.recorded_count += n
        each.recorded_digest ^= marks
    Rater.objects.bulk_update(raters, COUNTED)


# --- what stands around them --------------------------------------------------------------------------------------


ITEM_FIELDS = (
    *("pk", "key", "role", "stimulus_hash", "systems_key", "lengths", "revision_number", "withdrawn_at"),
    *("clarifying_question", "clarifying_source", "arm_id", "context_id", "query__key", "query__text"),
    *("query__category", "query__source", "query__split", "query__information_need", "query__document"),
)
# Named only of an item from which something was erased: the seals of all others are what they were.
ERASED = "erased_hash"
ITEM_JSON = ("gold", "origin", "query__turns", "query__references", "query__documents")
RESPONSE_FIELDS = (
    *("item_id", "response__key", "response__text", "response__system_id", "response__context_id"),
    *("response__turns", "response__claims"),
)
RATER_FIELDS = ("pk", "kind", "source", "pseudonym", "label", "group", "in_figures", "about")


def item_contents(pks: Collection[int]) -> dict[int, bytes]:
    """By the items' keys, the content that their seals cover: all of them, of their queries, contexts, arms, responses
    and systems that enters figures. The stimulus is what its hash says."""
    links: dict[int, list[list[Any]]] = {}
    for item, *response in ItemResponse.objects.filter(item__in=pks).values_list(*RESPONSE_FIELDS):
        links.setdefault(item, []).append(response)
    chosen = Item.objects.filter(pk__in=pks)
    rows = list(chosen.values_list(*ITEM_FIELDS, *ITEM_JSON))
    erased = dict(chosen.exclude(erased_hash="").values_list("pk", ERASED))
    arm, context = ITEM_FIELDS.index("arm_id"), ITEM_FIELDS.index("context_id")
    withdrawn = ITEM_FIELDS.index("withdrawn_at")
    responses = [each for of_item in links.values() for each in of_item]
    arms = _by_pk(
        Arm, {row[arm] for row in rows}, "key", "label", "context_at_generation", "context_at_judging"
    )
    systems = _by_pk(System, {each[2] for each in responses}, "key", "label", "family", "kind")
    used = {row[context] for row in rows} | {each[3] for each in responses}
    contexts = _by_pk(Context, used - {None}, "key", "source", "follow_ups")
    found = {}
    for row in rows:
        fields: list[Any] = list(row[: len(ITEM_FIELDS)])
        fields[withdrawn] = micros(fields[withdrawn])
        fields[arm] = arms[fields[arm]]
        texts, more = [], [row[len(ITEM_FIELDS) :], contexts.get(fields[context])]
        for key, text, system, of_context, *parts in sorted(links.get(row[0], ()), key=itemgetter(0)):
            texts.append([key, text, systems[system]])
            more.append([*parts, contexts.get(of_context)])
        if row[0] in erased:
            more.append([ERASED, erased[row[0]]])
        del fields[context]
        found[row[0]] = orjson.dumps([fields, texts]) + stable_json(more)
    return found


def _by_pk(model: type[Model], pks: Collection[Any], *fields: str) -> dict[int, list[Any]]:
    rows = model._default_manager.filter(pk__in=pks).values_list("pk", *fields) if pks else ()
    return {pk: values for pk, *values in rows}


def row_content(row: Row) -> bytes:
    """The content that a row's seal covers."""
    match row:
        case Rater():
            return stable_json([getattr(row, name) for name in RATER_FIELDS])
        case Exclusion():
            judged = row.judgment
            of = [judged.rater_id, judged.item_id, judged.replicate] if judged else None
            when = [micros(row.at), micros(row.undone_at)]
            return stable_json([row.pk, row.rater_id, of, row.reason, *when, row.undone_reason])
        case Erasure():
            numbers = [row.n_raters, row.n_judgments, row.n_items]
            return stable_json([row.pk, micros(row.at), row.reason, *numbers])
        case Study():
            return stable_json([row.pk, row.study_hash])


KINDS: dict[type[Model], Seal.Kind] = {
    Rater: Seal.Kind.RATER,
    Exclusion: Seal.Kind.EXCLUSION,
    Erasure: Seal.Kind.ERASURE,
    Study: Seal.Kind.STUDY,
}


def mark_of(key: SealKey, kind: str, row: int, value: int) -> int:
    return key.mark(value, f"{kind} {row}")


def seal_new(study: Study, rows: Sequence[Row]) -> None:
    """Seal rows of one kind that were just written."""
    if rows:
        _seal_new(study, KINDS[type(rows[0])], {row.pk: row_content(row) for row in rows})


def seal_changed(study: Study, rows: Sequence[Row]) -> None:
    """Renew the seals of rows of one kind that were just changed, and seal those that have none."""
    if rows:
        _seal_changed(study, KINDS[type(rows[0])], {row.pk: row_content(row) for row in rows})


def seal_new_items(study: Study, pks: Collection[int]) -> None:
    if pks and study.seal_key:
        _seal_new(study, Seal.Kind.ITEM, item_contents(pks))


def seal_changed_items(study: Study, pks: Collection[int]) -> None:
    if pks and study.seal_key:
        _seal_changed(study, Seal.Kind.ITEM, item_contents(pks))


def _seal_new(study: Study, kind: Seal.Kind, contents: Mapping[int, bytes]) -> None:
    key = open_seal_key(study.seal_key)
    if key is None or not contents:
        return
    made = [
        Seal(study_id=study.pk, kind=kind, row=pk, value=key.seal(content))
        for pk, content in contents.items()
    ]
    if len(made) == 1:
        NEW_SEALS.run(*made)
    else:
        Seal.objects.bulk_create(made)
    _count(key, study, len(made), made)


def _seal_changed(study: Study, kind: Seal.Kind, contents: Mapping[int, bytes]) -> None:
    key = open_seal_key(study.seal_key)
    if key is None:
        return
    stored = list(
        Seal.objects.select_for_update(no_key=True)
        .filter(study=study, kind=kind, row__in=list(contents))
        .order_by("row")
    )
    marks = 0
    for each in stored:
        before = mark_of(key, kind, each.row, each.value)
        each.value = key.seal(contents[each.row])
        marks ^= before ^ mark_of(key, kind, each.row, each.value)
    Seal.objects.bulk_update(stored, ["value"])
    if marks:
        COUNT_ROWS.run(study=study.pk, more=0, mark=marks)
    there = {each.row for each in stored}
    _seal_new(study, kind, {pk: content for pk, content in contents.items() if pk not in there})


def unseal(study: Study, kind: Seal.Kind, rows: Collection[int] | None = None) -> None:
    """Take away the seals of rows that are no longer frozen or are erased: of all of a kind, or of these."""
    key = open_seal_key(study.seal_key)
    seals = Seal.objects.filter(study=study, kind=kind)
    if rows is not None:
        seals = seals.filter(row__in=rows)
    if key is not None and (gone := list(seals)):
        seals.delete()
        _count(key, study, -len(gone), gone)


def _count(key: SealKey, study: Study, more: int, seals: Iterable[Seal]) -> None:
    marks = 0
    for each in seals:
        marks ^= mark_of(key, each.kind, each.row, each.value)
    COUNT_ROWS.run(study=study.pk, more=more, mark=marks)


# --- the whole ----------------------------------------------------------------------------------------------------


def sealed_state(study: Study) -> dict[str, Any]:
    """The number of recorded judgments and the digest of all that is sealed, as exports and bundles carry them.

    Of a study that was read in, and is as it came, the digest is that of where it was recorded.
    """
    own = own_digest(study)
    before = study.sealed_before
    if before and before.get("here") == own["digest"]:
        return {"judgments": before["judgments"], "digest": before["digest"]}
    return own


def own_digest(study: Study) -> dict[str, Any]:
    raters = study.raters.filter(recorded_count__gt=0).order_by("pseudonym")
    recorded = [list(each) for each in raters.values_list("pseudonym", "recorded_count", "recorded_digest")]
    recorded.sort()
    stored = Study.objects.values_list("sealed_count", "sealed_digest").get(pk=study.pk)
    return {
        "judgments": sum(count for _, count, _ in recorded),
        "digest": canonical_hash([study.study_hash, list(stored), recorded]),
    }
